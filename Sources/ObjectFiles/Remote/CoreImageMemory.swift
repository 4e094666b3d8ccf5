internal import BinaryImage

/// The memory of one image in a core file, which lacks what its file has as well.
///
/// The file on disk is believed where it has the build-id of the image, and only for what the process
/// could not write to.
final class CoreImageMemory: RemoteMemory {
  /// What became of the file that was mapped.
  enum File {
    case same(OpenedFile)
    case gone
    case other
    /// It has no build-id, so nothing tells whether it is the one.
    case unknown
  }

  let state: File
  private let core: CoreFile
  private let constants: [(memory: Range<UInt64>, offset: UInt64)]
  private let path: String

  init(_ headers: RemoteHeaders, path: String, in core: CoreFile) {
    self.core = core
    self.path = path
    constants = headers.constants
    if let file = try? OpenedFile(path: path, name: path) {
      let isSame = (try? headers.agree(with: file)) ?? false
      state = !isSame ? .other : headers.identity.id.isEmpty ? .unknown : .same(file)
    } else {
      state = .gone
    }
  }

  func read(at address: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let place = address &+ UInt64(bytes.count)
      var more = try core.read(at: place, count: count - bytes.count)
      if more.isEmpty { more = try constant(at: place, count: count - bytes.count) }
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  /// What the file has of bytes that the core file left out, up to the end of a page: behind it, the
  /// core file may have them.
  private func constant(at address: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    guard let (memory, offset) = constants.first(where: { $0.memory.contains(address) }) else {
      return []
    }
    let reason: String
    switch state {
    case .same(let file):
      let left = min(memory.upperBound - address, 4096 - address % 4096, UInt64(count))
      return try file.read(at: offset &+ (address - memory.lowerBound), count: Int(left))
    case .gone: reason = "is gone"
    case .other: reason = "is another one now"
    case .unknown: reason = "has no build-id, which would tell that it is the one that was mapped"
    }
    throw ImageError(
      .replaced, image: path,
      message: "The core file leaves out what the file of the image has, and that \(reason).")
  }
}
