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
          try checkNames(neededBy: member)
          let name = folder.name(of: member)
          names.append(name)
          try Self.open(name, as: member.path)
          folder.isInUse = true
        } else {
          do throws(Problem) { names.append(try openAnew(member.path)) } catch {
            throw Problem(.notLoaded, error.message)
          }
        }
        try check(member, descriptor, isOpenedBy: names[names.count - 1])
      }
      return (names, nil)
    } catch {
      return (names, error)
    }
  }

  private static func open(_ name: String, as path: String) throws(Problem) {
    guard unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) == nil else { return }
    let text = unsafe String(cString: dlerror())
    throw Problem(.notLoaded, text.hasPrefix(name) ? path + text.dropFirst(name.count) : text)
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
      "\(member.path) is another file than the one that was judged: it was replaced meanwhile. All that the other one "
        + "declares was withdrawn; end this process if you do not trust that file, since its constructors have run"
    )
  }

  /// Whether the loader has an image under a name.
  private static func knows(_ name: String) -> Bool {
    unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) != nil
  }

  /// Throws if the loader would look for a file that a member needs: it would open what it finds.
  private func checkNames(neededBy member: LoadClosure.Member) throws(Problem) {
    for need in member.needs.map({ closure.members[$0] }) {
      for name in need.names where name.isNeeded && !Self.knows(name.text) {
        throw Problem(
          .notLoaded,
          "\(member.path) needs \(name.text), but \(need.path) has another soname, so the loader would look for it again "
            + "after it was judged. Link it with -Wl,-soname,\(name.text)")
      }
    }
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
  private var links: Set<String> = []
  private var copies: [Int32] = []

  /// Makes a folder with a link for each name of each file that is not mapped.
  init(for closure: LoadClosure) throws(Problem) {
    let parents = ["XDG_RUNTIME_DIR", "TMPDIR"].compactMap { trustedVariable($0) } + ["/tmp"]
    guard let path = parents.lazy.compactMap({ Self.make(in: $0) }).first else {
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
      guard !member.isMapped else { continue }
      for name in [member.path] + member.names.map(\.text) {
        try link(name.fileName, to: descriptors[descriptors.count - 1])
      }
    }
  }

  deinit {
    for link in links { unsafe unlinkat(folder, link, 0) }
    unsafe rmdir(path)
    for copy in copies { close(copy) }
    if !isInUse { close(folder) }
  }

  /// The path that the loader opens a file by.
  func name(of member: LoadClosure.Member) -> String { "\(spelling)/\(member.path.fileName)" }

  private static func make(in parent: String) -> String? {
    var template = Array("\(parent)/beehive-XXXXXX".utf8CString)
    // Sound: the text ends with a NUL, and is written over in its length.
    return unsafe template.withUnsafeMutableBufferPointer { text in
      guard let start = text.baseAddress, unsafe mkdtemp(start) != nil else { return nil }
      return unsafe String(cString: start)
    }
  }

  private func link(_ name: String, to descriptor: Int32) throws(Problem) {
    guard links.insert(name).inserted else { return }
    guard unsafe symlinkat("/proc/self/fd/\(descriptor)", folder, name) == 0 else {
      throw Problem(.notLoaded, "\(path)/\(name) cannot be made: \(systemMessage(errno))")
    }
  }

  /// The descriptor of a member, or that of a copy if somebody could still write to the file.
  private func judged(_ member: LoadClosure.Member) throws(Problem) -> Int32 {
    guard Self.mayBeWritten(member.descriptor) else { return member.descriptor }
    // The kernel takes names of 249 bytes.
    let name = String(decoding: member.path.utf8.suffix(240), as: UTF8.self)
    let copy = Self.makeMemoryFile(name)
    if copy >= 0 { copies.append(copy) }
    var (offset, left, status) = (off_t(0), Int(member.stamp.size), stat())
    while copy >= 0, left > 0 {
      let count = unsafe sendfile(copy, member.descriptor, &offset, left)
      guard count > 0 else { break }
      left -= count
    }
    guard copy >= 0, left == 0, fcntl(copy, addSeals, allSeals) == 0,
      unsafe fstat(member.descriptor, &status) == 0, FileStamp(status) == member.stamp
    else {
      throw Problem(
        .notLoaded,
        "\(member.path) is open for writing, or others may write to it, and it could not be copied as it was judged: "
          + systemMessage(errno))
    }
    return copy
  }

  /// Whether others than root and the host's user may write to an open file, or anybody has it open for writing.
  private static func mayBeWritten(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return true }
    let access = FileAccess(status)
    if access.isWritableByOthers || ![0, geteuid()].contains(access.owner) { return true }
    // A lease for reading is given if nobody writes. Who opens the file meanwhile sends a signal that nobody minds.
    _ = fcntl(descriptor, setSignal, SIGURG)
    defer { _ = fcntl(descriptor, setLease, Int32(F_UNLCK)) }
    return fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 && errno == EAGAIN
  }

  /// Makes a file in memory that can be sealed, closed at `exec`; negative if the system makes none.
  private static func makeMemoryFile(_ name: String) -> Int32 {
    typealias Create = @convention(c) (UnsafePointer<CChar>, UInt32) -> Int32
    guard let create = unsafe dlsym(nil, "memfd_create") else { return -1 }
    // Sound: the C library declares the function so.
    return unsafe unsafeBitCast(create, to: Create.self)(name, 0x1 | 0x2)
  }
}

// Numbers of Linux that its headers keep from Swift; each is the same on every machine.
/// `F_ADD_SEALS`, and all seals: against other seals, shrinking, growing and writing.
private let (addSeals, allSeals): (Int32, Int32) = (1033, 0xf)
/// `F_SETSIG` and `F_SETLEASE`.
private let (setSignal, setLease): (Int32, Int32) = (10, 1024)
