internal import CElf

/// Pointers of a file: the relocation that covers a word decides; the bytes mean nothing without it.
extension ELFFile {
  /// Returns the meaning of a word `offset` bytes into `section`.
  package func pointer(
    of raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    let found = try relocations(of: offset..<offset, in: section)
    return try meaning(of: raw, found.flatMap { $0.found.relocation(at: $0.place) }, in: section)
  }

  /// Returns the pointer at an offset of an array, read at its address: the section table may lie.
  func pointer(at offset: UInt64, ofArray array: Section) throws(ImageError) -> PointerValue {
    let place = VirtualAddress(rawValue: array.address.rawValue &+ offset)
    let raw = try pointerWord(at: place)
    return try pointer(of: raw, at: offset, in: array)
  }

  private func meaning(
    of raw: UInt64, _ relocation: ELFRelocation?, in section: Section
  ) throws(ImageError) -> PointerValue {
    guard let relocation else { return try unrelocated(raw) }
    guard let types = machine.relocationTypes else {
      throw file.error(
        .unsupported,
        "This reader does not know the relocations of \(machine.name), so it cannot follow the pointers; "
          + "readelf -r shows them.",
        section: section.name)
    }
    return try resolve(relocation, raw: raw, types, in: section)
  }

  /// Returns the meaning of a word that no relocation covers.
  private func unrelocated(_ raw: UInt64) throws(ImageError) -> PointerValue {
    if raw == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    guard header.type == UInt16(ET_EXEC) || header.type == UInt16(ET_CORE) else {
      return PointerValue(
        rawValue: raw, target: .unresolvable("no relocation covers the word"), resolution: .number)
    }
    return PointerValue(rawValue: raw, target: try target(at: raw), resolution: .absolute)
  }

  // MARK: - Meaning of a relocation

  private func resolve(
    _ relocation: ELFRelocation, raw: UInt64, _ types: ELFMachine.RelocationTypes,
    in section: Section
  ) throws(ImageError) -> PointerValue {
    let inPlace =
      header.bits == 64 ? raw : UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw)))
    let addsWord = relocation.form != .rela || header.isObject && machine.addsWordInObjects
    let explicit = relocation.form == .rela ? UInt64(bitPattern: relocation.addend) : 0
    let addend = explicit &+ (addsWord ? inPlace : 0)
    func unresolvable(_ reason: String) -> PointerValue {
      PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .none)
    }
    if relocation.isCombined { return unresolvable("several relocations make the word") }
    let namesNothing = relocation.symbol == 0
    if relocation.form == .relr || (types.relative.contains(relocation.type) && namesNothing) {
      let resolution: PointerValue.Resolution =
        switch relocation.form {
        case .rela: .relative
        case .rel: .rel
        case .relr: .relr
        }
      return PointerValue(
        rawValue: raw, target: try target(at: masked(addend)), resolution: resolution)
    }
    if types.chosen?.contains(relocation.type) == true {
      return unresolvable("a function of the image chooses the address when it is loaded")
    }
    let isTable = types.table.contains(relocation.type)
    guard types.writesAddress(relocation.type) else {
      let name = relocationNames.name(of: relocation.type, machine)
      return unresolvable("\(name) writes no address of a word")
    }
    guard !namesNothing else {
      if header.isObject { return unresolvable("the relocation names no symbol") }
      return PointerValue(
        rawValue: raw, target: try target(at: masked(addend)), resolution: .symbol)
    }
    // The word of a table entry is no addend: the loader overwrites it.
    let offset = isTable && relocation.form == .rel ? 0 : addend
    return try resolve(relocation, raw: raw, addend: offset, in: section)
  }

  /// Follows the symbol that a relocation names.
  private func resolve(
    _ relocation: ELFRelocation, raw: UInt64, addend: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    guard let symbols = try symbols(for: section) else {
      throw file.error(
        .malformed, "A relocation names symbol \(relocation.symbol), but there are no symbols.",
        section: section.name)
    }
    let symbol = try symbols.place(of: relocation.symbol)
    let isSection = symbol.type == UInt8(STT_SECTION)
    let target: PointerValue.Target
    if symbol.type == UInt8(STT_GNU_IFUNC) {
      target = .unresolvable("a function chooses the address of \(symbol.title) when it is loaded")
    } else if case .section(let index) = symbol.place {
      let sum = masked(symbol.value &+ addend)
      target = header.isObject ? .section(index: index, offset: sum) : try self.target(at: sum)
    } else {
      target = symbol.target(addend: Int64(bitPattern: addend)) ?? .null
    }
    return PointerValue(
      rawValue: raw, target: target, resolution: isSection && header.isObject ? .section : .symbol,
      symbol: symbol.name.isEmpty || isSection ? nil : symbol.name)
  }

  /// Returns a linked address, or the symbol whose data the loader copies there from another image.
  private func target(at address: UInt64) throws(ImageError) -> PointerValue.Target {
    if let copy = try linkedRelocations?.get().copy(notAfter: address),
      let symbol = try dynamic()?.symbols?.symbol(copy.symbol)
    {
      let offset = address - copy.place
      if offset < symbol.size, let addend = Int64(exactly: offset) {
        return .imported(symbol: symbol.name, addend: addend)
      }
    }
    return .address(VirtualAddress(rawValue: address))
  }
}
