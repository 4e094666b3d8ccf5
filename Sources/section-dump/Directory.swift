internal import BinaryImage
internal import LibC

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
    var status = stat()
    let text = path.cText
    // Sound: the text ends in NUL and outlives the call.
    let result = unsafe followingLinks ? stat(text, &status) : lstat(text, &status)
    return result == 0 && status.st_mode & S_IFMT == S_IFDIR
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
    return (try? fileStamp(of: path)) == nil ? nil : false
  }
}
