internal import CElf

/// Where the symbols and their names stand in the file.
struct ELFSymbolTable {
  /// The symbols; of the loader's table the size is only a bound, since nothing says how long it is.
  var entries: FileExtent
  /// The names.
  var names: FileExtent
  /// `SHT_SYMTAB_SHNDX`: section indices that do not fit into 16 bits.
  var longIndices: FileExtent?
}

/// Reads symbols one by one.
struct ELFSymbols {
  private var entries = FileWindow()
  private var names = FileWindow()

  /// The symbol of that number.
  mutating func symbol(
    _ number: UInt32, in table: ELFSymbolTable, of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> Symbol {
    let (is64, order) = (header.bits == 64, header.order)
    let size = is64 ? 24 : 16
    let start = UInt64(number) * UInt64(size)
    guard start + UInt64(size) <= table.entries.size else {
      throw file.error(
        .malformed, "Symbol \(number) lies outside the symbol table.", at: table.entries.offset)
    }
    let (bytes, position) = try entries.load(
      file, at: table.entries.offset.saturating(adding: start), count: size)
    let entry = bytes.span.extracting(position..<position + size)
    func word(_ place: Int) -> UInt64 {
      entry.word(at: place, bits: header.bits, order: order) ?? 0
    }
    let name: UInt32 = entry.integer(at: 0, order: order) ?? 0
    let section: UInt16 = entry.integer(at: is64 ? 6 : 14, order: order) ?? 0
    let (value, extent) = (word(is64 ? 8 : 4), word(is64 ? 16 : 8))
    let type = entry[is64 ? 4 : 12] & 0xf
    let place = try place(section, of: number, in: table, file, order)
    var symbol = Symbol(
      UInt64(number), name: try names.name(file, at: UInt64(name), in: table.names), value: value,
      place: place)
    (symbol.size, symbol.type) = (extent, type)
    return symbol
  }

  private mutating func place(
    _ index: UInt16, of number: UInt32, in table: ELFSymbolTable, _ file: OpenedFile,
    _ order: ImageIdentity.ByteOrder
  ) throws(ImageError) -> Symbol.Place {
    switch Int32(index) {
    case SHN_UNDEF: return .undefined
    case SHN_ABS: return .absolute
    case SHN_COMMON: return .common
    case SHN_XINDEX:
      guard let long = table.longIndices, UInt64(number) * 4 + 4 <= long.size else {
        throw file.error(.malformed, "Symbol \(number) has a section index that is not there.")
      }
      let (bytes, position) = try entries.load(
        file, at: long.offset.saturating(adding: UInt64(number) * 4), count: 4)
      let index: UInt32? = bytes.span.integer(at: position, order: order)
      return .section(Int(index ?? 0))
    default: return .section(Int(index))
    }
  }
}
