package import BinaryImage

/// The bytes of sections, and the texts that pointers lead to.
extension MachOFile {
  /// The bytes of the file from a linked address to the end of its segment; refuses encrypted ones.
  package func extent(
    from address: VirtualAddress, reading count: UInt64
  ) throws(ImageError) -> FileExtent? {
    let extent = try segments.get().extent(from: address)
    if let extent, extent.size >= count { try checkReadable(extent.offset, count) }
    return extent
  }

  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    (file.place(of: section), section.size, false)
  }

  package func anySection(_ ordinal: Int) throws(ImageError) -> Section {
    let entry = try sectionEntry(ordinal)
    return Section(
      index: ordinal, name: entry.name, address: VirtualAddress(rawValue: 0),
      offset: entry.offset.map(file.offset), size: entry.size)
  }

  /// Refuses bytes that are encrypted in this file.
  package func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError) {
    guard let encrypted = try commands.get().encrypted, size > 0,
      offset < encrypted.offset + encrypted.size, encrypted.offset < offset + size
    else { return }
    throw file.error(
      .encrypted,
      "The file is encrypted here, as the App Store delivers it; only a loaded copy can tell.",
      at: offset)
  }

  package var hasOnlyDebugInformation: Bool { identity.kind == .debug }

  /// What a pointer leads to.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges.get().contains(address.rawValue) { return .code }
      if try segments.get().extent(from: address) != nil { return .data }
      return try segments.get().holds(address) ? .zeros : .outside
    case .section(let ordinal, _):
      let entry = try sectionEntry(ordinal)
      return entry.holdsCode ? .code : entry.offset == nil ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }
}
