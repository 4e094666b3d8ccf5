internal import CElf

/// The symbols of one table, read one by one.
///
/// ELF: `gelf_getsym`.
final class ELFSymbols {
  private let file: OpenedFile
  /// The symbols. The size of the loader's table is only a bound, because nothing says how long that table is.
  private let table: ELFTable<GElf_Sym>
  /// Their names, and the number of bytes of names that may still be read: names may share bytes.
  private let names: ELFBytes
  private var budget: UInt64
  /// The name that was read last: many slots may name one symbol.
  private var last: (offset: UInt64, text: String) = (0, "")
  /// `SHT_SYMTAB_SHNDX`: section indices that do not fit into 16 bits.
  private let longIndices: ELFTable<UInt32>?

  init(_ image: ELFFile, _ symbols: ELFBytes, names: ELFBytes, longIndices: ELFBytes? = nil) {
    (file, self.names) = (image.file, names)
    table = ELFTable(.symbols, symbols, of: file, image.header.format)
    budget = UInt64(1 << 24).saturating(adding: min(names.size, file.size) * 16)
    self.longIndices = longIndices.map {
      ELFTable(.words, $0, of: image.file, image.header.format)
    }
  }

  /// The number of symbols, if the table states it.
  var count: UInt32 { UInt32(clamping: table.count) }

  /// Whether names have shared their bytes so often that no more are read.
  var lacksNames: Bool { budget == 0 }

  /// Returns the symbol with this number.
  func symbol(_ number: UInt32) throws(ImageError) -> Symbol {
    var (symbol, name) = try unnamed(number)
    symbol.name = try text(at: name)
    return symbol
  }

  /// Returns the symbol with this number. If no more names are read, a symbol of this file has no name.
  func place(of number: UInt32) throws(ImageError) -> Symbol {
    do throws(ImageError) { return try symbol(number) } catch {
      let symbol = try unnamed(number).symbol
      guard lacksNames, symbol.isDefined else { throw error }
      return symbol
    }
  }

  /// Returns the symbol with this number if it is wanted. `isWanted` gets a symbol whose name is not read yet.
  func symbol(_ number: UInt32, where isWanted: (Symbol) -> Bool) throws(ImageError) -> Symbol? {
    var (symbol, name) = try unnamed(number)
    guard isWanted(symbol) else { return nil }
    symbol.name = try text(at: name)
    return symbol
  }

  /// Returns a symbol without its name, and the offset of the name.
  private func unnamed(_ number: UInt32) throws(ImageError) -> (symbol: Symbol, name: UInt64) {
    try file.check(
      Int(number) < table.count, .malformed, "Symbol \(number) lies outside the symbol table.",
      at: table.bytes.offset)
    let row = try table.row(Int(number))
    var symbol = Symbol(
      UInt64(number), name: "", value: row.st_value, place: try place(row.st_shndx, of: number))
    (symbol.size, symbol.type, symbol.binding) = (row.st_size, row.st_info & 0xf, row.st_info >> 4)
    symbol.visibility = row.st_other & 3
    return (symbol, UInt64(row.st_name))
  }

  private func place(_ index: UInt16, of number: UInt32) throws(ImageError) -> Symbol.Place {
    switch Int32(index) {
    case SHN_UNDEF: return .undefined
    case SHN_ABS: return .absolute
    case SHN_COMMON: return .common
    case SHN_XINDEX:
      guard let longIndices, Int(number) < longIndices.count else {
        throw file.error(.malformed, "Symbol \(number) has a section index that is not there.")
      }
      return .section(Int(try longIndices.row(Int(number))))
    default: return .section(Int(index))
    }
  }

  /// Returns the text at an offset of the names; empty at offset 0.
  func text(at offset: UInt64) throws(ImageError) -> String {
    if offset == last.offset { return last.text }
    let text = lacksNames ? "" : try read(at: offset)
    budget -= min(budget, UInt64(text.utf8.count))
    try file.check(!lacksNames, .malformed, "Too many names share the bytes of one table.")
    last = (offset, text)
    return text
  }

  private func read(at offset: UInt64) throws(ImageError) -> String {
    switch names {
    case .stored(let extent): return try file.name(at: offset, in: extent)
    case .inflated(let bytes):
      let start = Int(clamping: offset)
      guard let length = bytes.span.textLength(from: start) else {
        throw file.error(.malformed, "A symbol's name lies outside the string table.")
      }
      return String(decoding: bytes.span.extracting(start..<start + length))
    }
  }
}

/// All symbols of a file, also those that no relocation leads to.
extension ELFFile {
  /// More symbols than any file has.
  static let mostSymbols: UInt64 = 1 << 22

  /// Returns `count`, if a file may have so many symbols.
  func checked(symbols count: UInt64) throws(ImageError) -> UInt32 {
    try file.check(count <= Self.mostSymbols, .malformed, "It claims \(count) symbols.")
    return UInt32(count)
  }

  /// Calls `body` with each wanted symbol until it returns false. The symbols of the linker come first; a stripped file
  /// lacks them. `isWanted` gets a symbol without its name.
  package func forEachSymbol(
    where isWanted: (Symbol) -> Bool, _ body: (Symbol) -> Bool
  ) throws(ImageError) {
    let headers = try hasSectionTable ? sectionTable().headers : []
    let tables = sectionIndices.filter {
      headers[$0].sh_type == UInt32(SHT_SYMTAB) && headers[$0].sh_size > 0
    }
    try file.check(
      tables.count <= 64, .malformed, "It has \(tables.count) tables of symbols; a file has one.")
    try guardian.admit(tables.map { headers[$0].sh_size }, of: "tables of symbols")
    for index in tables {
      let entry = headers[index]
      let table = ELFSymbols(
        self, try tableBytes(index), names: try tableBytes(Int(entry.sh_link)),
        longIndices: try longIndices(of: index))
      guard try forEach(of: table, try checked(symbols: UInt64(table.count)), isWanted, body) else {
        return
      }
    }
    try forEachLoaderSymbol(where: isWanted, body)
  }

  /// Calls `body` with each wanted symbol that the loader finds or looks for, until `body` returns false.
  package func forEachLoaderSymbol(
    where isWanted: (Symbol) -> Bool, _ body: (Symbol) -> Bool
  ) throws(ImageError) {
    guard let symbols = try dynamic()?.symbols else { return }
    _ = try forEach(of: symbols, try symbolHash().count, isWanted, body)
  }

  private func forEach(
    of table: ELFSymbols, _ count: UInt32, _ isWanted: (Symbol) -> Bool, _ body: (Symbol) -> Bool
  ) throws(ImageError) -> Bool {
    for number in 0..<count {
      guard let symbol = try table.symbol(number, where: isWanted) else { continue }
      guard body(symbol) else { return false }
    }
    return true
  }

  /// Returns the `SHT_SYMTAB_SHNDX` of a table of symbols; nil if it has none.
  func longIndices(of index: Int) throws(ImageError) -> ELFBytes? {
    let table = try sectionTable()
    let found = sectionIndices.first {
      table[$0].sh_type == UInt32(SHT_SYMTAB_SHNDX) && Int(table[$0].sh_link) == index
    }
    guard let found else { return nil }
    return try tableBytes(found)
  }

  /// Returns whether the file has a function or variable of one of these names that the loader does not find.
  package func hides(_ names: [String]) -> Bool {
    let names = Set(names)
    var isHidden = false
    // A table that cannot be read hides nothing.
    try? forEachSymbol(where: { $0.isDefined && $0.binding != UInt8(STB_LOCAL) }) { symbol in
      isHidden = names.contains(symbol.name)
      return !isHidden
    }
    return isHidden
  }
}
