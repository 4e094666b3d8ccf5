internal import CElf

/// What was inflated so far.
struct InflatedSections {
  /// The bytes by the index of the section.
  var bytes: [Int: [UInt8]] = [:]
  /// What all of them claim to need.
  var size: UInt64 = 0
}

/// Where the bytes of sections are, and what pointers lead to.
extension ELFFile {
  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    guard hasSectionTable else { return (file.place(of: section), section.size, false) }
    let entry = try sectionHeader(section.index)
    return (entry.hasContents ? entry.offset : nil, entry.size, entry.isCompressed)
  }

  /// ELF: `elf_getdata`, and `elf_compress` where `SHF_COMPRESSED` is set.
  package func inflated(_ section: Section) throws(ImageError) -> [UInt8]? {
    guard hasSectionTable, try sectionHeader(section.index).isCompressed else { return nil }
    if let bytes = inflatedSections.bytes[section.index] { return bytes }
    guard let size = inflatedSize(of: try sectionHeader(section.index)),
      size <= Self.mostContents - inflatedSections.size
    else {
      throw file.error(
        .malformed, "The section is compressed and claims to inflate beyond reason.",
        section: section.name, at: file.place(of: section))
    }
    inflatedSections.size += size
    guard let bytes = try ELFHandle(file).inflate(section.index) else {
      throw file.error(
        .unsupported,
        "The section is compressed\(try method(of: section)), and this libelf says: "
          + "\(ELFHandle.lastMessage); objcopy --decompress-sections helps.",
        section: section.name, at: file.place(of: section))
    }
    inflatedSections.bytes[section.index] = bytes
    return bytes
  }

  /// ` with zstd`: what `ch_type` means, which not every libelf knows.
  private func method(of section: Section) throws(ImageError) -> String {
    let head = try file.read(at: sectionHeader(section.index).offset, count: 4)
    return switch head.span.integer(at: 0, as: UInt32.self, order: header.order) {
    case 1: " with zlib"
    case 2: " with zstd"
    case let number: " by method \(number ?? 0)"
    }
  }

  /// `ch_size`; nil where the section is not compressed, or its header lies outside the file.
  func inflatedSize(of entry: ELFSectionHeader) -> UInt64? {
    guard entry.isCompressed, entry.hasContents,
      let head = try? file.read(at: entry.offset, count: header.bits == 64 ? 24 : 12)
    else { return nil }
    return head.span.word(at: header.bits == 64 ? 8 : 4, bits: header.bits, order: header.order)
  }

  package func mappedSections() throws(ImageError) -> (sections: [Section], hasDescriptors: Bool) {
    let table = try sectionTable()
    var sections: [Section] = []
    for index in sectionIndices {
      let entry = table[index]
      guard !header.isObject, entry.address != 0, entry.hasContents else { continue }
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
    _ = try linkedRelocation(at: offset, in: section)
    let start = section.address.rawValue
    let next = try linkedRelocations?.get().place(notBefore: start.saturating(adding: offset))
    return next.flatMap { $0 - start < section.size ? $0 - start : nil }
  }
}
