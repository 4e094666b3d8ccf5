internal import CElf

/// The relocations of a file: in `PT_DYNAMIC` of linked files, in `SHT_REL*` of objects.
extension ELFFile {
  /// Returns the relocations of a section's range, with the range's place among theirs; nil if no loader writes there.
  func relocations(
    of range: Range<UInt64>, in section: Section
  ) throws(ImageError) -> (found: ELFRelocations, place: UInt64)? {
    if header.isObject { return (try relocations(ofObjectSection: section), range.lowerBound) }
    // The loader relocates only what it maps.
    guard section.isMapped else { return nil }
    let (place, overflow) = section.address.rawValue.addingReportingOverflow(range.lowerBound)
    try file.check(!overflow, .malformed, "The section wraps around.", section: section.name)
    let size = max(UInt64(range.count), UInt64(header.wordSize))
    if let known = try linkedRelocations?.get(),
      known.ranges.covers(place..<place.saturating(adding: size))
    {
      return (known, place)
    }
    wanted.insert(section.addresses)
    let isFirst = linkedRelocations == nil
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      let dynamic = try dynamic()
      let tables = dynamic?.relocations ?? []
      let size = tables.reduce(UInt64(0)) { $0.saturating(adding: $1.bytes.size) }
      return try ELFRelocations(
        of: file, header, machine, in: tables, globalOffsets: dynamic?.globalOffsets,
        // Small tables are kept whole once they are read again for another section.
        ranges: isFirst || size > Self.fewRelocations ? wantedRanges : .all)
    }
    linkedRelocations = collected
    return (try collected.get(), place)
  }

  /// The wanted sections, with the bytes before each: a relocation there may reach into the section.
  private var wantedRanges: AddressRanges {
    AddressRanges(wanted, before: 2 * UInt64(header.wordSize) - 1)
  }

  package func rewrite(
    of range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)?
  ) throws(ImageError) -> UInt64? {
    guard let (found, start) = try relocations(of: range, in: section) else { return nil }
    let (end, word) = (start.saturating(adding: UInt64(range.count)), UInt64(header.wordSize))
    let offset = start &- range.lowerBound
    for relocation in found.relocations(from: start - min(start, 2 * word - 1), to: end) {
      let place = relocation.place
      let size = isOfWord(relocation) ? word : 2 * word
      let isPointer = pointers.map { place == $0.0 &+ offset || place == $0.1 &+ offset } ?? false
      if place.saturating(adding: size) > start, !isPointer || size > word { return place }
    }
    return try copiedRanges(found).mayOverlap(start, end) ? start : nil
  }

  /// Returns whether a relocation writes at most a word, as all but `R_*_TLSDESC` do.
  private func isOfWord(_ relocation: ELFRelocation) -> Bool {
    relocation.form == .relr || machine.relocationTypes?.writesAddress(relocation.type) ?? true
      || !relocationNames.name(of: relocation.type, machine).split(separator: "_")
        .contains { $0.hasPrefix("DESC") || $0.hasSuffix("DESC") }
  }

  /// Returns the addresses that the loader copies data of other images to.
  private func copiedRanges(_ found: ELFRelocations) throws(ImageError) -> AddressRanges {
    guard !found.copies.isEmpty, !header.isObject, let symbols = try dynamic()?.symbols else {
      return AddressRanges([])
    }
    return try onceCopied(
      AddressRanges(
        found.copies.map { copy throws(ImageError) in
          copy.place..<copy.place.saturating(adding: try symbols.symbol(copy.symbol).size)
        }))
  }

  package func writableSegment(at address: VirtualAddress) throws(ImageError) -> Section? {
    // The loader may not write to other segments: relocating them would end the process.
    guard !header.isObject, let load = try segments().load(holding: address.rawValue),
      let dynamic = try dynamic(), load.isWritable || dynamic.relocatesCode
    else { return nil }
    if !wantsSegments {
      wantsSegments = true
      // One pass serves them all.
      for load in try segments().loads where load.isWritable || dynamic.relocatesCode {
        wanted.insert(load.section.addresses)
      }
    }
    return load.section
  }

  /// Surveys the relocations that are applied at load time: what they name, call and write to.
  ///
  /// Throws if one writes to the dynamic section: then the loader finds other things there than the file says.
  func surveyRelocations() throws(ImageError) -> ELFRelocations.Survey {
    let dynamic = try dynamic()
    // The ending entry may be a word after the section. The loader reads it before it relocates, so it does not count.
    let all = dynamic?.addresses ?? 0..<0
    let own =
      all
      .lowerBound..<max(
        all.lowerBound, all.upperBound - min(all.upperBound, UInt64(2 * header.wordSize)))
    // A word that begins before the section may reach into it; a copy is as wide as its symbol.
    let start = own.lowerBound - min(own.lowerBound, UInt64(header.wordSize - 1))
    let kept =
      if let dynamic { try segments().unwritable(isCodeWritable: dynamic.relocatesCode) } else {
        [] as [Range<UInt64>]
      }
    let slots = dynamic?.value(Int64(DT_INIT_ARRAY)) ?? 0
    let end = slots.saturating(adding: dynamic?.value(Int64(DT_INIT_ARRAYSZ)) ?? 0)
    let survey = ELFRelocations.Survey(
      of: machine.relocationTypes, forbidden: AddressRanges(kept + [start..<own.upperBound]),
      toCopies: AddressRanges(kept + [own]), startup: slots..<end)
    let tables = if let dynamic { dynamic.relocations } else { try loadedRelocations() }
    // Relocations that are wanted already are collected in the same pass.
    let isFirst = linkedRelocations == nil && dynamic != nil && dynamic?.globalOffsets == nil
    let found = try ELFRelocations(
      of: file, header, machine, in: tables,
      ranges: isFirst ? wantedRanges : AddressRanges([]),
      survey: survey)
    if isFirst { linkedRelocations = .success(found) }
    var rewriting = found.survey?.forbiddenPlace
      .flatMap { start..<own.upperBound ~= $0 ? $0 : nil }
    if let copy = found.copy(notAfter: own.lowerBound),
      let symbol = try dynamic?.symbols?.symbol(copy.symbol),
      own.lowerBound - copy.place < symbol.size
    {
      rewriting = copy.place
    }
    if let rewriting {
      throw file.error(
        .malformed,
        "It rewrites its own dynamic section: a relocation writes to \(rewriting.hexadecimal), so the loader finds "
          + "other things there than the file says.")
    }
    return found.survey ?? survey
  }

  /// Returns the relocation tables that a file without a dynamic section applies itself.
  private func loadedRelocations() throws(ImageError) -> [ELFRelocationTable] {
    let table = try sectionTable()
    let entries = sectionIndices.map { table[$0] }.filter {
      $0.isLoaded && $0.sh_size > 0 && Self.encodings[$0.sh_type] != nil
    }
    try guardian.admit(entries.lazy.map(\.sh_size), of: "relocations")
    return entries.map {
      ELFRelocationTable(encoding: Self.encodings[$0.sh_type] ?? .rela, bytes: .stored($0.extent))
    }
  }

  /// The size of small tables, in bytes.
  private static let fewRelocations: UInt64 = 1 << 12

  /// Returns only the relocations of one section of an object.
  func relocations(ofObjectSection section: Section) throws(ImageError) -> ELFRelocations {
    if let known = objectRelocations[section.index] { return try known.get() }
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      var tables: [ELFRelocationTable] = []
      for index in try relocationSections()[section.index] ?? [] {
        let entry = try sectionHeader(index)
        let encoding = Self.encodings[entry.sh_type] ?? .rela
        tables.append(ELFRelocationTable(encoding: encoding, bytes: try tableBytes(index)))
      }
      return try ELFRelocations(
        of: file, header, machine, in: tables, ranges: AddressRanges([0..<section.size]))
    }
    objectRelocations[section.index] = collected
    return try collected.get()
  }

  /// Returns the relocation sections of an object, by the section that they apply to.
  private func relocationSections() throws(ImageError) -> [Int: [Int]] {
    try onceRelocationSections(readRelocationSections())
  }

  private func readRelocationSections() throws(ImageError) -> [Int: [Int]] {
    let table = try sectionTable()
    let all = sectionIndices.filter { Self.encodings[table[$0].sh_type] != nil }
    try guardian.admit(all.map { table[$0].sh_size }, of: "relocation sections")
    return Dictionary(grouping: all) { Int(table[$0].sh_info) }
  }

  /// The encoding of a section of relocations, by its type; `SHT_CREL` is too new for libelf.
  static let encodings: [UInt32: ELFRelocationTable.Encoding] = [
    UInt32(SHT_REL): .rel, UInt32(SHT_RELA): .rela, 0x4000_0014: .crel,
  ]

  /// Returns the symbols that the relocations of a section name.
  func symbols(for section: Section) throws(ImageError) -> ELFSymbols? {
    guard header.isObject else { return try dynamic()?.symbols }
    guard let first = try relocationSections()[section.index]?.first else { return nil }
    let index = Int(try sectionHeader(first).sh_link)
    if let known = objectSymbols[index] { return known }
    let table = try sectionHeader(index)
    let names = try sectionHeader(Int(table.sh_link))
    try file.check(
      table.sh_type == UInt32(SHT_SYMTAB) && names.sh_type == UInt32(SHT_STRTAB), .malformed,
      "The relocations name symbols of a section that holds none.", section: section.name)
    let symbols = ELFSymbols(
      self, try tableBytes(index), names: try tableBytes(Int(table.sh_link)),
      longIndices: try longIndices(of: index))
    objectSymbols[index] = symbols
    return symbols
  }
}
