internal import BinaryImage
internal import LibC

/// What paths lead to.
enum Directory {
  static func isDirectory(_ path: [UInt8], followingLinks: Bool) -> Bool {
    var status = stat()
    let text = path.cText
    // Sound: the text ends in NUL and outlives the call.
    let result = unsafe followingLinks ? stat(text, &status) : lstat(text, &status)
    return result == 0 && status.st_mode & S_IFMT == S_IFDIR
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
