/// A range of the bytes of a file.
package struct FileExtent {
  /// From the start of the file.
  package var offset: UInt64
  /// In bytes.
  package var size: UInt64

  /// A range.
  package init(offset: UInt64, size: UInt64) { (self.offset, self.size) = (offset, size) }
}

extension OpenedFile {
  /// Whether the file has all `extentSize` bytes at `offset`.
  package func holds(_ offset: UInt64, _ extentSize: UInt64) -> Bool {
    offset <= size && extentSize <= size - offset
  }

  /// Reads whole entries of `entry` bytes, many at once: all that the extent holds.
  package func forEachPiece(
    of extent: FileExtent, entry: Int, _ body: ([UInt8]) throws(ImageError) -> Void
  ) throws(ImageError) {
    let whole = extent.size - extent.size % UInt64(entry)
    let most = UInt64(1 << 16 / entry * entry)
    var done: UInt64 = 0
    while done < whole {
      let size = min(most, whole - done)
      try body(read(at: extent.offset + done, count: Int(size)))
      done += size
    }
  }

  /// The part of a range that the file has.
  package func held(at offset: UInt64, _ extentSize: UInt64) -> FileExtent {
    FileExtent(offset: offset, size: min(extentSize, size - min(size, offset)))
  }

  /// Where in this part of the file a section is.
  package func place(of section: Section) -> UInt64? { section.offset.map { $0.rawValue &- base } }

  /// Where in the whole file a byte of this part is.
  package func offset(_ place: UInt64) -> FileOffset { FileOffset(rawValue: base &+ place) }
}
