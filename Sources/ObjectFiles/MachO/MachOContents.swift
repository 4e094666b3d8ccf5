package import BinaryImage

/// The bytes of sections, and the texts that pointers lead to.
extension MachOFile {
  /// Lends the bytes of a section in file byte order, for the call's duration.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let bytes = try file.bytes(of: section, in: contents(of: section))
    return body(bytes.span)
  }

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    switch target {
    case .address(let address):
      guard let extent = try segments().extent(from: address) else {
        throw file.outsideSegments(address)
      }
      try checkReadable(extent.offset, 1)
      return try texts.withText(file, at: extent.offset, size: extent.size, limit: limit, body)
    case .section(let ordinal, let offset):
      let extent = try contents(of: section(ordinal))
      guard offset < extent.size else {
        throw file.error(
          .outOfImage, "0x\(offset.hexadecimal) lies past the end of section \(ordinal).")
      }
      return try texts.withText(
        file, at: extent.offset + offset, size: extent.size - offset, limit: limit, body)
    case .null, .imported, .foreign, .unresolvable:
      throw file.noText(at: target)
    }
  }

  /// The bytes that the file maps at a linked address, in file byte order.
  package func bytes(at address: VirtualAddress, count: Int) throws(ImageError) -> [UInt8] {
    guard let extent = try segments().extent(from: address), extent.size >= UInt64(count) else {
      throw file.outsideSegments(address)
    }
    try checkReadable(extent.offset, UInt64(count))
    let (bytes, position) = try mapped.load(file, at: extent.offset, count: count)
    return Array(bytes[position..<position + count])
  }

  /// Where the bytes of a section stand in the file.
  func contents(of section: Section) throws(ImageError) -> FileExtent {
    let extent = try file.extent(
      of: section, at: file.place(of: section), size: section.size,
      isSplit: hasOnlyDebugInformation)
    try checkReadable(extent.offset, extent.size)
    return extent
  }

  /// The same, as far as the file has them.
  func held(of section: Section) throws(ImageError) -> FileExtent {
    guard let offset = file.place(of: section), offset <= file.size else {
      return try contents(of: section)
    }
    let extent = file.held(at: offset, section.size)
    try checkReadable(extent.offset, extent.size)
    return extent
  }

  /// A section by its ordinal, for a pointer that leads into it.
  private func section(_ ordinal: Int) throws(ImageError) -> Section {
    let entry = try sectionEntry(ordinal)
    return Section(
      index: ordinal, name: entry.name, address: VirtualAddress(rawValue: 0),
      offset: entry.offset.map(file.offset), size: entry.size)
  }

  /// Refuses bytes that are encrypted in this file.
  func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {
    guard let encrypted = try commands().encrypted, size > 0,
      offset < encrypted.offset + encrypted.size, encrypted.offset < offset + size
    else { return }
    throw file.error(
      .encrypted,
      "The file is encrypted here, as the App Store delivers it; only a loaded copy can tell.",
      at: offset)
  }
}
