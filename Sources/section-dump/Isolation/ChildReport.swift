internal import BinaryImage
internal import LibC

/// The pieces that a child has written of a file.
enum ChildReport {
  /// Hands on each piece; throws where the last one is not the sums.
  static func read(
    _ descriptor: Int32, _ name: String, _ take: (Piece, [UInt8]) -> Void
  ) throws(ImageError) {
    var position = 0
    var isWhole = false
    while true {
      let head = try bytes(of: descriptor, at: position, count: Piece.headSize, name)
      if head.isEmpty, isWhole { return }
      guard let (piece, size) = Piece.head(head), size <= ChildLimits.outputSize else {
        break
      }
      let bytes = try bytes(of: descriptor, at: position + head.count, count: size, name)
      guard bytes.count == size else { break }
      position += head.count + size
      isWhole = piece == .sums
      take(piece, bytes)
    }
    throw ChildEnd(status: 0).error(name)
  }

  /// As many bytes as there are, at most `count`.
  private static func bytes(
    of descriptor: Int32, at position: Int, count: Int, _ name: String
  ) throws(ImageError) -> [UInt8] {
    // Sound: the pointer covers what is left of the array, for the duration of the call.
    let (bytes, failure) = unsafe [UInt8].reading(count) { rest, filled in
      unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(position + filled))
    }
    guard failure == 0 else { throw ImageError(system: failure, name) }
    return bytes
  }
}
