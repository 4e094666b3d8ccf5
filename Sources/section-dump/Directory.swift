internal import BinaryImage
internal import LibC

/// What paths lead to.
enum Directory {
  static func isDirectory(_ path: [UInt8], followingLinks: Bool = true) -> Bool {
    fileStatus(of: path, followingLinks: followingLinks)?.isDirectory ?? false
  }

  /// Whether an entry of a directory, which is of this type, is a directory itself, rather than a regular file or a
  /// link to one; nil for what is not read: FIFOs, sockets, devices, links to directories and dangling links.
  static func isDirectory(_ path: [UInt8], of type: UInt8) -> Bool? {
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
