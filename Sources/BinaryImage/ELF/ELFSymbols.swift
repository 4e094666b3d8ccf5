internal import CElf

/// The symbols of one table, read one by one.
final class ELFSymbols {
  private let file: OpenedFile
  private let header: ELFHeader
  /// The symbols; of the loader's table the size is only a bound, since nothing says how long it is.
  private let entries: FileExtent
  /// Their names.
  private let names: FileExtent
  /// `SHT_SYMTAB_SHNDX`: section indices that do not fit into 16 bits.
  private let longIndices: FileExtent?
  private var window = FileWindow()
  private var nameWindow = FileWindow()

  init(
    of file: OpenedFile, _ header: ELFHeader, entries: FileExtent, names: FileExtent,
    longIndices: FileExtent? = nil
  ) {
    (self.file, self.header) = (file, header)
    (self.entries, self.names, self.longIndices) = (entries, names, longIndices)
  }

  /// How many there are, if the table says it.
  var count: UInt32 { UInt32(clamping: entries.size / (header.bits == 64 ? 24 : 16)) }

  /// The text at an offset of the names.
  func text(at offset: UInt64) throws(ImageError) -> String {
    try nameWindow.name(file, at: offset, in: names)
  }

  /// The symbol of that number.
  func symbol(_ number: UInt32) throws(ImageError) -> Symbol {
    let (is64, order) = (header.bits == 64, header.order)
    let size = is64 ? 24 : 16
    let start = UInt64(number) * UInt64(size)
    try file.check(
      start + UInt64(size) <= entries.size, .malformed,
      "Symbol \(number) lies outside the symbol table.", at: entries.offset)
    let (bytes, position) = try window.load(
      file, at: entries.offset.saturating(adding: start), count: size)
    let entry = bytes.span.extracting(position..<position + size)
    func word(_ place: Int) -> UInt64 {
      entry.word(at: place, bits: header.bits, order: order) ?? 0
    }
    let name: UInt32 = entry.integer(at: 0, order: order) ?? 0
    let section: UInt16 = entry.integer(at: is64 ? 6 : 14, order: order) ?? 0
    let (value, extent) = (word(is64 ? 8 : 4), word(is64 ? 16 : 8))
    let info = entry[is64 ? 4 : 12]
    let place = try place(section, of: number)
    var symbol = Symbol(
      UInt64(number), name: try nameWindow.name(file, at: UInt64(name), in: names), value: value,
      place: place)
    (symbol.size, symbol.type, symbol.binding) = (extent, info & 0xf, info >> 4)
    symbol.visibility = entry[is64 ? 5 : 13] & 3
    return symbol
  }

  private func place(_ index: UInt16, of number: UInt32) throws(ImageError) -> Symbol.Place {
    switch Int32(index) {
    case SHN_UNDEF: return .undefined
    case SHN_ABS: return .absolute
    case SHN_COMMON: return .common
    case SHN_XINDEX:
      guard let longIndices, UInt64(number) * 4 + 4 <= longIndices.size else {
        throw file.error(.malformed, "Symbol \(number) has a section index that is not there.")
      }
      let (bytes, position) = try window.load(
        file, at: longIndices.offset.saturating(adding: UInt64(number) * 4), count: 4)
      let index: UInt32? = bytes.span.integer(at: position, order: header.order)
      return .section(Int(index ?? 0))
    default: return .section(Int(index))
    }
  }
}
