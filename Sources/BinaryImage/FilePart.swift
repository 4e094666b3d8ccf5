/// The bytes that an image is: all of a file, or those of a member or a slice.
package struct FilePart: Hashable, Codable, Sendable {
  /// The path of the file, as the system takes it.
  package var path: [UInt8]
  /// Where in the file the image starts.
  package var offset: UInt64
  /// The size of the image in bytes.
  package var size: UInt64

  /// Hands over the bytes, in pieces that begin and end at the same places for every part of this
  /// size.
  ///
  /// Throws where the file is gone or ends before they do.
  package func forEachPiece(_ body: ([UInt8]) -> Void) throws(ImageError) {
    let file = try OpenedFile(path: path, name: String(decoding: path, as: UTF8.self))
    let (end, overflow) = offset.addingReportingOverflow(size)
    try file.check(
      !overflow && end <= file.size, .truncated, "The file has become smaller since it was read.",
      at: offset)
    try file.forEachPiece(of: FileExtent(offset: offset, size: size), entry: 1, body)
  }
}
