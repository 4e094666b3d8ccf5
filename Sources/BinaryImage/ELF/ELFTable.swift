internal import CElf

/// One structure of a table, as libelf hands it out: of either class, in the byte order of this process.
protocol ELFRow {
  /// The type of the rows in a file of that class.
  static func type(bits: Int) -> Elf_Type
  init()
  /// Copies row `index` of `data` into `row`; returns false if there is none.
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool
}

extension GElf_Sym: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_SYM }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool { unsafe gelf_getsym(data, index, &row) != nil }
}

extension GElf_Dyn: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_DYN }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool { unsafe gelf_getdyn(data, index, &row) != nil }
}

extension GElf_Rela: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_RELA }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool { unsafe gelf_getrela(data, index, &row) != nil }
}

extension GElf_Rel: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_REL }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool { unsafe gelf_getrel(data, index, &row) != nil }
}

/// `Elf32_Versym`, `Elf64_Versym`: the number of a symbol's version.
extension UInt16: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_HALF }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool { unsafe gelf_getversym(data, index, &row) != nil }
}

/// A word of 32 bits, as in hash tables and `SHT_SYMTAB_SHNDX`.
extension UInt32: ELFRow {
  static func type(bits: Int) -> Elf_Type { ELF_T_WORD }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool {
    guard let place = unsafe ELFTableWords.place(data, index, MemoryLayout<Self>.size) else {
      return false
    }
    row = unsafe place.loadUnaligned(as: Self.self)
    return true
  }
}

/// A word as wide as an address, in tables that libelf has no type for: `ELF_T_XWORD`, `ELF_T_WORD`.
struct ELFAddressWord: ELFRow {
  var value: UInt64 = 0
  static func type(bits: Int) -> Elf_Type { bits == 64 ? ELF_T_XWORD : ELF_T_WORD }
  @inline(__always)
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool {
    let isLong = unsafe data.pointee.d_type == ELF_T_XWORD
    guard let place = unsafe ELFTableWords.place(data, index, isLong ? 8 : 4) else { return false }
    row.value =
      unsafe isLong
      ? place.loadUnaligned(as: UInt64.self) : UInt64(place.loadUnaligned(as: UInt32.self))
    return true
  }
}

/// The header of a compressed section.
struct ELFCompressionHeader: ELFRow {
  /// `ch_type`.
  var method: UInt32 = 0
  /// `ch_size`: the bytes once they are inflated.
  var size: UInt64 = 0
  static func type(bits: Int) -> Elf_Type { ELF_T_CHDR }
  static func read(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, into row: inout Self
  ) -> Bool {
    let size = unsafe data.pointee.d_size
    // Sound: as many bytes as the structure has are there.
    guard let place = unsafe ELFTableWords.place(data, index, size) else { return false }
    switch size {
    case MemoryLayout<Elf64_Chdr>.size:
      let header = unsafe place.loadUnaligned(as: Elf64_Chdr.self)
      (row.method, row.size) = (header.ch_type, header.ch_size)
    case MemoryLayout<Elf32_Chdr>.size:
      let header = unsafe place.loadUnaligned(as: Elf32_Chdr.self)
      (row.method, row.size) = (header.ch_type, UInt64(header.ch_size))
    default: return false
    }
    return true
  }
}

private enum ELFTableWords {
  /// Where word `index` is in what libelf has converted; nil if it has none there.
  @inline(__always)
  static func place(
    _ data: UnsafeMutablePointer<Elf_Data>, _ index: Int32, _ size: Int
  ) -> UnsafeRawPointer? {
    let offset = Int(index) * size
    guard let start = unsafe data.pointee.d_buf, index >= 0,
      unsafe offset <= data.pointee.d_size - size
    else { return nil }
    return unsafe UnsafeRawPointer(start) + offset
  }
}

/// The bytes of a table or of a section: where the file stores them, or inflated.
enum ELFBytes {
  case stored(FileExtent)
  case inflated([UInt8])

  /// How many there are, as the file claims.
  var size: UInt64 {
    switch self {
    case .stored(let extent): extent.size
    case .inflated(let bytes): UInt64(bytes.count)
    }
  }
}

/// A table of a file, which libelf reads piece by piece, each in a capsule.
///
/// Pieces grow while more are asked for, from 16 kB to 1 MB, so that few reads serve any table and memory stays
/// where it is.
@safe final class ELFTable<Row: ELFRow> {
  private let file: OpenedFile
  private let format: ELFFormat
  private let bytes: ELFBytes
  private let rowSize: Int
  /// How many rows the table has, as the file claims.
  let count: Int

  private var capsule: ELFCapsule?
  // Sound: belongs to the capsule.
  private var data: UnsafeMutablePointer<Elf_Data>?
  private var loaded = 0..<0
  private var pieceSize = 1 << 14
  private static var largestPiece: Int { 1 << 20 }

  init(_ bytes: ELFBytes, of file: OpenedFile, _ format: ELFFormat) {
    (self.file, self.format, self.bytes) = (file, format, bytes)
    rowSize = format.size(of: Row.type(bits: format.bits))
    count = Int(clamping: bytes.size / UInt64(rowSize))
  }

  convenience init(_ extent: FileExtent, of file: OpenedFile, _ format: ELFFormat) {
    self.init(.stored(extent), of: file, format)
  }

  /// Where the file stores the table; nil if it was inflated.
  var offset: UInt64? { if case .stored(let extent) = bytes { extent.offset } else { nil } }

  /// The row of that number.
  ///
  /// - Throws: ``ImageError`` if the table has no such row, or the file does not hold it.
  @inline(__always)
  func row(_ index: Int) throws(ImageError) -> Row {
    if !loaded.contains(index) { try load(index) }
    var row = Row()
    guard let data = unsafe data,
      unsafe Row.read(data, Int32(truncatingIfNeeded: index - loaded.lowerBound), into: &row)
    else { throw refusal(index) }
    return row
  }

  /// Calls `body` with each row in order until it returns false.
  func forEach(_ body: (Row) throws(ImageError) -> Bool) throws(ImageError) {
    for index in 0..<count {
      guard try body(row(index)) else { return }
    }
  }

  private func refusal(_ index: Int) -> ImageError {
    file.error(
      .malformed, "libelf does not read row \(index) of a table: \(ELFCapsule.lastMessage).",
      at: offset)
  }

  private func load(_ index: Int) throws(ImageError) {
    guard 0..<count ~= index else {
      throw file.error(.malformed, "Row \(index) lies outside its table of \(count).", at: offset)
    }
    let rows = pieceSize / rowSize
    // What follows is read on; what is asked for anywhere else is read around that.
    let first = index == loaded.upperBound ? index : index - index % rows
    let last = min(count, first + rows)
    // The file may end before the table does: what it has is read.
    var held = last
    if case .stored(let extent) = bytes, last * rowSize > 0 {
      let there = file.held(at: extent.offset, extent.size).size
      held = min(last, max(index + 1, Int(clamping: there / UInt64(rowSize))))
    }
    let size = (held - first) * rowSize
    loaded = 0..<0
    unsafe data = nil
    capsule = nil
    let made = try unsafe ELFCapsule(
      format, count: size,
      refusal: { file.error(.unreadable, "libelf does not open a copied table: \($0).") },
      fill: { room throws(ImageError) in
        switch bytes {
        case .stored(let extent):
          try unsafe file.read(
            at: extent.offset.saturating(adding: UInt64(first * rowSize)), into: room)
        case .inflated(let bytes):
          unsafe room.copyBytes(from: bytes[first * rowSize..<first * rowSize + size])
        }
      })
    guard let read = unsafe made.data(Row.type(bits: format.bits)) else { throw refusal(index) }
    unsafe data = unsafe read
    capsule = consume made
    loaded = first..<held
    pieceSize = min(pieceSize * 2, Self.largestPiece)
  }
}
