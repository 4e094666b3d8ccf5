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
      let head = try bytes(of: descriptor, at: position, count: 9, name)
      if head.isEmpty, isWhole { return }
      let size = Int(bytes: Array(head.dropFirst()))
      guard let piece = head.first.flatMap(Piece.init), head.count == 9,
        (0...ChildLimits.outputSize).contains(size)
      else { break }
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
    let (bytes, failure) = readBytes(of: descriptor, at: position, count: count)
    guard failure == 0 else { throw ImageError(system: failure, name) }
    return bytes
  }
}
