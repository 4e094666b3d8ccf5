internal import CElf

/// The one view of a section's bytes: whether they are mapped, stored or compressed, and where pointers lead.
extension ELFFile {
  package func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool) {
    guard hasSectionTable else { return (file.place(of: section), section.size, false) }
    let entry = try sectionHeader(section.index)
    if !header.isObject, entry.hasContents, isMapped(entry), !hasOnlyDebugInformation {
      let extent = try segments().extent(from: VirtualAddress(rawValue: entry.sh_addr))
      try file.checkMapped(section, at: entry.sh_offset, entry.sh_size, by: extent)
    }
    return (entry.hasContents ? entry.sh_offset : nil, entry.sh_size, entry.isCompressed)
  }

  /// Returns whether a process gets the section: it is loaded, and a linker keeps it or a segment holds its address.
  func isMapped(_ entry: GElf_Shdr) -> Bool {
    guard entry.isLoaded else { return false }
    if header.isObject { return entry.sh_flags & UInt64(SHF_EXCLUDE) == 0 }
    // Unreadable program headers are reported when a pointer is followed.
    guard let segments = try? segments() else { return true }
    return segments.holds(VirtualAddress(rawValue: entry.sh_addr))
  }

  /// Returns the bytes of a table: of symbols, names or relocations.
  func tableBytes(_ index: Int) throws(ImageError) -> ELFBytes {
    let entry = try sectionHeader(index)
    guard entry.isCompressed else {
      return .stored(
        FileExtent(offset: entry.sh_offset, size: entry.hasContents ? entry.sh_size : 0))
    }
    return .inflated(try inflated(index, entry))
  }

  /// Returns the inflated bytes of a section with `SHF_COMPRESSED`; nil for others. ELF: `elf_compress`.
  package func inflated(_ section: Section) throws(ImageError) -> [UInt8]? {
    guard hasSectionTable else { return nil }
    let entry = try sectionHeader(section.index)
    return entry.isCompressed ? try inflated(section.index, entry) : nil
  }

  /// Inflates a section. With `holdsNames` it is the section of the names, which has no name itself.
  func inflated(
    _ index: Int, _ entry: GElf_Shdr, holdsNames: Bool = false
  ) throws(ImageError) -> [UInt8] {
    if let bytes = inflatedSections[index] { return bytes }
    let header = compression(of: entry)
    let name = holdsNames ? nil : try sectionTable().name(of: index)
    // A reader of another section may report this, so it names the section.
    let title = name.map { "The section \($0)" } ?? "Section \(index)"
    func refusal(_ code: ImageError.Code, _ reason: String) -> ImageError {
      file.error(code, "\(title) is compressed \(reason).", section: name, at: entry.sh_offset)
    }
    try guardian.admit(inflating: header?.ch_size, of: entry) { refusal(.malformed, $0) }
    guard let bytes = try inflate(index) else {
      switch header?.ch_type {
      case UInt32(ELFCOMPRESS_ZLIB):
        throw refusal(
          .malformed,
          "with zlib, and what it holds is damaged or does not make the "
            + "\(header?.ch_size ?? 0) bytes that it claims; make the file anew")
      // ELFCOMPRESS_ZSTD
      case 2:
        throw refusal(.unsupported, "with zstd, which is not read here; \(ELFGuard.unpacking)")
      case let method:
        throw refusal(
          .malformed, "with method \(method ?? 0), which ELF does not define; make the file anew")
      }
    }
    inflatedSections[index] = bytes
    return bytes
  }

  /// Returns the header of a compressed section; nil if the file does not hold one.
  func compression(of entry: GElf_Shdr) -> Elf64_Chdr? {
    let size = UInt64(header.format.size(of: ELF_T_CHDR))
    guard entry.isCompressed, entry.hasContents, entry.sh_size >= size else { return nil }
    let extent = FileExtent(offset: entry.sh_offset, size: size)
    return try? ELFTable(.compression, .stored(extent), of: file, header.format).row(0)
  }

  package func mappedSections() throws(ImageError) -> (sections: [Section], hasDescriptors: Bool) {
    let table = try sectionTable()
    var sections: [Section] = []
    for index in sectionIndices {
      let entry = table[index]
      guard !header.isObject, entry.sh_addr != 0, entry.hasContents, isMapped(entry) else {
        continue
      }
      sections.append(
        Section(
          index: index, name: "", address: VirtualAddress(rawValue: entry.sh_addr),
          offset: file.offset(entry.sh_offset),
          size: compression(of: entry)?.ch_size ?? entry.sh_size))
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
      offset: file.offset(entry.sh_offset), size: entry.sh_size)
  }

  /// Returns the kind of memory that a pointer leads to.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges().contains(address.rawValue) { return .code }
      if try segments().extent(from: address) != nil { return .data }
      if try segments().holds(address) { return .zeros }
      // MIPS rounds the addresses in its global offset table to 64 KiB, up or down.
      guard header.machine == UInt16(EM_MIPS), address.rawValue & 0xffff == 0,
        address.rawValue >= 0x8000
      else { return .outside }
      let nearest = VirtualAddress(rawValue: address.rawValue - 0x8000)
      return try segments().holds(nearest) ? .zeros : .outside
    case .section(let index, let offset):
      guard sectionIndices.contains(index) else { return .outside }
      let section = try sectionHeader(index)
      let size = compression(of: section)?.ch_size ?? section.sh_size
      guard offset <= size else { return .outside }
      if section.isExecutable { return .code }
      // A pointer to the end leads past the last byte.
      return section.sh_type == UInt32(SHT_NOBITS) || offset == size ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }

  /// Returns the offset of the first relocated word of a section, at or after an offset.
  package func nextRelocated(
    from offset: UInt64, in section: Section
  ) throws(ImageError) -> UInt64? {
    guard let (found, place) = try relocations(of: offset..<offset, in: section) else { return nil }
    let rest = section.size - min(offset, section.size)
    return found.place(notBefore: place).flatMap { $0 - place < rest ? $0 - place + offset : nil }
  }

  // MARK: - Whether the file is whole

  /// Throws if the file ends before a segment, a section or a table of headers does, or if the section table and the
  /// note describe different entries.
  package func checkDeclared() throws(ImageError) {
    try file.check(
      header.sections.isComplete, .truncated,
      "The file ends before its \(header.sections.count) section headers do.",
      at: header.sections.offset)
    // Split debug information keeps the program headers of the file that it was split from.
    if let extent = try segments().extent(notWithin: file), !hasOnlyDebugInformation {
      throw file.error(
        .truncated, "The file ends before the \(extent.size) bytes of a segment do.",
        at: extent.offset)
    }
    guard hasSectionHeaders else { return }
    let table = try sectionTable()
    for index in sectionIndices {
      let section = table[index]
      try file.check(
        table.holdsName(of: index), .malformed,
        "The name of section \(index) lies outside the names, so it may be one of entries. Link the file again."
      )
      guard section.hasContents, section.sh_size > 0 else { continue }
      try file.check(
        file.holds(section.sh_offset, section.sh_size), .truncated,
        "The file ends before the \(section.sh_size) bytes of a section do.",
        section: table.name(of: index), at: section.sh_offset)
    }
    if !header.isObject { try checkNotedExtents(table) }
  }

  /// Checks that the section table and the note describe the same entries.
  private func checkNotedExtents(_ table: ELFSectionTable) throws(ImageError) {
    // A useless note is ignored, because the section table is there.
    let segments = try segments()
    // A process also has memory that the file has no bytes for.
    let noted = try? sectionNote()?.sections(
      in: nil, word: header.wordSize,
      at: { segments.holds($0) ? FileExtent(offset: 0, size: $1) : nil },
      failure: { file.error(.malformed, $1, section: $0) })
    guard let noted else { return }
    var ranges: [[Range<UInt64>]] = SectionNote.names.map { _ in [] }
    var mapped = ranges
    table.forEach(named: .ofThisProject) { index, name in
      ranges[name].append(table[index].addresses)
      // The reader refuses a section that no process gets.
      if isMapped(table[index]) { mapped[name].append(table[index].addresses) }
    }
    for section in noted {
      let start = section.address.rawValue
      let end = start &+ section.size
      guard let name = SectionNote.names.firstIndex(of: section.name),
        !AddressRanges(ranges[name]).covers(start..<end)
      else { continue }
      throw file.error(
        .malformed,
        "The note says that entries are at \(start.hexadecimal) to \(end.hexadecimal), where "
          + "the section table has no such section; build the file anew.", section: section.name,
        at: segments.extent(from: section.address)?.offset)
    }
    for (name, ranges) in zip(SectionNote.names, mapped) where !ranges.isEmpty {
      let known = AddressRanges(noted.filter { $0.name == name }.map(\.addresses))
      guard let lost = ranges.first(where: { !$0.isEmpty && !known.covers($0) }) else { continue }
      throw file.error(
        .malformed,
        "Entries are at \(lost.lowerBound.hexadecimal) to \(lost.upperBound.hexadecimal), which the note leaves out: "
          + "a process does not see them. Link the objects anew, without -r or with another linker.",
        section: name)
    }
  }
}
