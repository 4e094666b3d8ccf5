package import BinaryImage

/// Pointers of a file: the fixup that covers a word decides, the bytes alone mean nothing.
extension MachOFile {
  /// The pointer that stands `offset` bytes into `section`.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let raw = try word(at: offset, in: section)
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

  /// The word as it stands in the file.
  private func word(at offset: UInt64, in section: Section) throws(ImageError) -> UInt64 {
    let size = UInt64(header.wordSize)
    let extent = try held(of: section)
    try file.check(
      extent.size >= size && offset <= extent.size - size, .truncated,
      "The section has no whole pointer at 0x\(offset.hexadecimal).", section: section.name)
    let (bytes, position) = try words.load(file, at: extent.offset + offset, count: Int(size))
    return bytes.span.word(at: position, bits: header.bits, order: header.order) ?? 0
  }

  /// What a word means that the loader leaves alone.
  private func unrelocated(_ raw: UInt64) -> PointerValue {
    if raw == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    guard header.hasFixedAddress else {
      return PointerValue(
        rawValue: raw, target: .unresolvable("no fixup covers the word"), resolution: .number)
    }
    return PointerValue(
      rawValue: raw, target: .address(VirtualAddress(rawValue: raw)), resolution: .absolute)
  }

  // MARK: - Meaning of a fixup

  private func resolve(
    _ fixup: MachOFixup, raw: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    var value = PointerValue(rawValue: raw, target: .null, resolution: .none)
    switch fixup {
    case .rebase(let weak):
      value.symbol = weak
      value.target = .address(VirtualAddress(rawValue: raw))
      value.resolution = .rebase
    case .chained(let address):
      value.target = .address(VirtualAddress(rawValue: masked(address)))
      value.resolution = .chainedRebase
    case .relocation(let relocation):
      return try resolve(relocation, raw: raw, in: section)
    case .other(let reason):
      value.target = .unresolvable(reason)
    case .bind(let bind):
      value.symbol = bind.symbol
      value.resolution = .symbol
      value.target = .imported(symbol: bind.symbol)
      let isExecutable = header.type == MachOHeader.FileType.execute
      if bind.mayBeOwn(isExecutable: isExecutable),
        let address = try symbols()?.definition(of: bind.symbol)
      {
        let sum = masked(address &+ UInt64(bitPattern: bind.addend))
        value.target = .address(VirtualAddress(rawValue: sum))
      }
    }
    return value
  }

  // MARK: - Meaning of a relocation

  private func resolve(
    _ relocation: MachORelocation, raw: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue {
    var value = PointerValue(rawValue: raw, target: .null, resolution: .none)
    func unresolvable(_ reason: String) -> PointerValue {
      value.target = .unresolvable(reason)
      return value
    }
    if relocation.isCombined { return unresolvable("several relocations make the word") }
    let isSigned = relocation.type == header.machine.signed
    guard relocation.type == MachOMachine.pointer || isSigned, !relocation.isRelative,
      relocation.size == header.wordSize
    else {
      let name = header.machine.name(ofRelocation: relocation.type)
      return unresolvable("\(name) writes no address of a word")
    }
    // A signed pointer keeps key and diversity beside an addend of 32 bits.
    let addend =
      isSigned ? UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: raw))) : raw
    guard header.isObject else {
      guard case .symbol(let number) = relocation.base else {
        value.target = .address(VirtualAddress(rawValue: raw))
        value.resolution = .rebase
        return value
      }
      return try resolve(number, addend: addend, value)
    }
    switch relocation.base {
    case .symbol(let number): return try resolve(number, addend: addend, value)
    case .section(let ordinal):
      guard ordinal > 0 else { return unresolvable("the relocation names no section") }
      let entry = try sectionEntry(ordinal)
      value.target = .section(index: ordinal, offset: masked(raw &- entry.address))
    case .address(let address):
      let sections = try commands().sections
      guard let index = sections.firstIndex(where: { $0.holds(address) }) else {
        return unresolvable("the relocation names an address of no section")
      }
      value.target = .section(index: index + 1, offset: masked(raw &- sections[index].address))
    }
    value.resolution = .section
    return value
  }

  /// Follows the symbol that a relocation names.
  private func resolve(
    _ number: UInt64, addend: UInt64, _ unresolved: PointerValue
  ) throws(ImageError) -> PointerValue {
    var value = unresolved
    guard let symbols = try symbols() else {
      throw file.error(.malformed, "A relocation names symbol \(number), but there are no symbols.")
    }
    let symbol = try symbols.symbol(number)
    value.symbol = symbol.name.isEmpty ? nil : symbol.name
    value.resolution = .symbol
    guard case .section(let ordinal) = symbol.place else {
      value.target = symbol.target ?? value.target
      return value
    }
    let sum = masked(symbol.value &+ addend)
    value.target =
      header.isObject
      ? .section(index: ordinal, offset: masked(sum &- (try sectionEntry(ordinal).address)))
      : .address(VirtualAddress(rawValue: sum))
    return value
  }

  private func masked(_ value: UInt64) -> UInt64 {
    header.bits == 64 ? value : value & 0xffff_ffff
  }
}
