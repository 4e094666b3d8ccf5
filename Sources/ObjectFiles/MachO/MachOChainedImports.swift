internal import BinaryImage

/// The symbols that chained fixups bind words to.
///
/// C: `struct dyld_chained_import`, `_addend` and `_addend64` of `<mach-o/fixup-chains.h>`.
struct MachOChainedImports {
  /// `DYLD_CHAINED_IMPORT`, `_ADDEND`, `_ADDEND64`.
  private let format: UInt32
  private let count: UInt64
  private let table: UInt64
  private let names: UInt64
  private let namesFormat: UInt32
  private let end: UInt64

  /// Reads the fields of the fixups' header; `extent` holds tables and names.
  init(
    _ fields: MachOFields, in extent: FileExtent, of file: OpenedFile
  ) throws(ImageError) {
    table = extent.offset + UInt64(fields.single(8) ?? 0)
    names = extent.offset + UInt64(fields.single(12) ?? 0)
    count = UInt64(fields.single(16) ?? 0)
    format = fields.single(20) ?? 0
    namesFormat = fields.single(24) ?? 0
    end = extent.offset + extent.size
  }

  /// What the import of that number binds to.
  func bind(
    _ ordinal: UInt64, _ window: inout FileWindow, of file: OpenedFile,
    _ order: ImageIdentity.ByteOrder
  ) throws(ImageError) -> MachOBind {
    guard namesFormat == 0 else {
      throw file.error(.unsupported, "The names of the chained imports are compressed; not read.")
    }
    let size: UInt64
    switch format {
    case 1: size = 4
    case 2: size = 8
    case 3: size = 16
    default:
      throw file.error(.unsupported, "Chained imports of format \(format) are unknown.", at: table)
    }
    let start = table + ordinal * size
    guard ordinal < count, start + size <= end else {
      throw file.error(
        .malformed, "Chained import \(ordinal) lies outside the \(count) imports.", at: table)
    }
    let (bytes, position) = try window.load(file, at: start, count: Int(size))
    let fields = MachOFields(bytes, position..<position + Int(size), bits: 64, order: order)
    let library: Int
    let name: UInt64
    var addend: Int64 = 0
    if format == 3 {
      let word = fields.word(0) ?? 0
      // Negative numbers name no library, but a way to look.
      library = Int(Int16(truncatingIfNeeded: word))
      name = word >> 32
      addend = Int64(bitPattern: fields.word(8) ?? 0)
    } else {
      let word = fields.single(0) ?? 0
      let low = UInt8(truncatingIfNeeded: word)
      library = low > 0xf0 ? Int(Int8(bitPattern: low)) : Int(low)
      name = UInt64(word >> 9)
      if format == 2 { addend = Int64(Int32(bitPattern: fields.single(4) ?? 0)) }
    }
    let text = try window.text(file, at: names + name, before: end, limit: FileWindow.longestName)
    guard let text else {
      throw file.error(.malformed, "The name of chained import \(ordinal) lies outside the names.")
    }
    return MachOBind(
      symbol: String(decoding: text.bytes.span.extracting(text.range)), library: library,
      addend: addend)
  }
}
