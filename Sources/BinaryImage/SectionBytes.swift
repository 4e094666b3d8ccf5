internal import CElf

/// How much of a section a file has.
package struct StoredBytes: Sendable {
  /// In bytes, uncompressed.
  package var size: UInt64
  /// What is wrong where the header claims more.
  package var shortage: ImageError?
}

/// What a pointer leads to, as far as the image's own file says it.
package enum TargetMemory: Sendable {
  /// In a section that is run.
  case code
  /// In bytes of the file.
  case data
  /// In memory of which the file has no bytes: it starts as zeros, or the image ends there.
  case zeros
  /// Nowhere in the image.
  case outside
}

extension FileFormat {
  /// The largest section that is read as a whole, and the most that one file may inflate to.
  package static var mostContents: UInt64 { 1 << 28 }

  /// Of most formats no section is compressed.
  package func inflated(_ section: Section) throws(ImageError) -> [UInt8]? { nil }

  /// Of most formats every byte can be read.
  package func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {}

  /// The range that a section's header claims, once the file is known to have it.
  private func extent(of section: Section) throws(ImageError) -> FileExtent {
    let (offset, size, _) = try location(of: section)
    guard let offset else {
      throw file.error(
        .noContents,
        hasOnlyDebugInformation
          ? "The section has no bytes in this file; look in the one it was split from."
          : "The section is memory that starts as zeros; the file has no bytes of it.",
        section: section.name)
    }
    try file.check(
      file.holds(offset, size), .truncated,
      "The file ends before the section's \(size) bytes do.", section: section.name, at: offset)
    return FileExtent(offset: offset, size: size)
  }

  /// The same, once it is known to be readable.
  package func contents(of section: Section) throws(ImageError) -> FileExtent {
    let extent = try extent(of: section)
    try checkReadable(extent.offset, extent.size)
    return extent
  }

  /// All bytes of a section, uncompressed.
  func bytes(of section: Section) throws(ImageError) -> [UInt8] {
    let extent = try contents(of: section)
    if let bytes = try inflated(section) { return bytes }
    try file.check(
      extent.size <= Self.mostContents, .unsupported,
      "The section claims \(extent.size) bytes, more than are read at once.",
      section: section.name, at: extent.offset)
    return try file.read(at: extent.offset, count: Int(extent.size))
  }

  /// Lends the bytes of a section, uncompressed, in file byte order, for the call's duration.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let bytes = try bytes(of: section)
    return body(bytes.span)
  }

  /// How much of a section the file has, once it is inflated; nil for one without bytes.
  package func stored(of section: Section) throws(ImageError) -> StoredBytes? {
    do throws(ImageError) {
      let extent = try extent(of: section)
      return StoredBytes(size: try inflated(section).map { UInt64($0.count) } ?? extent.size)
    } catch  where error.code == .noContents && !hasOnlyDebugInformation {
      return nil
    } catch  where error.code == .truncated {
      let (offset, size, _) = try location(of: section)
      return StoredBytes(size: file.held(at: offset ?? size, size).size, shortage: error)
    }
  }

  /// Bytes of a section, from an offset in it on; a compressed one is inflated.
  package func bytes(
    of section: Section, at offset: UInt64, count: Int
  ) throws(ImageError) -> [UInt8] {
    if let bytes = try inflated(section) {
      try file.check(
        offset <= UInt64(bytes.count) && count <= bytes.count - Int(offset), .outOfImage,
        "The section has fewer bytes.", section: section.name)
      return Array(bytes[Int(offset)..<Int(offset) + count])
    }
    let start = (try location(of: section).offset ?? file.size).saturating(adding: offset)
    try checkReadable(start, UInt64(max(0, count)))
    return try file.read(at: start, count: count)
  }

  /// The word at an offset of a section; of one that claims more than the file has, what is there is
  /// read.
  package func word(at offset: UInt64, in section: Section) throws(ImageError) -> UInt64 {
    let size = UInt64(words.bits / 8)
    let (start, claimed, isCompressed) = try location(of: section)
    var found: UInt64?
    if !isCompressed, let start, start <= file.size {
      let extent = file.held(at: start, claimed)
      try checkReadable(extent.offset, extent.size)
      if extent.size >= size, offset <= extent.size - size {
        let (bytes, position) = try file.load(at: extent.offset + offset, count: Int(size))
        found = bytes.span.word(at: position, bits: words.bits, order: words.order)
      }
    } else if let position = Int(exactly: offset) {
      let bytes = try bytes(of: section)
      found = bytes.span.word(at: position, bits: words.bits, order: words.order)
    }
    guard let found else {
      throw file.error(
        .truncated, "The section has no whole pointer at \(offset.hexadecimal).",
        section: section.name)
    }
    return found
  }

  /// The word that the file maps at a linked address.
  func pointerWord(at address: VirtualAddress) throws(ImageError) -> UInt64 {
    words.order.number(of: try bytes(at: address, count: words.bits / 8)[...])
  }

  /// The pointer `offset` bytes into `section`.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    try pointer(of: word(at: offset, in: section), at: offset, in: section)
  }

  /// The same without looking for the word, which is among the bytes of the section.
  package func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(ImageError) -> PointerValue {
    let raw = bytes.word(at: Int(offset), bits: words.bits, order: words.order)
    return try pointer(of: raw ?? 0, at: offset, in: section)
  }

  /// As much of a number as is an address of this file.
  package func masked(_ value: UInt64) -> UInt64 {
    words.bits == 64 ? value : value & 0xffff_ffff
  }

  /// Lends a text of a section, without its NUL, for the call's duration.
  func withText<Result>(
    inSection index: Int, from offset: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let section = try anySection(index)
    let extent = try contents(of: section)
    let inflated = try inflated(section)
    try file.check(
      offset < inflated.map { UInt64($0.count) } ?? extent.size, .outOfImage,
      "\(offset.hexadecimal) lies past the end of section \(index).")
    guard let inflated else {
      return try file.withText(
        at: extent.offset + offset, size: extent.size - offset, limit: limit, body)
    }
    let start = Int(offset)
    guard let length = inflated.span.textLength(from: start), length <= limit else {
      throw file.unterminated(limit, at: nil)
    }
    return body(inflated.span.extracting(start..<start + length))
  }
}
