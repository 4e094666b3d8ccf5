internal import BinaryImage

/// The symbols that chained fixups bind words to.
///
/// C: `struct dyld_chained_import`, `_addend` and `_addend64` of `<mach-o/fixup-chains.h>`.
final class MachOChainedImports {
  private let file: OpenedFile
  private let order: ImageIdentity.ByteOrder
  /// `DYLD_CHAINED_IMPORT`, `_ADDEND`, `_ADDEND64`.
  private let format: UInt64
  private let count: UInt64
  private let table: UInt64
  private let names: UInt64
  private let namesFormat: UInt64
  private let end: UInt64
  private var window = FileWindow()

  /// Takes the words of the fixups' header; `extent` holds tables and names.
  init(
    _ words: [UInt64], in extent: FileExtent, of file: OpenedFile, _ order: ImageIdentity.ByteOrder
  ) {
    (self.file, self.order) = (file, order)
    (table, names, end) = (
      extent.offset + words[2], extent.offset + words[3], extent.offset + extent.size
    )
    (count, format, namesFormat) = (words[4], words[5], words[6])
  }

  /// What the import of that number binds to.
  func bind(_ ordinal: UInt64) throws(ImageError) -> MachOBind {
    try file.check(
      namesFormat == 0, .unsupported, "The names of the chained imports are compressed; not read.")
    let sizes: [UInt64: UInt64] = [1: 4, 2: 8, 3: 16]
    guard let size = sizes[format] else {
      throw file.error(.unsupported, "Chained imports of format \(format) are unknown.", at: table)
    }
    let start = table + ordinal * size
    try file.check(
      ordinal < count && start + size <= end, .malformed,
      "Chained import \(ordinal) lies outside the \(count) imports.", at: table)
    let (bytes, position) = try window.load(file, at: start, count: Int(size))
    func single(_ place: Int) -> UInt32 {
      bytes.span.integer(at: position + place, order: order) ?? 0
    }
    func word(_ place: Int) -> UInt64 {
      bytes.span.integer(at: position + place, order: order) ?? 0
    }
    let library: Int
    let name: UInt64
    var addend: Int64 = 0
    if format == 3 {
      // Negative numbers name no library, but a way to look.
      (library, name) = (Int(Int16(truncatingIfNeeded: word(0))), word(0) >> 32)
      addend = Int64(bitPattern: word(8))
    } else {
      let low = UInt8(truncatingIfNeeded: single(0))
      library = low > 0xf0 ? Int(Int8(bitPattern: low)) : Int(low)
      name = UInt64(single(0) >> 9)
      if format == 2 { addend = Int64(Int32(bitPattern: single(4))) }
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
