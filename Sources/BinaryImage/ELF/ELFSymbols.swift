internal import CElf

/// A symbol that a relocation names.
struct ELFSymbol {
  /// What the symbol stands for.
  enum Place: Equatable {
    /// Another image defines it: `SHN_UNDEF`.
    case undefined
    /// A number, no address: `SHN_ABS`.
    case absolute
    /// Not placed yet: `SHN_COMMON`.
    case common
    /// In a section of this file.
    case section(Int)
  }

  /// The name; empty for most section symbols.
  var name: String
  /// `st_value`.
  var value: UInt64
  /// `st_size`.
  var size: UInt64
  /// `st_shndx`.
  var place: Place
  /// The type, `STT_*`.
  var type: UInt8
}

/// Where the symbols and their names stand in the file.
struct ELFSymbolTable {
  /// The first symbol, from the start of the file.
  var offset: UInt64
  /// The size in bytes; for the loader's table only a bound, since nothing says how long it is.
  var size: UInt64
  /// The first name.
  var stringOffset: UInt64
  /// The size of the names in bytes.
  var stringSize: UInt64
  /// `SHT_SYMTAB_SHNDX`: section indices that do not fit into 16 bits.
  var longIndices: (offset: UInt64, size: UInt64)?
}

/// Reads symbols one by one.
struct ELFSymbols {
  private var entries = FileWindow()
  private var names = FileWindow()

  /// Longer names are cut off the way a corrupt table would make them.
  private static let longestName = 1 << 16

  /// The symbol of that number.
  mutating func symbol(
    _ number: UInt32, in table: ELFSymbolTable, of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> ELFSymbol {
    let size = header.bits == 64 ? 24 : 16
    let start = UInt64(number) * UInt64(size)
    guard start + UInt64(size) <= table.size else {
      throw file.error(
        .malformed, "Symbol \(number) lies outside the symbol table.", at: table.offset)
    }
    let (bytes, position) = try entries.load(
      file, at: table.offset.saturating(adding: start), count: size)
    let span = bytes.span
    let order = header.order
    func half(_ offset: Int) -> UInt16 { span.integer(at: position + offset, order: order) ?? 0 }
    func word(_ offset: Int) -> UInt64 {
      span.word(at: position + offset, bits: header.bits, order: order) ?? 0
    }
    let nameOffset: UInt32 = span.integer(at: position, order: order) ?? 0
    let is64 = header.bits == 64
    let value = word(is64 ? 8 : 4)
    let extent = word(is64 ? 16 : 8)
    let type = span[position + (is64 ? 4 : 12)] & 0xf
    let index = half(is64 ? 6 : 14)
    let place = try place(index, of: number, in: table, file, header.order)
    let name = try name(UInt64(nameOffset), in: table, file)
    return ELFSymbol(name: name, value: value, size: extent, place: place, type: type)
  }

  private mutating func place(
    _ index: UInt16, of number: UInt32, in table: ELFSymbolTable, _ file: OpenedFile,
    _ order: ImageIdentity.ByteOrder
  ) throws(ImageError) -> ELFSymbol.Place {
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

  private mutating func name(
    _ offset: UInt64, in table: ELFSymbolTable, _ file: OpenedFile
  ) throws(ImageError) -> String {
    guard offset != 0 else { return "" }
    let (end, overflow) = table.stringOffset.addingReportingOverflow(table.stringSize)
    let bound = overflow ? file.size : min(file.size, end)
    let found = try names.text(
      file, at: table.stringOffset.saturating(adding: offset), before: bound,
      limit: Self.longestName)
    guard let found else {
      throw file.error(
        .malformed, "A symbol's name lies outside the string table.", at: table.stringOffset)
    }
    return String(decoding: found.bytes.span.extracting(found.range))
  }
}
