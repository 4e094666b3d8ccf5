internal import CElf

/// The way that libelf reads the structures of a table: of either class, in the byte order of this process.
@safe struct ELFRows<Row> {
  fileprivate typealias Read = (UnsafeMutablePointer<Elf_Data>?, Int32, UnsafeMutablePointer<Row>?)
    -> UnsafeMutablePointer<Row>?
  /// The type of the rows in a file of 64 bits, and of 32.
  private let types: (long: Elf_Type, short: Elf_Type)
  fileprivate let empty: Row
  fileprivate let read: Read

  fileprivate init(_ type: Elf_Type, short: Elf_Type? = nil, _ empty: Row, _ read: @escaping Read) {
    (types, self.empty) = ((type, short ?? type), empty)
    unsafe self.read = unsafe read
  }

  fileprivate func type(in format: ELFFormat) -> Elf_Type {
    format.bits == 64 ? types.long : types.short
  }

  /// Returns the size of a row in a file, in bytes.
  func size(in format: ELFFormat) -> Int { format.size(of: type(in: format)) }
}

extension ELFRows<GElf_Sym> {
  static var symbols: Self { unsafe Self(ELF_T_SYM, GElf_Sym(), gelf_getsym) }
}
extension ELFRows<GElf_Dyn> {
  static var dynamic: Self { unsafe Self(ELF_T_DYN, GElf_Dyn(), gelf_getdyn) }
}
extension ELFRows<GElf_Rela> {
  static var rela: Self { unsafe Self(ELF_T_RELA, GElf_Rela(), gelf_getrela) }
}
extension ELFRows<GElf_Rel> {
  static var rel: Self { unsafe Self(ELF_T_REL, GElf_Rel(), gelf_getrel) }
}
extension ELFRows<GElf_Versym> {
  static var versions: Self { unsafe Self(ELF_T_HALF, 0, gelf_getversym) }
}

// Structures that libelf converts, but has no call for that takes a copied piece: `gelf_getchdr` wants a section,
// `gelf_getsymshndx` the symbols with it.

extension ELFRows<UInt32> {
  /// Words of hash tables and of `SHT_SYMTAB_SHNDX`.
  static var words: Self {
    unsafe Self(ELF_T_WORD, 0) { unsafe copy($0, $1, $2, of: UInt32.self) { $0 } }
  }
}
extension ELFRows<UInt64> {
  /// Words as wide as an address.
  static var addresses: Self {
    unsafe Self(ELF_T_XWORD, short: ELF_T_WORD, 0) { data, index, row in
      unsafe data?.pointee.d_type == ELF_T_XWORD
        ? copy(data, index, row, of: UInt64.self) { $0 }
        : copy(data, index, row, of: UInt32.self, UInt64.init)
    }
  }
}
extension ELFRows<Elf64_Chdr> {
  /// The header of a compressed section.
  static var compression: Self {
    unsafe Self(ELF_T_CHDR, Elf64_Chdr()) { data, index, row in
      unsafe data?.pointee.d_size == MemoryLayout<Elf64_Chdr>.size
        ? copy(data, index, row, of: Elf64_Chdr.self) { $0 }
        : copy(data, index, row, of: Elf32_Chdr.self) {
          Elf64_Chdr(
            ch_type: $0.ch_type, ch_reserved: 0, ch_size: UInt64($0.ch_size),
            ch_addralign: UInt64($0.ch_addralign))
        }
    }
  }
}

extension ELFRows {
  /// Copies a structure from the bytes that libelf has converted; nil if there is none.
  @inline(__always)
  private static func copy<Stored>(
    _ data: UnsafeMutablePointer<Elf_Data>?, _ index: Int32, _ row: UnsafeMutablePointer<Row>?,
    of type: Stored.Type, _ made: (Stored) -> Row
  ) -> UnsafeMutablePointer<Row>? {
    let size = MemoryLayout<Stored>.size
    guard let data = unsafe data, let start = unsafe data.pointee.d_buf, index >= 0,
      unsafe (Int(index) + 1) * size <= data.pointee.d_size
    else { return nil }
    // Sound: the structure is there, and libelf has aligned it.
    unsafe row?.pointee = unsafe made(
      (start + Int(index) * size).assumingMemoryBound(to: Stored.self).pointee)
    return unsafe row
  }
}

/// The bytes of a table or of a section: stored in the file, or inflated.
enum ELFBytes {
  case stored(FileExtent)
  case inflated([UInt8])

  /// The number of bytes, as the file claims.
  var size: UInt64 {
    switch self {
    case .stored(let extent): extent.size
    case .inflated(let bytes): UInt64(bytes.count)
    }
  }

  /// The offset of the bytes in the file; nil if they were inflated.
  var offset: UInt64? { if case .stored(let extent) = self { extent.offset } else { nil } }
}

/// A table of a file, which libelf reads piece by piece, each in a capsule.
///
/// Pieces grow with each read: 64 KiB, 1 MiB, then 4 MiB. So few reads serve any table, and memory stays bounded. If
/// even large pieces do not help, small ones cost less.
@safe final class ELFTable<Row> {
  private let rows: ELFRows<Row>
  private let file: OpenedFile
  private let format: ELFFormat
  let bytes: ELFBytes
  private let rowSize: Int
  /// The number of rows, as the file claims.
  let count: Int

  private var capsule: ELFDescriptor?
  // Sound: belongs to the capsule.
  private var data: UnsafeMutablePointer<Elf_Data>?
  private var loaded = 0..<0
  private var pieceSize = 1 << 16
  /// The number of reads that did not go on after the one before.
  private var jumps = 0

  init(_ rows: ELFRows<Row>, _ bytes: ELFBytes, of file: OpenedFile, _ format: ELFFormat) {
    (self.rows, self.file, self.format, self.bytes) = (rows, file, format, bytes)
    rowSize = rows.size(in: format)
    count = Int(clamping: bytes.size / UInt64(rowSize))
  }

  /// Returns the row with this number.
  ///
  /// - Throws: ``ImageError`` if the table has no such row, or the file does not hold it.
  @inline(__always)
  func row(_ index: Int) throws(ImageError) -> Row {
    if !loaded.contains(index) { try load(index) }
    var row = rows.empty
    let place = Int32(truncatingIfNeeded: index - loaded.lowerBound)
    guard unsafe rows.read(data, place, &row) != nil else { throw refusal(index) }
    return row
  }

  private func refusal(_ index: Int) -> ImageError {
    file.error(
      .malformed, "libelf does not read row \(index) of a table: \(ELFDescriptor.lastMessage).",
      at: bytes.offset)
  }

  private func load(_ index: Int) throws(ImageError) {
    guard 0..<count ~= index else {
      throw file.error(
        .malformed, "Row \(index) lies outside its table of \(count).", at: bytes.offset)
    }
    // The next row begins a new piece; for any other row, the piece around it is read.
    let isNext = index == loaded.upperBound
    if !isNext { jumps += 1 }
    let most = (isNext || jumps <= FileWindow.helpfulReads ? pieceSize : 1 << 16) / rowSize
    let first = isNext ? index : index - index % most
    let last = min(count, first + most)
    // The file may end before the table does: then it reads what the file has.
    var held = last
    if case .stored(let extent) = bytes, last * rowSize > 0 {
      let there = file.held(at: extent.offset, extent.size).size
      guard UInt64(index + 1) <= there / UInt64(rowSize) else {
        throw file.endsBefore(extent.offset, Int(clamping: extent.size))
      }
      held = min(last, Int(clamping: there / UInt64(rowSize)))
    }
    let size = (held - first) * rowSize
    loaded = 0..<0
    unsafe data = nil
    capsule = nil
    let made = try unsafe ELFDescriptor(
      format, count: size, file.isRefused,
      fill: { room throws(ImageError) in
        switch bytes {
        case .stored(let extent):
          try unsafe file.read(
            at: extent.offset.saturating(adding: UInt64(first * rowSize)), into: room)
        case .inflated(let bytes):
          unsafe room.copyBytes(from: bytes[first * rowSize..<first * rowSize + size])
        }
      })
    guard let read = unsafe made.data(rows.type(in: format)) else { throw refusal(index) }
    unsafe data = unsafe read
    capsule = consume made
    loaded = first..<held
    pieceSize = min(pieceSize * 16, 1 << 22)
  }
}
