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
    let (first, second) = relocation
    let (isScattered, isLittle) = (header.isScattered(first), header.order == .little)
    // The bit fields are in the other order too where the bytes are.
    let bits = isScattered ? first >> 24 : isLittle ? second >> 24 : second & 0xff
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
    let number = isScattered ? second : isLittle ? second & 0x00ff_ffff : second >> 8
    guard isExternal == 0 else {
      // A signed pointer keeps key and diversity beside an addend of 32 bits.
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

/// `LC_SYMTAB`: `symoff`, the number of symbols, and `stroff` with `strsize`.
typealias MachOSymbolTable = (offset: UInt64, count: UInt64, names: FileExtent)

/// Reads symbols one by one, or by name.
final class MachOSymbols {
  private let table: MachOSymbolTable
  private let file: OpenedFile
  private let header: MachOHeader
  private var definitions: [String: UInt64]?
  /// By the ordinal of the section.
  private var marks: [[Mark]]?

  /// The start of a part of an object's section, and whether the symbol there says that it must
  /// be kept.
  typealias Mark = (address: UInt64, isKept: Bool)

  init(_ table: MachOSymbolTable, of file: OpenedFile, _ header: MachOHeader) {
    (self.table, self.file, self.header) = (table, file, header)
  }

  /// The symbol of that number.
  func symbol(_ number: UInt64) throws(ImageError) -> Symbol {
    try file.check(
      number < table.count, .malformed, "Symbol \(number) lies outside the symbol table.",
      at: table.offset)
    let size = header.symbolSize
    let (bytes, position) = try file.load(
      at: table.offset + number * UInt64(size), count: size)
    let entry = Entry(bytes, at: position, header)
    let name = try file.name(at: UInt64(entry.name), in: table.names)
    return Symbol(number, name: name, value: entry.value, place: entry.place)
  }

  /// The address of the symbol of that name which this image defines for others; nil where it
  /// defines none.
  func definition(of name: String) throws(ImageError) -> UInt64? {
    if let definitions { return definitions[name] }
    var found: [String: UInt64] = [:]
    // Names may share bytes, but not beyond what any compiler makes of that.
    var budget = table.names.size.saturating(adding: 4096) &* 16
    try forEachEntry { entry throws(ImageError) in
      guard entry.isExternal, case .section = entry.place else { return }
      let own = try file.name(at: UInt64(entry.name), in: table.names)
      try file.check(
        own.utf8.count < budget, .malformed,
        "The symbols share their names' bytes beyond reason.", at: table.offset)
      budget -= UInt64(own.utf8.count)
      found[own] = entry.value
    }
    definitions = found
    return found[name]
  }

  /// The marks in a section of an object, in the order of their addresses; one pass over the symbols
  /// serves all sections.
  func marks(inSection ordinal: Int) throws(ImageError) -> [Mark] {
    // A symbol names its section with one byte.
    guard ordinal <= Int(UInt8.max) else { return [] }
    if let marks { return marks[ordinal] }
    var found = [[Mark]](repeating: [], count: Int(UInt8.max) + 1)
    try forEachEntry { entry in
      guard case .section(let ordinal) = entry.place, entry.beginsPart else { return }
      found[ordinal].append((entry.value, entry.isKept))
    }
    for ordinal in found.indices { found[ordinal].sort { $0.address < $1.address } }
    marks = found
    return found[ordinal]
  }

  private func forEachEntry(_ body: (Entry) throws(ImageError) -> Void) throws(ImageError) {
    let size = header.symbolSize
    let extent = FileExtent(offset: table.offset, size: table.count * UInt64(size))
    try file.forEachPiece(of: extent, entry: size) { bytes throws(ImageError) in
      for position in stride(from: 0, to: bytes.count, by: size) {
        try body(Entry(bytes, at: position, header))
      }
    }
  }
}

/// One `nlist` or `nlist_64`.
private struct Entry {
  let name: UInt32
  let type: UInt8
  let section: UInt8
  let description: UInt16
  let value: UInt64

  /// Reads the entry at `position`; the caller has checked that there is one.
  init(_ bytes: [UInt8], at position: Int, _ header: MachOHeader) {
    name = bytes.span.integer(at: position, order: header.order) ?? 0
    (type, section) = (bytes[position + 4], bytes[position + 5])
    description = bytes.span.integer(at: position + 6, order: header.order) ?? 0
    value = bytes.span.word(at: position + 8, bits: header.bits, order: header.order) ?? 0
  }

  /// `N_EXT`, and no entry for debuggers.
  var isExternal: Bool { type & 1 != 0 && type & 0xe0 == 0 }

  /// Whether a linker may cut here: no entry for debuggers, and no `N_ALT_ENTRY`.
  var beginsPart: Bool { type & 0xe0 == 0 && description & 0x200 == 0 }

  /// `N_NO_DEAD_STRIP`, of an object.
  var isKept: Bool { description & 0x20 != 0 }

  var place: Symbol.Place {
    switch type & 0xe {
    case 0x2: .absolute
    case 0xa: .indirect
    case 0xe: .section(Int(section))
    case 0 where value != 0 && isExternal: .common
    default: .undefined
    }
  }
}

/// The parts of an object that a linker keeps though nothing refers to them.
///
/// C's `used` marks symbols, not their section: `N_NO_DEAD_STRIP`. A linker takes a section apart at
/// its symbols and keeps each part by itself, so all of them have to be marked.
extension MachOFile {
  /// Whether all parts of an object's section, or the section, are marked.
  package func isRetained(_ section: Section) throws(ImageError) -> Bool {
    guard header.isObject, !section.isRetained, section.size > 0 else { return section.isRetained }
    guard let symbols = try symbols.get() else { return false }
    let start = try sectionEntry(section.index).address
    let marks = try symbols.marks(inSection: section.index)
    // Without this flag a section is one part, whatever is in it.
    guard header.isDivisible else { return marks.contains(where: \.isKept) }
    // What is before the first symbol belongs to none. Of several symbols at one place one mark
    // will do: assemblers put names of their own there.
    var (place, isKept) = (start, false)
    for mark in marks {
      if mark.address != place, !isKept { return false }
      isKept = mark.isKept || (isKept && mark.address == place)
      place = mark.address
    }
    return isKept
  }
}
