internal import BeeHive
internal import BinaryImage
internal import LibC
internal import PluginFiles

/// Opens the files of a plugin that were judged, and no others.
struct ClosureLoader: Sendable {
  let closure: LoadClosure
  /// Whether no file is opened by its path, which may lead to another file by now.
  let isStrict: Bool

  /// Opens the plugin and the files that it needs, on the calling thread, where their constructors run. In one go by
  /// default, so that symbols are bound as ever; strictly, each file after those that it needs.
  ///
  /// Nothing is closed again: images with Swift inside cannot go.
  ///
  /// - Returns: The loader's names for what was opened, the plugin's last; and the reason that something was not opened, or
  ///   that it was another file than the one that was judged.
  func open() -> (names: [String], problem: Problem?) {
    var names: [String] = []
    do throws(Problem) {
      let coming = closure.dependenciesFirst.filter { !$0.member.isMapped }
      guard isStrict else {
        let name = try openAnew(closure.members[0].path)
        names = coming.dropLast().map(\.member.path) + [name]
        for (place, member) in coming { try check(member, isOpenedBy: place == 0 ? name : nil) }
        return (names, nil)
      }
      let folder = try JudgedFolder(for: closure)
      // A plugin that was loaded meanwhile may have brought it.
      for (position, member) in coming where unsafe Self.loaded(member.descriptor) == nil {
        try checkNames(of: member)
        // Right before it is opened: constructors of others have run meanwhile.
        try folder.checkUnchanged(member)
        names.append(folder.name(at: position))
        try openLibrary(names[names.count - 1], as: member.path)
        // The number of the folder is in the loader's name now, and must not be given away.
        folder.links.staysOpen = true
        try check(member, isOpenedBy: names[names.count - 1])
      }
      return (names, nil)
    } catch { return (names, error) }
  }

  /// Throws if the loader would look for a file that this one needs, or has found another than was judged: it looks for
  /// each name that it does not know.
  private func checkNames(of member: LoadClosure.Member) throws(Problem) {
    for (name, place) in member.needed {
      let known = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD)
      let judged = unsafe place.flatMap { unsafe Self.loaded(closure.members[$0].descriptor) }
      guard unsafe known == nil || judged != nil && known != judged else { continue }
      throw Problem(
        .notLoaded,
        "\(member.path) needs \(name), and the loader knows \(unsafe known == nil ? "no such name" : "another file by it"), "
          + "which was not judged"
      )
    }
  }

  /// Whether the loader has the plugin already.
  var isOpen: Bool { unsafe Self.loaded(closure.members[0].descriptor) != nil }

  /// The loader's handle of an open file, which it finds by device and inode; nil if it has not loaded the file.
  private static func loaded(_ descriptor: Int32) -> UnsafeMutableRawPointer? {
    // A new spelling each time: the number may have been that of another file.
    unsafe dlopen(newSpelling(of: "/proc/self/fd/\(descriptor)"), RTLD_LAZY | RTLD_NOLOAD)
  }

  /// Throws if the loader has not opened the file that was judged, or another one by a name of it.
  private func check(_ member: LoadClosure.Member, isOpenedBy name: String?) throws(Problem) {
    let judged = unsafe Self.loaded(member.descriptor)
    let opened = unsafe name.map { unsafe dlopen($0, RTLD_LAZY | RTLD_NOLOAD) } ?? judged
    guard unsafe judged == nil || judged != opened else { return }
    throw Problem(
      .notLoaded,
      fcntl(member.descriptor, F_GETFD) >= 0
        ? "\(member.path) is another file than the one that was judged: it was replaced meanwhile. All that the other "
          + "one declares was withdrawn; end this process if you do not trust that file, since its constructors have run"
        : "\(member.path) was opened, and its constructors have closed files that are not theirs, the judged one among "
          + "them: all that it declares was withdrawn"
    )
  }
}

/// Links to open files, for the loader to open them through: nobody else can write to their folder, and `$ORIGIN` is that
/// folder, also when the plugin opens libraries later.
struct JudgedFolder {
  fileprivate let links: PrivateFolder
  /// The folder as the loader gets it: never twice the same.
  private let spelling: String
  /// The names of the links, by the positions of the files in the closure.
  private var names: [Int: String] = [:]

  /// Makes a folder with a link to each file that is not mapped.
  init(for closure: LoadClosure) throws(Problem) {
    let given = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { trustedVariable($0) } + ["/tmp"]
    // The owner of a folder may rename what is in it.
    let parents = given.filter {
      [0, geteuid()].contains(fileStatus(of: $0.utf8, followingLinks: true)?.st_uid)
    }
    // A module may spell out a path that leads up, too. More folders than 1,400 are in no path.
    let folder = PrivateFolder(in: parents, named: "beehive", depth: min(closure.climbs, 1400) + 8)
    guard let folder, folder.descriptor >= 0 else {
      throw Problem(
        .notLoaded,
        "no private folder can be made in \(given.joined(separator: ", ")): give one in TMPDIR")
    }
    links = folder
    spelling = newSpelling(of: "/proc/self/fd/\(folder.descriptor)")
    for (position, member) in closure.members.enumerated() where !member.isMapped {
      // Two files may have one name in two folders; a plugin is no hidden file.
      let name = (position == 0 ? "" : ".\(position)-") + member.path.fileName
      let link = position == 0 ? name : String(decoding: name.utf8.prefix(200), as: UTF8.self)
      guard folder.link(link, to: "/proc/self/fd/\(member.descriptor)") else {
        throw Problem(
          .notLoaded, "\(folder.path)/\(link) cannot be made: \(systemMessage(errno))")
      }
      names[position] = link
    }
  }

  /// The path that the loader opens the file at a position by.
  func name(at position: Int) -> String { "\(spelling)/\(names[position] ?? "")" }

  /// Throws if a file may be another by now than it was when it was judged.
  func checkUnchanged(_ member: LoadClosure.Member) throws(Problem) {
    // The stamp is read last: what was written before shows in it. Another name is no change of this sort.
    let isOpen = isOpenForWriting(member.descriptor)
    var status = stat()
    unsafe fstat(member.descriptor, &status)
    guard !isOpen, FileStamp(status).contents == member.stamp.contents else {
      throw Problem(
        .notLoaded,
        isOpen
          ? "\(member.path) is open for writing, so it may change: end the process that writes it"
          : "\(member.path) was changed since it was judged")
    }
  }
}
