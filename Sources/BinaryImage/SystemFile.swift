internal import CImageList
internal import LibC

/// Reads at most `count` bytes, fewer if there are no more. Returns the system's error number too, if it refuses the
/// rest.
package func readBytes(
  of descriptor: Int32, at offset: Int, count: Int
) -> (bytes: [UInt8], failure: Int32) {
  // Sound: the pointer covers the rest of the array, for the duration of the call.
  unsafe [UInt8].reading(count) { rest, filled in
    unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset &+ filled))
  }
}

extension Collection<UInt8> {
  /// Lends the bytes as a C text, which ends with a NUL.
  package func withCText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { text in
      // Sound: there is room for all bytes and the NUL, and each place is written before it is read.
      unsafe UnsafeMutableRawBufferPointer(text).copyBytes(from: self)
      unsafe text[count] = 0
      return unsafe body(UnsafePointer(text.baseAddress.unsafelyUnwrapped))
    }
  }
}

extension [UInt8] {
  /// Reads at most `count` bytes with calls that each read some, and get the number of bytes so far. Returns fewer if
  /// no more come, with the system's error number if there is one, else 0.
  package static func reading(
    _ count: Int, _ call: (UnsafeMutableRawBufferPointer, _ filled: Int) -> Int
  ) -> (bytes: [UInt8], failure: Int32) {
    // For no bytes, the library would set the count of the empty array, which all threads share.
    guard count > 0 else { return ([], 0) }
    var failure: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      // Sound: the buffer holds at least `count` bytes.
      let room = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
      (filled, failure) = unsafe fill(room, call)
    }
    return (bytes, failure)
  }
}

/// Fills `room` by a call that writes some bytes each time, until it writes no more.
///
/// - Parameters:
///   - room: The memory to fill.
///   - call: Writes to the rest of it, and returns the number of bytes, or a negative number with `errno`.
/// - Returns: The number of filled bytes, and the system's error number if it refused the rest, else 0.
func fill(
  _ room: UnsafeMutableRawBufferPointer,
  _ call: (_ rest: UnsafeMutableRawBufferPointer, _ filled: Int) -> Int
) -> (filled: Int, failure: Int32) {
  var filled = 0
  while filled < room.count {
    // Sound: the first `filled` bytes have been written, the rest is in the room.
    let more = unsafe call(UnsafeMutableRawBufferPointer(rebasing: room[filled...]), filled)
    if more < 0, errno == EINTR { continue }
    if more < 0 { return (filled, errno) }
    if more == 0 { break }
    filled += more
  }
  return (filled, 0)
}

/// Returns all bytes of a file of `/proc`, whose size the system does not show; or the system's error number.
package func systemFile(_ path: String) -> (bytes: [UInt8], failure: Int32) {
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return ([], errno) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  while true {
    let (piece, failure) = readBytes(of: descriptor, at: bytes.count, count: 65536)
    bytes += piece
    if failure != 0 || piece.isEmpty { return (bytes, failure) }
  }
}

/// Returns the target of a link; nil if the path leads to no link.
package func linkTarget(of path: String) -> String? {
  // Sound: readlink writes at most as many bytes as the buffer has.
  let (bytes, failure) = unsafe [UInt8].reading(4096) { rest, filled in
    guard filled == 0, let start = rest.baseAddress else { return 0 }
    return unsafe readlink(path, start.assumingMemoryBound(to: CChar.self), rest.count)
  }
  return failure == 0 && !bytes.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
}

/// A part of a file that a process has mapped.
package struct MappedRange: Hashable, Sendable {
  /// The first address.
  package var start: UInt64
  /// The address after the last.
  package var end: UInt64
  /// The offset in the file where it begins.
  package var offset: UInt64
  /// Whether code may run there.
  package var isExecutable: Bool
  /// The path as the system tells it.
  package var path: String
  /// The bytes of a path that is not UTF-8.
  package private(set) var pathBytes: [UInt8]?
  /// The number of the inode, which tells the file from others of its name.
  package var fileID: String

  /// Describes a part.
  package init(start: UInt64, end: UInt64, offset: UInt64, isExecutable: Bool, path: String) {
    (self.start, self.end, self.offset) = (start, end, offset)
    (self.isExecutable, self.path, fileID) = (isExecutable, path, "")
  }

  /// Reads a line of `/proc/PID/maps`, `start-end permissions offset device inode path`; nil if the line names nothing.
  package init?(_ line: ArraySlice<UInt8>) {
    let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
    guard fields.count == 6 else { return nil }
    func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
    let bounds = fields[0].split(separator: UInt8(ascii: "-"))
    guard bounds.count == 2, let start = UInt64(text(bounds[0]), radix: 16),
      let end = UInt64(text(bounds[1]), radix: 16), let offset = UInt64(text(fields[2]), radix: 16),
      start < end
    else { return nil }
    let path = fields[5].drop { $0 == UInt8(ascii: " ") }
    self.init(
      start: start, end: end, offset: offset, isExecutable: text(fields[1]).contains("x"),
      path: text(path))
    fileID = text(fields[4])
    if String(validating: path, as: UTF8.self) == nil { pathBytes = Array(path) }
  }

  /// The mark that the system writes after the path of a removed file, or of a file whose name another has taken.
  package static let deletedMark = " (deleted)"

  /// Whether the file had been removed, or another had taken its name.
  package var isOfDeletedFile: Bool {
    // A file may really be called so.
    path.hasSuffix(Self.deletedMark)
      && fileStatus(of: path.utf8, followingLinks: true).map { String($0.st_ino) } != fileID
  }

  /// Returns the files that this process has mapped, by address; empty if the system does not show them.
  package static func ofThisProcess() -> [MappedRange] {
    systemFile("/proc/self/maps").bytes.split(separator: UInt8(ascii: "\n"))
      .compactMap { MappedRange($0) }
  }

  /// Returns whether an address is in it.
  package func contains(_ address: UInt) -> Bool { start <= address && address < end }

  /// The kernel's name for it in `map_files`.
  package var mapping: String { "\(String(start, radix: 16))-\(String(end, radix: 16))" }
}

/// The number of files that this process may have open.
package var mostOpenFiles: Int { max(0, Int(sysconf(Int32(_SC_OPEN_MAX)))) }

/// Whether a process has an open file open for writing, or mapped so: a lease for reading, which the system gives if none
/// has, is refused. False where this user may not ask, or the file system gives no leases.
package func isOpenForWriting(_ descriptor: Int32) -> Bool {
  // An opening meanwhile sends a signal that nobody minds.
  _ = fcntl(descriptor, setSignal, SIGURG)
  defer { _ = fcntl(descriptor, setLease, Int32(F_UNLCK)) }
  return fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0 && errno == EAGAIN
}

/// `F_SETSIG` and `F_SETLEASE`: Linux keeps them from Swift, and they are the same on every machine.
private let (setSignal, setLease): (Int32, Int32) = (10, 1024)

/// Returns the system's text for an error number.
package func systemMessage(_ number: Int32) -> String {
  // Sound: strerror returns a NUL-terminated string that lives until this thread's next call.
  guard let text = unsafe strerror(number) else { return "error \(number)" }
  return unsafe String(cString: text)
}

/// Returns whether the kernel forbids running memory that was writable: `PR_SET_MDWE`.
package func processKeepsCode() -> Bool { image_process_keeps_code() }

/// Returns the value of an environment variable when the process started, as the loader has read it. Nil if it was not
/// set, or the process has more rights than the user who started it (`AT_SECURE`).
package func startVariable(_ name: String) -> String? {
  guard !image_process_is_privileged() else { return nil }
  let head = Array("\(name)=".utf8)
  let entry = systemFile("/proc/self/environ").bytes.split(separator: 0).last {
    $0.starts(with: head)
  }
  return entry.map { String(decoding: $0.dropFirst(head.count), as: UTF8.self) }
}

/// Returns the value of an environment variable. Nil if it is not set, or the process has more rights than the user who
/// started it (`AT_SECURE`), because that user controls the value.
package func trustedVariable(_ name: String) -> String? {
  guard !image_process_is_privileged() else { return nil }
  // Sound: getenv returns null or a NUL-terminated text.
  return unsafe getenv(name).map { unsafe String(cString: $0) }
}

/// The namespace of the numbers of processes: `/proc/self/ns/pid` is a link to `pid:[4026531836]`.
package var processNamespace: String {
  (linkTarget(of: "/proc/self/ns/pid") ?? "").filter(\.isNumber)
}

/// Returns the folder of the user for files of one purpose: the one that a variable of the environment names, else one in
/// the home folder; nil if neither is absolute, or the program has more rights than the user (`AT_SECURE`).
package func userFolder(_ variable: String, orInHome place: String) -> String? {
  let own = trustedVariable(variable).flatMap { $0.isAbsolute ? $0 : nil }
  return own ?? trustedVariable("HOME").flatMap { $0.isAbsolute ? "\($0)/\(place)" : nil }
}

/// Writes another file and gives it the name `path`, so that a reader sees the old bytes or the new ones. Only one
/// process at a time may do so.
///
/// - Returns: Whether it was written; if not, all is as before, and `errno` has the reason.
package func replaceFile(at path: String, with bytes: [UInt8]) -> Bool {
  let fresh = "\(path).new"
  // A process that ended in the middle may have left it.
  unsafe unlink(fresh)
  let descriptor = unsafe open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { return false }
  // Sound: the pointer covers the array for the duration of the call.
  let written = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
  let isWritten = written == bytes.count && fsync(descriptor) == 0
  close(descriptor)
  if unsafe isWritten && rename(fresh, path) == 0 { return true }
  let failure = errno
  unsafe unlink(fresh)
  errno = failure
  return false
}

/// The name of this process's program, whatever has happened to its file since.
package var ownProgram: String {
  let name = linkTarget(of: "/proc/self/exe")?.fileName ?? ""
  return name.hasSuffix(MappedRange.deletedMark)
    ? String(name.dropLast(MappedRange.deletedMark.count)) : name
}

/// A folder of links with a unique name, for this user only. It is removed when the last reference goes.
package final class PrivateFolder {
  /// The outermost folder, and the folders in it, down to the folder of the links.
  private let paths: [String]
  private var links: [String] = []
  /// The open folder of the links; -1 if the system has not made it.
  package let descriptor: Int32
  /// Whether the folder stays open when it is removed.
  package var staysOpen = false

  /// The path of the outermost folder.
  package var path: String { paths[0] }

  /// Makes a folder in the first absolute path of `parents` that allows it; nil if the system makes none. `depth`
  /// folders around the links are for this user only, too: a path that leads up as often stays inside.
  package init?(in parents: [String], named name: String, depth: Int) {
    var made: String?
    for parent in parents where made == nil && parent.isAbsolute {
      var template = Array("\(parent)/\(name)-XXXXXX".utf8CString)
      // Sound: the text ends with a NUL, and is written over in its length.
      made = unsafe template.withUnsafeMutableBufferPointer { text -> String? in
        guard let start = text.baseAddress, unsafe mkdtemp(start) != nil else { return nil }
        return unsafe String(cString: start)
      }
    }
    guard let made else { return nil }
    paths = (0...depth).map { made + String(repeating: "/in", count: $0) }
    for path in paths {
      unsafe mkdir(path, 0o700)
      // The umask of the process may take away too much.
      unsafe chmod(path, 0o700)
    }
    var status = stat()
    let folder = unsafe open(paths[depth], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    // A folder that passes its group on is as good.
    let isOwn =
      unsafe folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid()
      && status.st_mode & 0o777 == 0o700
    if folder >= 0, !isOwn { close(folder) }
    descriptor = isOwn ? folder : -1
  }

  /// Makes a link; false if the system does not, with the reason in `errno`.
  package func link(_ name: String, to target: String) -> Bool {
    guard unsafe symlinkat(target, descriptor, name) == 0 else { return false }
    links.append(name)
    return true
  }

  deinit {
    for link in links { unsafe unlinkat(descriptor, link, 0) }
    for path in paths.reversed() { unsafe rmdir(path) }
    if descriptor >= 0, !staysOpen { close(descriptor) }
  }
}

extension String {
  /// Returns whether a shell would match it with this pattern, in time that grows with both.
  package func isMatched(by pattern: String) -> Bool { unsafe fnmatch(pattern, self, 0) == 0 }
}

/// Makes the folders that are not there yet, for this user only.
package func makeFolders(to folder: String) {
  guard folder != "/", unsafe mkdir(folder, 0o700) != 0, errno == ENOENT else { return }
  makeFolders(to: folder.folder)
  unsafe mkdir(folder, 0o700)
}
