package import BinaryImage

/// Pointers of a file: the fixup that covers a word decides, the bytes alone mean nothing.
extension MachOFile {
  /// What a word `offset` bytes into `section` means.
  package func pointer(
    of raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    guard section.isMapped else {
      return raw == 0 ? unrelocated(raw) : number(raw, "no loader maps the section")
    }
    if let indirect = try indirectPointer(raw, at: offset, in: section) { return indirect }
    if header.isObject {
      guard let relocation = try relocations(ofObjectSection: section).relocation(at: offset) else {
        return unrelocated(raw)
      }
      return try resolve(relocation, raw: raw, in: section)
    }
    let (place, overflow) = section.address.rawValue.addingReportingOverflow(offset)
    try file.check(!overflow, .malformed, "The section wraps around.", section: section.name)
    if let fixup = try fixup(at: place, raw: raw, in: section) {
      return try resolve(fixup, raw: raw, in: section)
    }
    return unrelocated(raw)
  }

  /// What a word means that the loader leaves alone.
  private func unrelocated(_ raw: UInt64) -> PointerValue {
    if raw == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    guard header.hasFixedAddress else { return number(raw, "no fixup covers the word") }
    return PointerValue(
      rawValue: raw, target: .address(VirtualAddress(rawValue: raw)), resolution: .absolute)
  }

  private func number(_ raw: UInt64, _ reason: String) -> PointerValue {
    PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .number)
  }

  /// Returns what the indirect symbol table says of a word of symbol pointers; nil if it says nothing, or if newer
  /// tables do.
  ///
  /// C: `indirectsymoff` of `struct dysymtab_command`, `reserved1` of the section.
  private func indirectPointer(
    _ raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue? {
    let commands = try commands.get()
    guard commands.dyldInfo == nil, commands.chainedFixups == nil,
      let table = commands.indirectSymbols
    else { return nil }
    let entry = try sectionEntry(section.index)
    let (index, rest) = offset.quotientAndRemainder(dividingBy: UInt64(header.wordSize))
    guard entry.holdsSymbolPointers, rest == 0 else { return nil }
    let number = index.saturating(adding: entry.indirectStart)
    try file.check(
      number < table.size / 4, .malformed,
      "Word \(index) has number \(number) in the indirect symbol table, which has "
        + "\(table.size / 4) entries.", section: section.name, at: table.offset)
    let (bytes, position) = try file.load(at: table.offset + number * 4, count: 4)
    let symbol: UInt32 = bytes.span.integer(at: position, order: header.order) ?? 0
    // INDIRECT_SYMBOL_ABS: the word stays as it is. INDIRECT_SYMBOL_LOCAL: it leads into this image.
    if symbol & 0x4000_0000 != 0 { return nil }
    guard symbol & 0x8000_0000 != 0 else { return try resolve(UInt64(symbol), addend: 0, raw: raw) }
    guard !header.isObject, raw != 0 else { return nil }
    return PointerValue(rawValue: raw, target: linked(raw), resolution: .rebase)
  }

  // MARK: - Meaning of a fixup

  private func resolve(
    _ fixup: MachOFixup, raw: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    switch fixup {
    case .rebase(let weak):
      return PointerValue(rawValue: raw, target: linked(raw), resolution: .rebase, symbol: weak)
    case .chained(let address):
      return PointerValue(rawValue: raw, target: linked(address), resolution: .chainedRebase)
    case .relocation(let relocation): return try resolve(relocation, raw: raw, in: section)
    case .other(let reason):
      return PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .none)
    case .bind(let bind):
      let isExecutable = header.type == .execute
      let own =
        bind.mayBeOwn(isExecutable: isExecutable)
        ? try symbols.get()?.definition(of: bind.symbol) : nil
      return PointerValue(
        rawValue: raw,
        target: own.map { linked($0 &+ UInt64(bitPattern: bind.addend)) }
          ?? .imported(symbol: bind.symbol, addend: bind.addend), resolution: .symbol,
        symbol: bind.symbol)
    }
  }

  // MARK: - Meaning of a relocation

  private func resolve(
    _ relocation: MachORelocation, raw: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    func unresolvable(_ reason: String) -> PointerValue {
      PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .none)
    }
    if relocation.isCombined { return unresolvable("several relocations make the word") }
    let isSigned = relocation.type == header.machine.signed
    guard relocation.type == MachOMachine.pointer || isSigned, !relocation.isRelative,
      relocation.size == header.wordSize
    else {
      let name = header.machine.name(ofRelocation: relocation.type)
      return unresolvable("\(name) writes no address of a word")
    }
    func counted(fromSection ordinal: Int) throws(ImageError) -> PointerValue {
      let offset = masked(raw &- (try sectionEntry(ordinal).address))
      return PointerValue(
        rawValue: raw, target: .section(index: ordinal, offset: offset), resolution: .section)
    }
    switch relocation.base {
    case .symbol(let number):
      // A signed pointer keeps key and diversity beside an addend of 32 bits.
      let addend = isSigned ? UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw))) : raw
      return try resolve(number, addend: addend, raw: raw)
    case _ where !header.isObject:
      return PointerValue(rawValue: raw, target: linked(raw), resolution: .rebase)
    case .section(0): return unresolvable("the relocation names no section")
    case .section(let ordinal): return try counted(fromSection: ordinal)
    case .address(let address):
      guard let index = try commands.get().sections.firstIndex(where: { $0.holds(address) }) else {
        return unresolvable("the relocation names an address of no section")
      }
      return try counted(fromSection: index + 1)
    }
  }

  /// Follows the symbol that a relocation names.
  private func resolve(
    _ number: UInt64, addend: UInt64, raw: UInt64
  ) throws(ImageError) -> PointerValue {
    guard let symbols = try symbols.get() else {
      throw file.error(.malformed, "A pointer names symbol \(number), but there are no symbols.")
    }
    let symbol = try symbols.symbol(number)
    let sum = symbol.value &+ addend
    var target = symbol.target(addend: Int64(bitPattern: addend)) ?? linked(sum)
    if case .section(let ordinal) = symbol.place, header.isObject {
      let offset = masked(sum &- (try sectionEntry(ordinal).address))
      target = .section(index: ordinal, offset: offset)
    }
    return PointerValue(
      rawValue: raw, target: target, resolution: .symbol,
      symbol: symbol.name.isEmpty ? nil : symbol.name)
  }

  private func linked(_ address: UInt64) -> PointerValue.Target {
    .address(VirtualAddress(rawValue: masked(address)))
  }
}
