/// The bytes of sections, and the texts that pointers lead to.
extension MachOFile {
  /// The largest section that is read as a whole.
  private static var mostContents: UInt64 { 1 << 28 }

  /// Lends the bytes of a section in file byte order, for the call's duration.
  public func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let extent = try contents(of: section)
    guard extent.size <= Self.mostContents else {
      throw file.error(
        .unsupported, "The section claims \(extent.size) bytes, more than are read at once.",
        section: section.name, at: extent.offset)
    }
    let bytes = try file.read(at: extent.offset, count: Int(extent.size))
    return body(bytes.span)
  }

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  public func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    switch target {
    case .address(let address):
      guard let extent = try segments().extent(from: address) else {
        throw file.error(
          .outOfImage, "No segment holds bytes of the file at 0x\(address.rawValue.hexadecimal).")
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

  /// Where the bytes of a section stand in the file.
  func contents(of section: Section) throws(ImageError) -> MachOSegments.Extent {
    guard let offset = section.offset?.rawValue else {
      throw file.error(
        .noContents,
        "The section has no bytes in this file; look in the one it was split from.",
        section: section.name)
    }
    guard offset <= file.size, section.size <= file.size - offset else {
      throw file.error(
        .truncated, "The file ends before the section's \(section.size) bytes do.",
        section: section.name, at: offset)
    }
    try checkReadable(offset, section.size)
    return MachOSegments.Extent(offset: offset, size: section.size)
  }

  /// A section by its ordinal, for a pointer that leads into it.
  private func section(_ ordinal: Int) throws(ImageError) -> Section {
    let entry = try sectionEntry(ordinal)
    return Section(
      index: ordinal, name: entry.name, address: VirtualAddress(rawValue: 0),
      offset: entry.offset.map(FileOffset.init(rawValue:)), size: entry.size)
  }

  /// Refuses bytes that are encrypted in this file.
  private func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {
    guard let encrypted = try commands().encrypted, size > 0,
      offset < encrypted.offset + encrypted.size, encrypted.offset < offset + size
    else { return }
    throw file.error(
      .encrypted,
      "The file is encrypted here, as the App Store delivers it; only a loaded copy can tell.",
      at: offset)
  }
}
