internal import CElf

/// Pointers of a file: the relocation that covers a word decides, the bytes alone mean nothing.
extension ELFFile {
  /// The pointer that stands `offset` bytes into `section`.
  public func pointer(
    at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    let raw = try word(at: offset, in: section)
    let relocation: ELFRelocation?
    if header.isObject {
      relocation = try relocations(ofObjectSection: section).relocation(at: offset)
    } else {
      relocation = try linkedRelocation(at: offset, in: section)
    }
    guard let relocation else { return try unrelocated(raw) }
    guard let types = header.machine.relocations else {
      throw file.error(
        .unsupported, "The relocations of \(header.machine.name) are not known to this reader.",
        section: section.name)
    }
    return try resolve(relocation, raw: raw, types, in: section)
  }

  /// The word as it stands in the file.
  private func word(at offset: UInt64, in section: Section) throws(ImageError) -> UInt64 {
    let size = UInt64(header.wordSize)
    let contents = try contents(of: section)
    let available: UInt64 =
      switch contents {
      case .stored(let extent): extent.size
      case .inflated(let bytes): UInt64(bytes.count)
      }
    guard available >= size, offset <= available - size else {
      throw file.error(
        .truncated, "No whole pointer stands at 0x\(offset.hexadecimal) of the section.",
        section: section.name)
    }
    switch contents {
    case .stored(let extent):
      let (bytes, position) = try words.load(at: extent.offset + offset, count: Int(size))
      return bytes.span.word(at: position, bits: header.bits, order: header.order) ?? 0
    case .inflated(let bytes):
      return bytes.span.word(at: Int(offset), bits: header.bits, order: header.order) ?? 0
    }
  }

  /// What a word means that no relocation covers.
  private func unrelocated(_ raw: UInt64) throws(ImageError) -> PointerValue {
    if raw == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    guard header.type == UInt16(ET_EXEC) || header.type == UInt16(ET_CORE) else {
      return PointerValue(
        rawValue: raw, target: .unresolvable("no relocation covers the word"), resolution: .none)
    }
    return PointerValue(
      rawValue: raw, target: try target(at: raw, relocations: linkedRelocations),
      resolution: .absolute)
  }

  // MARK: - Meaning of a relocation

  private func resolve(
    _ relocation: ELFRelocation, raw: UInt64, _ types: ELFMachine.Relocations, in section: Section
  ) throws(ImageError) -> PointerValue {
    let inPlace =
      header.bits == 64 ? raw : UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw)))
    let addend = relocation.form == .rela ? UInt64(bitPattern: relocation.addend) : inPlace
    var value = PointerValue(rawValue: raw, target: .null, resolution: .none)
    func unresolvable(_ reason: String) -> PointerValue {
      value.target = .unresolvable(reason)
      return value
    }
    if relocation.isCombined { return unresolvable("several relocations make the word") }
    let namesNothing = relocation.symbol == 0
    if relocation.form == .relr || (types.relative.contains(relocation.type) && namesNothing) {
      value.target = try target(at: masked(addend), relocations: linkedRelocations)
      value.resolution =
        switch relocation.form {
        case .rela: .relative
        case .rel: .rel
        case .relr: .relr
        }
      return value
    }
    if relocation.type == types.chosen {
      return unresolvable("a function of the image chooses the address when it is loaded")
    }
    let isTable = types.table.contains(relocation.type)
    guard
      isTable || types.word.contains(relocation.type) || types.relative.contains(relocation.type)
    else {
      return unresolvable("relocation type \(relocation.type) writes no address of a word")
    }
    guard !namesNothing else {
      if header.isObject { return unresolvable("the relocation names no symbol") }
      value.target = try target(at: masked(addend), relocations: linkedRelocations)
      value.resolution = .symbol
      return value
    }
    // The word of a table entry is no addend: the loader overwrites it.
    let offset = isTable && relocation.form == .rel ? 0 : addend
    return try resolve(relocation, value, addend: offset, in: section)
  }

  /// Follows the symbol that a relocation names.
  private func resolve(
    _ relocation: ELFRelocation, _ unresolved: PointerValue, addend: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    var value = unresolved
    guard let table = try symbolTable(for: section) else {
      throw file.error(
        .malformed, "A relocation names symbol \(relocation.symbol), but there are no symbols.",
        section: section.name)
    }
    let symbol = try symbols.symbol(relocation.symbol, in: table)
    let isSection = symbol.type == UInt8(STT_SECTION)
    value.symbol = symbol.name.isEmpty || isSection ? nil : symbol.name
    value.resolution = isSection && header.isObject ? .section : .symbol
    let name = symbol.name.isEmpty ? "symbol \(relocation.symbol)" : symbol.name
    if symbol.type == UInt8(STT_GNU_IFUNC) {
      value.target = .unresolvable("a function chooses the address of \(name) when it is loaded")
      return value
    }
    switch symbol.place {
    case .undefined: value.target = .imported(symbol: symbol.name)
    case .absolute: value.target = .unresolvable("\(name) is a number, no address")
    case .common: value.target = .unresolvable("\(name) is common: no object places it yet")
    case .section(let index):
      let sum = masked(symbol.value &+ addend)
      value.target =
        header.isObject
        ? .section(index: index, offset: sum)
        : try target(at: sum, relocations: linkedRelocations)
    }
    return value
  }

  /// A linked address, or the symbol whose data the loader copies there from another image.
  private func target(
    at address: UInt64, relocations: Result<ELFRelocations, ImageError>?
  ) throws(ImageError) -> PointerValue.Target {
    if let copy = try relocations?.get().copy(notAfter: address),
      let table = try dynamic()?.symbols
    {
      let symbol = try symbols.symbol(copy.symbol, in: table)
      if address - copy.place < symbol.size { return .imported(symbol: symbol.name) }
    }
    return .address(VirtualAddress(rawValue: address))
  }

  private func masked(_ value: UInt64) -> UInt64 {
    header.bits == 64 ? value : value & 0xffff_ffff
  }

  // MARK: - Tables

  private func linkedRelocation(
    at offset: UInt64, in section: Section
  ) throws(ImageError) -> ELFRelocation? {
    let (place, overflow) = section.address.rawValue.addingReportingOverflow(offset)
    guard !overflow else {
      throw file.error(.malformed, "The section wraps around.", section: section.name)
    }
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    if let known = linkedRelocations {
      let relocations = try known.get()
      if relocations.covers(range) { return relocations.relocation(at: place) }
    }
    if !wanted.contains(section) { wanted.append(section) }
    let ranges = wanted.map {
      $0.address.rawValue..<$0.address.rawValue.saturating(adding: $0.size)
    }
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      try ELFRelocations(of: file, header, in: dynamic()?.relocations ?? [], ranges: ranges)
    }
    linkedRelocations = collected
    return try collected.get().relocation(at: place)
  }

  /// The relocations of one section of an object, and of no other.
  private func relocations(
    ofObjectSection section: Section
  ) throws(ImageError) -> ELFRelocations {
    if let known = objectRelocations[section.index] { return try known.get() }
    let collected = Result<ELFRelocations, ImageError> { () throws(ImageError) in
      var tables: [ELFRelocationTable] = []
      for index in try relocationSections()[section.index] ?? [] {
        let entry = try requireSectionHeader(index)
        guard entry.sh_type == UInt32(SHT_REL) || entry.sh_type == UInt32(SHT_RELA) else {
          throw file.error(
            .unsupported, "The relocations are packed in a way that this reader does not know.",
            section: section.name, at: entry.sh_offset)
        }
        let form: ELFRelocation.Form = entry.sh_type == UInt32(SHT_RELA) ? .rela : .rel
        tables.append(
          ELFRelocationTable(form: form, offset: entry.sh_offset, size: entry.sh_size))
      }
      return try ELFRelocations(of: file, header, in: tables, ranges: [0..<section.size])
    }
    objectRelocations[section.index] = collected
    return try collected.get()
  }

  /// The relocation sections of an object by the section that they apply to.
  private func relocationSections() throws(ImageError) -> [Int: [Int]] {
    if let objectTables { return objectTables }
    try requireSectionTable()
    var tables: [Int: [Int]] = [:]
    var total: UInt64 = 0
    for index in 1..<max(1, sectionCount) {
      let entry = try requireSectionHeader(index)
      guard Self.relocationTypes.contains(entry.sh_type) else { continue }
      tables[Int(entry.sh_info), default: []].append(index)
      total = total.saturating(adding: entry.sh_size)
    }
    guard total <= file.size else {
      throw file.error(.malformed, "The relocation sections claim more bytes than the file has.")
    }
    objectTables = tables
    return tables
  }

  /// `SHT_REL`, `SHT_RELA`, `SHT_CREL`.
  private static let relocationTypes: Set<UInt32> = [
    UInt32(SHT_REL), UInt32(SHT_RELA), 0x4000_0014,
  ]

  /// The symbols that the relocations of a section name.
  private func symbolTable(for section: Section) throws(ImageError) -> ELFSymbolTable? {
    guard header.isObject else { return try dynamic()?.symbols }
    guard let relocations = try relocationSections()[section.index]?.first else { return nil }
    let index = Int(try requireSectionHeader(relocations).sh_link)
    if let known = objectSymbols[index] { return known }
    let table = try requireSectionHeader(index)
    let names = try requireSectionHeader(Int(table.sh_link))
    guard table.sh_type == UInt32(SHT_SYMTAB), names.sh_type == UInt32(SHT_STRTAB) else {
      throw file.error(
        .malformed, "The relocations name symbols of a section that holds none.",
        section: section.name)
    }
    var symbols = ELFSymbolTable(
      offset: table.sh_offset, size: table.sh_size, stringOffset: names.sh_offset,
      stringSize: names.sh_size)
    for other in 1..<max(1, sectionCount) {
      let entry = try requireSectionHeader(other)
      guard entry.sh_type == UInt32(SHT_SYMTAB_SHNDX), Int(entry.sh_link) == index else { continue }
      symbols.longIndices = (entry.sh_offset, entry.sh_size)
      break
    }
    objectSymbols[index] = symbols
    return symbols
  }
}

extension UInt64 {
  /// The sum, or the largest number where that would overflow.
  func saturating(adding other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
