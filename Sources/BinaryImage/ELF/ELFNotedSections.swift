/// Sections without a section table: what the image's own note tells.
extension ELFFile {
  /// The most bytes of notes that are read.
  private static let mostNotes: UInt64 = 1 << 20

  /// The bytes of a note segment or section.
  package func noteBytes(in extent: FileExtent) throws(ImageError) -> ArraySlice<UInt8> {
    try file.check(
      extent.size <= Self.mostNotes, .malformed, "The notes claim \(extent.size) bytes.",
      at: extent.offset)
    return try file.slice(at: extent.offset, count: Int(extent.size))
  }

  /// The error of notes that libelf does not open.
  package func noteRefusal(_ reason: String) -> ImageError {
    file.error(.unreadable, "libelf does not read the notes: \(reason).")
  }

  /// The notes of a segment, and the bytes that they are in.
  func notes(in segment: ELFSegment) throws(ImageError) -> (
    notes: [ELFNote], bytes: ArraySlice<UInt8>
  ) {
    let bytes = try noteBytes(in: segment.extent)
    return (
      try ELFNote.notes(
        in: bytes, alignment: segment.alignment, order: header.order, refusal: noteRefusal),
      bytes
    )
  }

  /// The sections that the note tells of, those without bytes left out; nil where it has no note.
  func readNotedSections() throws(ImageError) -> [Section]? {
    try sectionNote()?.sections { name, extent throws(ImageError) in
      guard extent.start < extent.stop,
        let stored = try segments().extent(
          from: extent.start, size: extent.stop.rawValue - extent.start.rawValue)
      else {
        throw file.error(
          .malformed,
          "The note says \(extent.start.rawValue.hexadecimal) to "
            + "\(extent.stop.rawValue.hexadecimal), which no segment holds.", section: name)
      }
      return file.offset(stored.offset)
    }
  }

  /// The image's note, with the extents as they really are; several must agree.
  private func sectionNote() throws(ImageError) -> SectionNote? {
    let segments = try segments()
    let notes = try segments.notes.map { segment throws(ImageError) in
      let (found, bytes) = try self.notes(in: segment)
      return (notes: found, bytes: bytes, segment: segment)
    }
    return try SectionNote.read(
      notes, header: segments.headerAddress, bits: header.bits, order: header.order
    ) { code, message, segment in
      // The location of a note that is not understood; a contradiction has two locations.
      file.error(code, message, at: code == .unsupported ? segment.offset : nil)
    }
  }
}
