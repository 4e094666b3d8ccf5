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
    var (entries, passedOver): ([Entry], Int) = ([], 0)
    for (name, type) in try directoryNames(of: path) {
      if let isDirectory = isDirectory(type, path + [UInt8(ascii: "/")] + name) {
        entries.append((name, isDirectory))
      } else {
        passedOver += 1
      }
    }
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
