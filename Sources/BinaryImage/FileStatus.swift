package import LibC

/// A stamp that tells the contents of a file from earlier contents, and the file from all others.
///
/// A program that writes to a file can set back the time when it was modified, but not the time when it was changed.
package struct FileStamp: Hashable, Sendable {
  /// The device that holds it: `st_dev`.
  package var device: UInt64
  /// Its number there: `st_ino`.
  package var inode: UInt64
  /// The size in bytes.
  package var size: UInt64
  /// The time when its contents were written, in nanoseconds since 1970: `st_mtim`.
  package var modified: Int64
  /// The time when anything about it was changed: `st_ctim`.
  package var changed: Int64

  /// Takes the values of the system.
  package init(_ status: stat) {
    (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    size = UInt64(max(0, status.st_size))
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
  }

  /// The number that all names of one file share.
  package struct FileNumber: Hashable, Sendable {
    fileprivate let device, inode: UInt64
  }

  /// The number of the file, whatever its contents.
  package var number: FileNumber { FileNumber(device: device, inode: inode) }

  /// The stamp without the time of changes that leave the contents alone: of the mode, or of the names.
  package var contents: Self {
    var contents = self
    contents.changed = 0
    return contents
  }

  /// A text for use in names that identifies the file and its contents.
  package var text: String {
    // Times before 1970 are negative. A change of only the name does not count.
    [device, inode, size, UInt64(bitPattern: modified)].map { String($0) }.joined(separator: "-")
  }

  /// Returns whether these are names of one file.
  package func isSameFile(as other: Self) -> Bool { number == other.number }

  /// Whether a change from now on would show. The file system's clock ticks every few milliseconds, and two writes
  /// within a tick have one time.
  package var isSettled: Bool {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Self.nanoseconds(now) &- changed > Self.longestTick
  }

  /// Longer than any kernel's clock takes for a tick.
  private static let longestTick: Int64 = 20_000_000

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// The owner and the permissions of a file.
package struct FileAccess: Hashable, Sendable {
  /// The user: `st_uid`.
  package var owner: UInt32
  /// The bits of `st_mode`, without the bits of the file's type.
  package var mode: UInt32

  /// Takes the values of the system.
  package init(_ status: stat) {
    (owner, mode) = (status.st_uid, UInt32(status.st_mode & ~S_IFMT))
  }

  /// Whether others than its owner may write to it.
  package var isWritableByOthers: Bool { mode & 0o022 != 0 }
}

/// Returns the names in a directory, without `.` and `..`, in bytewise order.
///
/// - Parameter path: The directory, as the system takes it.
/// - Returns: The names.
/// - Throws: ``ImageError`` if the directory cannot be read.
package func directoryNames(of path: [UInt8]) throws(ImageError) -> [[UInt8]] {
  let name = String(decoding: path, as: UTF8.self)
  // Sound: the stream is closed below.
  guard let stream = unsafe path.withCText({ unsafe opendir($0) }) else {
    throw ImageError(system: errno, name)
  }
  defer { unsafe closedir(stream) }
  var names: [[UInt8]] = []
  while true {
    errno = 0
    // Sound: the entry is valid until the next readdir, and its name is copied before that.
    guard let entry = unsafe readdir(stream) else { break }
    let text = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
      unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 1) { text in
        unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
      }
    }
    guard text != [0x2e], text != [0x2e, 0x2e] else { continue }
    names.append(text)
  }
  guard errno == 0 else { throw ImageError(system: errno, name) }
  names.sort { $0.lexicographicallyPrecedes($1) }
  return names
}

/// Returns the system's description of what a path leads to; nil if there is none, and `errno` says why.
package func fileStatus(of path: some Collection<UInt8>, followingLinks: Bool) -> stat? {
  var status = stat()
  let result = unsafe path.withCText {
    unsafe followingLinks ? stat($0, &status) : lstat($0, &status)
  }
  return result == 0 ? status : nil
}

extension stat {
  /// Whether it describes a directory.
  package var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }

  /// Throws if it describes anything but a regular file: merely opening some devices acts on them.
  func checkRegular(_ name: String) throws(ImageError) {
    let kind: String
    switch st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: kind = "a directory"
    case S_IFIFO: kind = "a FIFO"
    case S_IFSOCK: kind = "a socket"
    case S_IFBLK, S_IFCHR: kind = "a device"
    default: kind = "no regular file"
    }
    throw ImageError(
      .unreadable, image: name, message: "It is \(kind); only regular files are read.")
  }
}

/// Returns whether a path leads to no regular file, so that there is nothing to read: to a device, say, or nowhere. A
/// file that this user may not look at could be a regular file.
package func leadsToNoFile(_ path: some Collection<UInt8>) -> Bool {
  fileStatus(of: path, followingLinks: true).map { $0.st_mode & S_IFMT != S_IFREG }
    ?? [ENOENT, ENOTDIR, ELOOP].contains(errno)
}

/// Returns the stamp of the regular file that a path leads to, without opening it.
///
/// - Parameter path: The path, as the system takes it; links are followed.
/// - Returns: The file's stamp.
/// - Throws: ``ImageError`` that says what the path leads to instead.
package func fileStamp(of path: some Collection<UInt8>) throws(ImageError) -> FileStamp {
  let name = String(decoding: path, as: UTF8.self)
  guard let status = fileStatus(of: path, followingLinks: true) else {
    let failure = errno
    if failure == ENOENT, fileStatus(of: path, followingLinks: false) != nil {
      throw ImageError(.unreadable, image: name, message: "It is a link that leads nowhere.")
    }
    throw ImageError(system: failure, name)
  }
  try status.checkRegular(name)
  return FileStamp(status)
}

extension StringProtocol {
  /// Returns the parts between the bytes of an ASCII character. A split by characters would fail, because a slash and
  /// an accent after it are one character.
  package func parts(at separator: UInt8, keepingEmpty: Bool = false) -> [String] {
    utf8.split(separator: separator, omittingEmptySubsequences: !keepingEmpty)
      .map { String(decoding: $0, as: UTF8.self) }
  }
}

extension String {
  /// The names in a path: its folders, then its file.
  package var pathParts: [String] { parts(at: UInt8(ascii: "/")) }

  /// Whether a path begins at the root.
  package var isAbsolute: Bool { utf8.first == UInt8(ascii: "/") }

  /// A path without its folders.
  package var fileName: String { pathParts.last ?? self }

  /// The folder that a path is in.
  package var folder: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// A path that leads to the same file from any working directory. Links stay.
  package var absolute: String { isAbsolute ? self : "\(".".resolved)/\(self)" }

  /// The path that the kernel makes of it, without links; the text itself if it leads nowhere.
  package var resolved: String {
    guard let path = unsafe realpath(self, nil) else { return self }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }
}
