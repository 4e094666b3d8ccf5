internal import BinaryImage
internal import LibC

/// What tells a regular file from all others, whatever names lead to it.
struct FileIdentity: Hashable {
  private let device, inode: UInt64
  /// In bytes.
  let size: UInt64

  /// Follows links; nil where the path leads to no regular file.
  init?(_ path: [UInt8]) {
    guard let status = Directory.status(of: path, followingLinks: true),
      status.st_mode & S_IFMT == S_IFREG
    else { return nil }
    (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    size = UInt64(max(0, status.st_size))
  }
}

/// What a directory holds.
enum Directory {
  /// A directory, or a regular file or a link to one.
  typealias Entry = (name: [UInt8], isDirectory: Bool)

  /// The entries in bytewise order, without `.` and `..`, and the number of those that are not read: FIFOs,
  /// sockets, devices, links to directories and dangling links.
  static func entries(
    of path: [UInt8]
  ) throws(ImageError) -> (read: [Entry], passedOver: Int) {
    let name = String(decoding: path, as: UTF8.self)
    // Sound: the text outlives the call; the stream is closed below.
    guard let stream = unsafe opendir(path.cText) else {
      throw ImageError(system: errno, name)
    }
    defer { unsafe closedir(stream) }

    var (entries, passedOver): ([Entry], Int) = ([], 0)
    while true {
      errno = 0
      // Sound: the entry is valid until the next readdir, and its name is copied before that.
      guard let entry = unsafe readdir(stream) else { break }
      let text = unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 1) { text in
          unsafe UnsafeBufferPointer.bytes(ofText: text)
        }
      }
      guard text != [0x2e], text != [0x2e, 0x2e] else { continue }
      let type = unsafe entry.pointee.d_type
      if let isDirectory = isDirectory(type, path + [UInt8(ascii: "/")] + text) {
        entries.append((text, isDirectory))
      } else {
        passedOver += 1
      }
    }
    guard errno == 0 else { throw ImageError(system: errno, name) }
    entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
    return (entries, passedOver)
  }

  static func isDirectory(_ path: [UInt8], followingLinks: Bool) -> Bool {
    status(of: path, followingLinks: followingLinks)
      .map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
  }

  /// Whether an entry of this type is a directory; nil where it is nothing that is read.
  private static func isDirectory(_ type: UInt8, _ path: [UInt8]) -> Bool? {
    switch Int(type) {
    case Int(DT_REG): return false
    case Int(DT_DIR): return true
    case Int(DT_LNK), Int(DT_UNKNOWN): break
    default: return nil
    }
    if isDirectory(path, followingLinks: false) { return true }
    return FileIdentity(path) == nil ? nil : false
  }

  fileprivate static func status(of path: [UInt8], followingLinks: Bool) -> stat? {
    var status = stat()
    let text = path.cText
    // Sound: the text ends in NUL and outlives the call.
    let result = unsafe followingLinks ? stat(text, &status) : lstat(text, &status)
    return result == 0 ? status : nil
  }
}
