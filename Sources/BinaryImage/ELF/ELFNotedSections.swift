/// The notes of one segment or section.
struct Notes {
  var list: [ELFNote]
  var bytes: ArraySlice<UInt8>
}

/// Sections without a section table: what the image's own note tells.
extension ELFFile {
  /// The error of notes that libelf does not open.
  package func noteRefusal(_ reason: String) -> ImageError {
    file.error(.unreadable, "libelf does not read the notes: \(reason).")
  }

  /// The notes of a segment or section, and the bytes that they are in; each is read once.
  func notes(in extent: FileExtent, alignment: UInt64) throws(ImageError) -> Notes {
    if let known = knownNotes[extent.offset], known.bytes.count == extent.size { return known }
    try guardian.admit(notes: extent)
    let bytes = try file.slice(at: extent.offset, count: Int(extent.size))
    let notes = Notes(
      list: try ELFNote.notes(
        in: bytes, alignment: alignment, order: header.order, refusal: noteRefusal),
      bytes: bytes)
    knownNotes[extent.offset] = notes
    return notes
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
      let found = try self.notes(in: segment.extent, alignment: segment.alignment)
      return (notes: found.list, bytes: found.bytes, segment: segment)
    }
    return try SectionNote.read(
      notes, header: segments.headerAddress, bits: header.bits, order: header.order
    ) { code, message, segment in
      // The location of a note that is not understood; a contradiction has two locations.
      file.error(code, message, at: code == .unsupported ? segment.offset : nil)
    }
  }
}
