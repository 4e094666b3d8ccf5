package import BinaryImage

/// The pointers of a file. The fixup that covers a word decides; the bytes by themselves mean nothing.
extension MachOFile {
  /// Returns the meaning of the word `offset` bytes into `section`.
  package func pointer(
    of raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    guard section.isMapped else {
      return raw == 0 ? unrelocated(raw) : number(raw, "no loader maps the section")
    }
    if let indirect = try indirectPointer(raw, at: offset, in: section) { return indirect }
    let (place, overflow) = section.address.rawValue.addingReportingOverflow(offset)
    try file.check(!overflow, .malformed, "The section wraps around.", section: section.name)
    let range = place..<place.saturating(adding: UInt64(header.wordSize))
    guard let (pointer, library) = try fixups(of: range, in: section)?.at(place, raw) else {
      return unrelocated(raw)
    }
    // BIND_SPECIAL_DYLIB_SELF, flat and weak lookup, and the main executable: this image may define it.
    guard case .imported(let symbol, let addend) = pointer.target, let library,
      [0, -2, -3].contains(library) || (library == -1 && header.isExecutable),
      let own = try symbols.get()?.definition(of: symbol)
    else { return pointer }
    return PointerValue(
      rawValue: raw, target: linked(own &+ UInt64(bitPattern: addend)), resolution: .symbol,
      symbol: symbol)
  }

  /// Returns the meaning of a word that the loader does not change.
  private func unrelocated(_ raw: UInt64) -> PointerValue {
    if raw == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    guard header.hasFixedAddress else { return number(raw, "no fixup covers the word") }
    return PointerValue(
      rawValue: raw, target: .address(VirtualAddress(rawValue: raw)), resolution: .absolute)
  }

  private func number(_ raw: UInt64, _ reason: String) -> PointerValue {
    PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .number)
  }

  /// Returns the meaning of a symbol pointer by the indirect symbol table. Returns nil if the table says nothing, or if
  /// newer tables do.
  ///
  /// C: `indirectsymoff` of `struct dysymtab_command`, `reserved1` of the section.
  private func indirectPointer(
    _ raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue? {
    let commands = try commands.get()
    guard commands.programs == nil, commands.chainedFixups == nil,
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

  // MARK: - Meaning of a relocation

  /// Returns the meaning of a word that one relocation writes.
  func resolve(_ relocation: MachORelocation, raw: UInt64) throws(ImageError) -> PointerValue {
    let (address, target) = relocation
    let (isScattered, isLittle) = (header.isScattered(address), header.order == .little)
    // In big-endian files the bit fields are in the other order too.
    let bits = isScattered ? address >> 24 : isLittle ? target >> 24 : target & 0xff
    let (type, length, isRelative, isExternal) =
      isScattered
      ? (bits & 0xf, bits >> 4 & 3, bits >> 6 & 1, 0)
      : isLittle
        ? (bits >> 4, bits >> 1 & 3, bits & 1, bits >> 3 & 1)
        : (bits & 0xf, bits >> 5 & 3, bits >> 7, bits >> 4 & 1)
    let isSigned = type == header.signedRelocation
    guard type == MachOHeader.pointerRelocation || isSigned, isRelative == 0,
      1 << length == header.wordSize
    else {
      return .unresolvable(raw, "a relocation of type \(type) writes no address of a word")
    }
    let number = isScattered ? target : isLittle ? target & 0x00ff_ffff : target >> 8
    guard isExternal == 0 else {
      // A signed pointer keeps key and diversity next to an addend of 32 bits.
      let addend = isSigned ? UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw))) : raw
      return try resolve(UInt64(number), addend: addend, raw: raw)
    }
    guard header.isObject else {
      return PointerValue(rawValue: raw, target: linked(raw), resolution: .rebase)
    }
    // A scattered relocation has an address in the section.
    let sections = try commands.get().sections
    let ordinal =
      isScattered
      ? sections.firstIndex { $0.holds(UInt64(number)) }.map { $0 + 1 } ?? 0 : Int(number)
    guard ordinal > 0 else { return .unresolvable(raw, "the relocation names no section") }
    let offset = masked(raw &- (try sectionEntry(ordinal).address))
    return PointerValue(
      rawValue: raw, target: .section(index: ordinal, offset: offset), resolution: .section)
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
