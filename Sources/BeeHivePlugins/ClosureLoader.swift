internal import BeeHive
internal import BinaryImage
internal import LibC
internal import PluginFiles

/// Opens the files of a plugin that were judged, and no others.
struct ClosureLoader: Sendable {
  let closure: LoadClosure
  /// Whether no file is opened by its path, which may lead to another file by now.
  let isStrict: Bool

  /// Opens the plugin after the files that it needs, on the calling thread, where their constructors run.
  ///
  /// Nothing is closed again: images with Swift inside cannot go.
  ///
  /// - Returns: The loader's names for what was opened, the plugin's last; and the reason that something was not opened, or
  ///   that it was another file than the one that was judged.
  func open() -> (names: [String], problem: Problem?) {
    var names: [String] = []
    do throws(Problem) {
      let folder = isStrict ? try JudgedFolder(for: closure) : nil
      defer { withExtendedLifetime(folder) {} }
      for (position, member) in closure.dependenciesFirst where !member.isMapped {
        let descriptor = folder?.descriptors[position] ?? member.descriptor
        // A plugin that was loaded meanwhile may have brought it.
        if unsafe Self.loaded(descriptor) != nil { continue }
        if let folder {
          let name = folder.name(at: position)
          names.append(name)
          try openLibrary(name, as: member.path)
          folder.isInUse = true
        } else {
          names.append(try openAnew(member.path))
        }
        try check(member, descriptor, isOpenedBy: names[names.count - 1])
      }
      return (names, nil)
    } catch {
      return (names, error)
    }
  }

  /// The loader's handle of an open file, which it finds by device and inode; nil if it has not loaded the file.
  private static func loaded(_ descriptor: Int32) -> UnsafeMutableRawPointer? {
    // A new spelling each time: the number may have been that of another file.
    unsafe dlopen(newSpelling(of: "/proc/self/fd/\(descriptor)"), RTLD_LAZY | RTLD_NOLOAD)
  }

  /// Throws if the loader has opened another file by a name than the one that was judged.
  private func check(
    _ member: LoadClosure.Member, _ descriptor: Int32, isOpenedBy name: String
  ) throws(Problem) {
    let judged = unsafe Self.loaded(descriptor)
    let opened = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD)
    guard unsafe judged == nil || judged != opened else { return }
    throw Problem(
      .notLoaded,
      fcntl(descriptor, F_GETFD) >= 0
        ? "\(member.path) is another file than the one that was judged: it was replaced meanwhile. All that the other "
          + "one declares was withdrawn; end this process if you do not trust that file, since its constructors have run"
        : "\(member.path) was opened, and its constructors have closed files that are not theirs, the judged one among "
          + "them: all that it declares was withdrawn"
    )
  }
}

/// A folder of links to open files, for the loader to open them through: nobody else can write to it, and `$ORIGIN` is
/// this folder. It is removed when the last reference goes.
final class JudgedFolder {
  /// The files by their positions in the closure: sealed copies of those that somebody could still write to.
  private(set) var descriptors: [Int32] = []
  /// Whether the loader knows an image by a name with the number of this folder, so that it must not be given away.
  var isInUse = false

  private let path: String
  private let folder: Int32
  /// The folder as the loader gets it: never twice the same.
  private let spelling: String
  /// The name of the link to each file, by its position.
  private var names: [String] = []
  private var links: Set<String> = []
  private var copies: [Int32] = []

  /// Makes a folder with a link for each name of each file that is not mapped.
  init(for closure: LoadClosure) throws(Problem) {
    let parents = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { trustedVariable($0) } + ["/tmp"]
    // Each is tried once, until one will do.
    guard
      let path = parents.reduce(String?.none, { $0 ?? makePrivateFolder(in: $1, named: "beehive") })
    else {
      throw Problem(
        .notLoaded,
        "no private folder can be made in \(parents.joined(separator: ", ")): give one in TMPDIR")
    }
    self.path = path
    folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    spelling = newSpelling(of: "/proc/self/fd/\(folder)")
    var status = stat()
    guard unsafe fstat(folder, &status) == 0, status.st_uid == geteuid(),
      status.st_mode & 0o7777 == 0o700
    else {
      throw Problem(.notLoaded, "\(path) is not the folder that was made: \(systemMessage(errno))")
    }
    for member in closure.members {
      descriptors.append(member.isMapped ? member.descriptor : try judged(member))
      // Two files may have one name in two folders.
      let (name, position) = (member.path.fileName, names.count)
      names.append(names.contains(name) ? "\(position)-\(name)" : name)
      if !member.isMapped { try link(names[position], to: descriptors[position]) }
    }
    for (position, member) in closure.members.enumerated() where !member.isMapped {
      for name in member.names { try link(name.text.fileName, to: descriptors[position]) }
    }
  }

  deinit {
    for link in links { unsafe unlinkat(folder, link, 0) }
    unsafe rmdir(path)
    for copy in copies { close(copy) }
    if !isInUse { close(folder) }
  }

  /// The path that the loader opens a file by.
  func name(at position: Int) -> String { "\(spelling)/\(names[position])" }

  private func link(_ name: String, to descriptor: Int32) throws(Problem) {
    guard links.insert(name).inserted else { return }
    guard unsafe symlinkat("/proc/self/fd/\(descriptor)", folder, name) == 0 else {
      throw Problem(.notLoaded, "\(path)/\(name) cannot be made: \(systemMessage(errno))")
    }
  }

  /// The descriptor of a member, or that of a copy if somebody could still write to the file.
  private func judged(_ member: LoadClosure.Member) throws(Problem) -> Int32 {
    var (status, descriptor) = (stat(), member.descriptor)
    unsafe fstat(descriptor, &status)
    let access = FileAccess(status)
    if access.isWritableByOthers || ![0, geteuid()].contains(access.owner)
      || mayBeOpenForWriting(descriptor)
    {
      descriptor = sealedCopy(of: descriptor, member.stamp.size, named: member.path)
      if descriptor >= 0 { copies.append(descriptor) }
    }
    // Asked last: what was written before would be in the copy. A name that was taken away is no change of this sort.
    unsafe fstat(member.descriptor, &status)
    guard descriptor >= 0, FileStamp(status).contents == member.stamp.contents else {
      throw Problem(
        .notLoaded,
        "\(member.path) was changed since it was judged, or it may be written to and could not be copied: "
          + systemMessage(errno))
    }
    return descriptor
  }
}
