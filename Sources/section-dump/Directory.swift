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
  enum Kind {
    case directory
    /// A regular file, or a link to one.
    case file
    /// A FIFO, socket, device, link to a directory or dangling link: nothing that is read.
    case other
  }

  struct Entry {
    var name: [UInt8]
    var kind: Kind
  }

  /// The entries in bytewise order, without `.` and `..`.
  static func entries(of path: [UInt8]) throws(ImageError) -> [Entry] {
    let name = String(decoding: path, as: UTF8.self)
    // Sound: the text outlives the call; the stream is closed below.
    guard let stream = unsafe opendir(path.cText) else {
      throw ImageError(.unreadable, image: name, message: "\(systemMessage(errno)).")
    }
    defer { unsafe closedir(stream) }

    var entries: [Entry] = []
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
      entries.append(Entry(name: text, kind: kind(type, path + [UInt8(ascii: "/")] + text)))
    }
    guard errno == 0 else {
      throw ImageError(.unreadable, image: name, message: "\(systemMessage(errno)).")
    }
    entries.sort { $0.name.lexicographicallyPrecedes($1.name) }
    return entries
  }

  static func isDirectory(_ path: [UInt8], followingLinks: Bool) -> Bool {
    status(of: path, followingLinks: followingLinks)
      .map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
  }

  private static func kind(_ type: UInt8, _ path: [UInt8]) -> Kind {
    switch Int(type) {
    case Int(DT_REG): return .file
    case Int(DT_DIR): return .directory
    case Int(DT_LNK), Int(DT_UNKNOWN): break
    default: return .other
    }
    if isDirectory(path, followingLinks: false) { return .directory }
    return FileIdentity(path) == nil ? .other : .file
  }

  fileprivate static func status(of path: [UInt8], followingLinks: Bool) -> stat? {
    var status = stat()
    let text = path.cText
    // Sound: the text ends in NUL and outlives the call.
    let result = unsafe followingLinks ? stat(text, &status) : lstat(text, &status)
    return result == 0 ? status : nil
  }
}

extension [UInt8] {
  /// The bytes as a text of C, which NUL ends.
  var cText: [CChar] { map(CChar.init(bitPattern:)) + [0] }
}
