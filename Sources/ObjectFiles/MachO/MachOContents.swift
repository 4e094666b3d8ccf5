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

  /// Lends a text of a section, without its NUL, for the call's duration.
  package func withText<Result>(
    inSection ordinal: Int, from offset: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let extent = try contents(of: section(ordinal))
    guard offset < extent.size else {
      throw file.error(
        .outOfImage, "0x\(offset.hexadecimal) lies past the end of section \(ordinal).")
    }
    return try texts.withText(
      file, at: extent.offset + offset, size: extent.size - offset, limit: limit, body)
  }

  /// The bytes of the file from a linked address to the end of its segment; refuses encrypted ones.
  package func extent(
    from address: VirtualAddress, reading count: UInt64
  ) throws(ImageError) -> FileExtent? {
    let extent = try segments().extent(from: address)
    if let extent, extent.size >= count { try checkReadable(extent.offset, count) }
    return extent
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

  /// Whether this has the debug information alone that was split from another file.
  var hasOnlyDebugInformation: Bool { identity.kind == .debug }

  /// How much of a section the file has; nil for one without bytes.
  package func stored(of section: Section) throws(ImageError) -> StoredBytes? {
    try file.stored(
      section, at: file.place(of: section), size: section.size,
      isSplit: hasOnlyDebugInformation)
  }

  /// Bytes of a section, from an offset in it on.
  package func bytes(
    of section: Section, at offset: UInt64, count: Int
  ) throws(ImageError) -> [UInt8] {
    let start = (file.place(of: section) ?? file.size).saturating(adding: offset)
    try checkReadable(start, UInt64(max(0, count)))
    return try file.read(at: start, count: count)
  }

  /// What stands where a pointer leads.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges().contains(address.rawValue) { return .code }
      if try segments().extent(from: address) != nil { return .data }
      return try segments().holds(address) ? .zeros : .outside
    case .section(let ordinal, _):
      let entry = try sectionEntry(ordinal)
      return entry.holdsCode ? .code : entry.offset == nil ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }
}
