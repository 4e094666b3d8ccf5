internal import CElf

/// The one view of a section's bytes: is it mapped, is it stored or compressed, and where pointers lead.
extension ELFFile {
  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    guard hasSectionTable else { return (file.place(of: section), section.size, false) }
    let entry = try sectionHeader(section.index)
    return (entry.hasContents ? entry.offset : nil, entry.size, entry.isCompressed)
  }

  /// Returns whether a process gets the section: a linked file asks for it, and a segment holds its address.
  func isMapped(_ entry: ELFSectionHeader) -> Bool {
    if header.isObject { return true }
    guard entry.isLoaded else { return false }
    // Program headers that cannot be read are told of when a pointer is followed.
    guard let segments = try? segments() else { return true }
    return segments.holds(VirtualAddress(rawValue: entry.address))
  }

  /// Returns the bytes of a table: of symbols, names or relocations.
  func tableBytes(_ index: Int) throws(ImageError) -> ELFBytes {
    let entry = try sectionHeader(index)
    guard entry.isCompressed else {
      return .stored(FileExtent(offset: entry.offset, size: entry.hasContents ? entry.size : 0))
    }
    return .inflated(try inflated(index, entry, name: sectionTable().name(of: index)))
  }

  /// ELF: `elf_compress`, where `SHF_COMPRESSED` is set.
  package func inflated(_ section: Section) throws(ImageError) -> [UInt8]? {
    guard hasSectionTable else { return nil }
    let entry = try sectionHeader(section.index)
    return entry.isCompressed ? try inflated(section.index, entry, name: section.name) : nil
  }

  func inflated(
    _ index: Int, _ entry: ELFSectionHeader, name: String?
  ) throws(ImageError) -> [UInt8] {
    if let bytes = inflatedSections[index] { return bytes }
    let header = compression(of: entry)
    try guardian.admit(inflating: header?.ch_size, of: entry, named: name)
    guard let bytes = try inflate(index) else { throw refusal(of: header, entry, name) }
    inflatedSections[index] = bytes
    return bytes
  }

  /// Why libelf does not inflate a section.
  private func refusal(
    of header: Elf64_Chdr?, _ entry: ELFSectionHeader, _ name: String?
  ) -> ImageError {
    if header?.ch_type == UInt32(ELFCOMPRESS_ZLIB) {
      return file.error(
        .malformed,
        "The section is compressed with zlib, and what it holds is damaged or does not make the "
          + "\(header?.ch_size ?? 0) bytes that it claims; make the file anew.",
        section: name, at: entry.offset)
    }
    // ELFCOMPRESS_ZSTD
    let method = header?.ch_type == 2 ? "zstd" : "method \(header?.ch_type ?? 0)"
    return file.error(
      .unsupported,
      "The section is compressed with \(method), which this libelf does not inflate: "
        + "\(ELFDescriptor.lastMessage); link without compression, or use a newer libelf.",
      section: name, at: entry.offset)
  }

  /// The header of a compressed section; nil if the file does not hold one.
  private func compression(of entry: ELFSectionHeader) -> Elf64_Chdr? {
    let size = UInt64(header.format.size(of: ELF_T_CHDR))
    guard entry.isCompressed, entry.hasContents, entry.size >= size else { return nil }
    let extent = FileExtent(offset: entry.offset, size: size)
    return try? ELFTable(.compression, extent, of: file, header.format).row(0)
  }

  /// `ch_size`; nil where the section is not compressed, or its header lies outside the file.
  func inflatedSize(of entry: ELFSectionHeader) -> UInt64? { compression(of: entry)?.ch_size }

  package func mappedSections() throws(ImageError) -> (sections: [Section], hasDescriptors: Bool) {
    let table = try sectionTable()
    var sections: [Section] = []
    for index in sectionIndices {
      let entry = table[index]
      guard !header.isObject, entry.address != 0, entry.hasContents, isMapped(entry) else {
        continue
      }
      sections.append(
        Section(
          index: index, name: "", address: VirtualAddress(rawValue: entry.address),
          offset: file.offset(entry.offset), size: inflatedSize(of: entry) ?? entry.size))
    }
    return (sections, table.holds(namesStartingWith: ".opd"))
  }

  package func anySection(_ index: Int) throws(ImageError) -> Section {
    try file.check(
      sectionIndices.contains(index), .outOfImage,
      "The pointer leads into section \(index), which is not there.")
    let entry = try sectionHeader(index)
    return Section(
      index: index, name: "", address: VirtualAddress(rawValue: 0),
      offset: file.offset(entry.offset), size: entry.size)
  }

  /// What a pointer leads to.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges.get().contains(address.rawValue) { return .code }
      if try segments().extent(from: address) != nil { return .data }
      if try segments().holds(address) { return .zeros }
      // MIPS rounds the addresses in its global offset table to 64 KiB, up or down.
      guard header.machine == UInt16(EM_MIPS), address.rawValue & 0xffff == 0,
        address.rawValue >= 0x8000
      else { return .outside }
      let nearest = VirtualAddress(rawValue: address.rawValue - 0x8000)
      return try segments().holds(nearest) ? .zeros : .outside
    case .section(let index, _):
      guard sectionIndices.contains(index) else { return .outside }
      let section = try sectionHeader(index)
      if section.isExecutable { return .code }
      return section.type == UInt32(SHT_NOBITS) ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }

  /// The offset of the first word of a section, from an offset on, that a relocation is for.
  package func nextRelocated(
    from offset: UInt64, in section: Section
  ) throws(ImageError) -> UInt64? {
    if header.isObject {
      return try relocations(ofObjectSection: section).place(notBefore: offset)
    }
    guard section.isMapped else { return nil }
    _ = try linkedRelocation(at: offset, in: section)
    let start = section.address.rawValue
    let next = try linkedRelocations?.get().place(notBefore: start.saturating(adding: offset))
    return next.flatMap { $0 - start < section.size ? $0 - start : nil }
  }
}
