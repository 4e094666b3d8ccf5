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
  /// The largest section that is read as a whole, and the most that one file may inflate to.
  package static var mostContents: UInt64 { 1 << 28 }

  /// Whether the file has all `extentSize` bytes at `offset`.
  package func holds(_ offset: UInt64, _ extentSize: UInt64) -> Bool {
    offset <= size && extentSize <= size - offset
  }

  /// The range that a section's header claims, once the file is known to have it.
  package func extent(
    of section: Section, at offset: UInt64?, size: UInt64, isSplit: @autoclosure () -> Bool
  ) throws(ImageError) -> FileExtent {
    guard let offset else {
      throw error(
        .noContents,
        isSplit()
          ? "The section has no bytes in this file; look in the one it was split from."
          : "The section is memory that starts as zeros; the file has no bytes of it.",
        section: section.name)
    }
    guard holds(offset, size) else {
      throw error(
        .truncated, "The file ends before the section's \(size) bytes do.",
        section: section.name, at: offset)
    }
    return FileExtent(offset: offset, size: size)
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

  /// All bytes of a section.
  package func bytes(of section: Section, in extent: FileExtent) throws(ImageError) -> [UInt8] {
    guard extent.size <= Self.mostContents else {
      throw error(
        .unsupported, "The section claims \(extent.size) bytes, more than are read at once.",
        section: section.name, at: extent.offset)
    }
    return try read(at: extent.offset, count: Int(extent.size))
  }

  /// The error for an address that no segment of the file has bytes for.
  package func outsideSegments(_ address: VirtualAddress) -> ImageError {
    error(.outOfImage, "No segment holds bytes of the file at 0x\(address.rawValue.hexadecimal).")
  }
}
