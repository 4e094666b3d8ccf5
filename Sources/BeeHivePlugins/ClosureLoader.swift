internal import BeeHive
internal import BinaryImage
internal import LibC
internal import PluginFiles

/// A loader that opens the judged files of a plugin, and no others.
struct ClosureLoader: Sendable {
  let closure: LoadClosure
  /// Whether to open files only through links to their descriptors: a path may lead to another file by now.
  let isStrict: Bool

  /// Opens the plugin and the files that it needs on the calling thread, which runs their constructors. By default one
  /// call opens all, so symbols are bound as usual. In strict mode each file is opened after those that it needs.
  ///
  /// Closes nothing again: images with Swift code cannot be unmapped.
  ///
  /// - Returns: The loader's names for the opened files, the plugin's last; and a problem if one is not a judged file.
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
      // A plugin that was loaded meanwhile may have opened the file already.
      for (position, member) in coming where unsafe Self.loaded(member.descriptor) == nil {
        try checkNames(of: member)
        // Checked right before opening, because constructors of other files have run meanwhile.
        try folder.checkUnchanged(member)
        names.append(folder.name(at: position))
        try openLibrary(names[names.count - 1], as: member.path)
        // The loader's name contains the number of the folder's descriptor now, so nobody must reuse that number.
        folder.links.staysOpen = true
        try check(member, isOpenedBy: names[names.count - 1])
      }
      return (names, nil)
    } catch { return (names, error) }
  }

  /// Throws if the loader would search for a needed library, or knows another file than the judged one by its name. The
  /// loader searches for each name that it does not know.
  private func checkNames(of member: LoadClosure.Member) throws(Problem) {
    for (name, place) in member.needed {
      let known = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD)
      let judged = unsafe place.flatMap { unsafe Self.loaded(closure.members[$0].descriptor) }
      guard unsafe known == nil || judged != nil && known != judged else { continue }
      throw Problem(
        .notLoaded,
        "\(member.path) needs \(name), and the loader knows "
          + (unsafe known == nil ? "no such name" : "another file of that name, not judged")
      )
    }
  }

  /// Whether the loader has the plugin already.
  var isOpen: Bool { unsafe Self.loaded(closure.members[0].descriptor) != nil }

  /// The loader's handle of an open file, which it finds by device and inode; nil if it has not loaded the file.
  private static func loaded(_ descriptor: Int32) -> UnsafeMutableRawPointer? {
    // A new spelling each time, because the descriptor's number may have belonged to another file.
    unsafe dlopen(newSpelling(of: "/proc/self/fd/\(descriptor)"), RTLD_LAZY | RTLD_NOLOAD)
  }

  /// Throws if the loader has not opened the judged file, or if `name` leads to another file.
  private func check(_ member: LoadClosure.Member, isOpenedBy name: String?) throws(Problem) {
    let judged = unsafe Self.loaded(member.descriptor)
    let opened = unsafe name.map { unsafe dlopen($0, RTLD_LAZY | RTLD_NOLOAD) } ?? judged
    guard unsafe judged == nil || judged != opened else { return }
    let copy = fcntl(member.descriptor, F_DUPFD_CLOEXEC, 0)
    let reason = errno == EBADF ? "a constructor has closed that" : systemMessage(errno)
    defer { close(copy) }
    throw Problem(
      .notLoaded,
      copy >= 0
        ? "\(member.path) is another file than the one that was judged: it was replaced meanwhile. All that the other "
          + "one declares was withdrawn; end this process if you do not trust that file, since its constructors have run"
        : "\(member.path) is withdrawn, because it cannot be compared with the judged file: \(reason)"
    )
  }
}

/// A private folder of links to open files, which the loader opens. Nobody else can write to the folder. It is also
/// `$ORIGIN`, even when the plugin opens libraries later.
struct JudgedFolder {
  fileprivate let links: PrivateFolder
  /// The folder's path for the loader, spelled differently each time.
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
    // A module may spell out a path that leads up, too. No path has more than 1,400 folders.
    let folder = PrivateFolder(in: parents, named: "beehive", depth: min(closure.climbs, 1400) + 8)
    guard let folder, folder.descriptor >= 0 else {
      throw Problem(
        .notLoaded,
        "no private folder in \(given.joined(separator: ", ")): \(systemMessage(errno)); set TMPDIR"
      )
    }
    links = folder
    spelling = newSpelling(of: "/proc/self/fd/\(folder.descriptor)")
    for (position, member) in closure.members.enumerated() where !member.isMapped {
      // Libraries get hidden, numbered names, because files in two folders may share a name. The plugin is not hidden.
      let name = (position == 0 ? "" : ".\(position)-") + member.path.fileName
      let link = position == 0 ? name : String(decoding: name.utf8.prefix(200), as: UTF8.self)
      guard folder.link(link, to: "/proc/self/fd/\(member.descriptor)") else {
        throw Problem(.notLoaded, "\(folder.path)/\(link) cannot be made: \(systemMessage(errno))")
      }
      names[position] = link
    }
  }

  /// Returns the path that the loader opens for the file at a position.
  func name(at position: Int) -> String { "\(spelling)/\(names[position] ?? "")" }

  /// Throws if a file may have changed since it was judged.
  func checkUnchanged(_ member: LoadClosure.Member) throws(Problem) {
    // The stamp is read last, so that it shows earlier writes. A rename does not count as a change.
    let isOpen = isOpenForWriting(member.descriptor)
    var status = stat()
    let isThere = unsafe fstat(member.descriptor, &status) == 0
    guard !isOpen, FileStamp(status).contents == member.stamp.contents else {
      throw Problem(
        .notLoaded,
        isOpen
          ? "\(member.path) is open for writing, so it may change: end the process that writes it"
          : "\(member.path) was \(isThere ? "changed since it was judged" : "closed by a constructor")"
      )
    }
  }
}
