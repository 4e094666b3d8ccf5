internal import CElf

/// The ELF header, checked before libelf sees the file.
///
/// libelf trusts the counts in section header 0 and allocates for them; a sparse file of a few
/// kilobytes would cost gigabytes. It also answers "no sections" where the table is cut off.
package struct ELFHeader {
  /// A table of headers in the file.
  package struct Table {
    /// From the start of the file.
    package var offset: UInt64
    /// How many entries the file claims, extended numbering included.
    package var count: UInt64
    /// Whether the file holds all of them.
    package var isComplete: Bool
  }

  /// 32 or 64: `ELFCLASS32`, `ELFCLASS64`.
  package let bits: Int
  /// `EI_DATA`.
  package let order: ImageIdentity.ByteOrder
  /// `ET_REL`, `ET_EXEC`, `ET_DYN` or `ET_CORE`.
  package let type: UInt16
  /// `e_machine`.
  package let machine: UInt16
  /// `e_shoff`, `e_shnum`.
  package let sections: Table
  /// `e_shstrndx`.
  package let nameSection: UInt16
  /// `e_phoff`, `e_phnum`.
  package let segments: Table

  /// Whether addresses are relative to sections.
  package var isObject: Bool { type == UInt16(ET_REL) }
  /// The size of an address in bytes.
  package var wordSize: Int { bits / 8 }

  /// More section or program headers than any linker writes.
  private static let mostHeaders: UInt64 = 1 << 20

  /// Reads and checks the header of `file`.
  package init(of file: OpenedFile) throws(ImageError) {
    let head = file.head
    let bytes = head.span
    try file.check(
      head.starts(with: [0x7f, 0x45, 0x4c, 0x46]), .notAnObject,
      "The file does not start with the ELF magic.")
    guard bytes.count >= 16 else {
      throw file.error(.truncated, "The file ends inside the ELF header.")
    }
    switch bytes[4] {
    case UInt8(ELFCLASS32): bits = 32
    case UInt8(ELFCLASS64): bits = 64
    default:
      throw file.error(.unsupported, "ELF class \(bytes[4]) is neither 32 nor 64 bit.", at: 4)
    }
    switch bytes[5] {
    case UInt8(ELFDATA2LSB): order = .little
    case UInt8(ELFDATA2MSB): order = .big
    default: throw file.error(.unsupported, "ELF data encoding \(bytes[5]) is unknown.", at: 5)
    }
    guard bytes[6] == UInt8(EV_CURRENT) else {
      throw file.error(.unsupported, "ELF version \(bytes[6]) is unknown.", at: 6)
    }
    let (bits, order, headerSize) = (bits, order, Self.size(bits: bits))
    try file.check(bytes.count >= headerSize, .truncated, "The file ends inside the ELF header.")
    // The length was just checked, so the zeros are never used.
    func half(_ offset: Int) -> UInt16 { bytes.integer(at: offset, order: order) ?? 0 }
    func word(_ offset: Int) -> UInt64 { bytes.word(at: offset, bits: bits, order: order) ?? 0 }
    type = half(16)
    guard (1...4).contains(type) else {
      throw file.error(
        .unsupported, "ELF type \(type) is no object, executable, library or core.", at: 16)
    }
    machine = half(18)
    let (segmentOffset, sectionOffset) = (word(24 + bits / 8), word(24 + bits / 4))
    let (segmentSize, sectionSize) = (half(headerSize - 10), half(headerSize - 6))
    var segmentCount = UInt64(half(headerSize - 8))
    var sectionCount = UInt64(half(headerSize - 4))
    nameSection = half(headerSize - 2)

    // More headers than 16 bits can count: the real numbers are in section header 0.
    let size = ELFSectionHeader.size(bits: bits)
    var isFirstReadable = true
    if sectionOffset != 0, sectionCount == 0 || segmentCount == UInt64(PN_XNUM) {
      isFirstReadable = file.holds(sectionOffset, UInt64(size))
      if isFirstReadable {
        let bytes = try file.read(at: sectionOffset, count: size)
        let first = ELFSectionHeader(bytes.span, at: 0, bits: bits, order: order)
        if sectionCount == 0 { sectionCount = first.size }
        if segmentCount == UInt64(PN_XNUM) { segmentCount = UInt64(first.info) }
      }
    }
    var table = try Self.table(
      "section", file, offset: sectionOffset, count: sectionCount, entry: sectionSize,
      expected: size)
    if !isFirstReadable { table.isComplete = false }
    sections = table
    segments = try Self.table(
      "program", file, offset: segmentOffset, count: segmentCount, entry: segmentSize,
      expected: ELFSegment.size(bits: bits))
  }

  /// The size of the header in bytes.
  package static func size(bits: Int) -> Int { bits == 64 ? 64 : 52 }

  /// Whether two headers are of one build.
  ///
  /// The position of the section table does not count, since `strip` may have been at work: `e_shoff`
  /// behind `e_phoff`; `e_shentsize`, `e_shnum` and `e_shstrndx` at the end.
  package static func areOfOneBuild(_ header: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
    guard header.count == other.count else { return false }
    let word = header.count == size(bits: 64) ? 8 : 4
    let start = 0..<24 + 2 * word
    let middle = start.upperBound + word..<header.count - 6
    return header.extracting(start).equals(other.extracting(start))
      && header.extracting(middle).equals(other.extracting(middle))
  }

  private static func table(
    _ kind: String, _ file: OpenedFile, offset: UInt64, count: UInt64, entry: UInt16, expected: Int
  ) throws(ImageError) -> Table {
    guard offset != 0, count != 0 else { return Table(offset: 0, count: 0, isComplete: true) }
    try file.check(
      Int(entry) == expected, .malformed,
      "A \(kind) header has \(entry) bytes instead of \(expected).")
    let (size, _) = count.multipliedReportingOverflow(by: UInt64(expected))
    let isPlausible = count <= UInt64(UInt16.max) || (size <= file.allocatedSize)
    try file.check(
      count <= mostHeaders && isPlausible, .malformed,
      "The file claims \(count) \(kind) headers, more than it stores.", at: offset)
    let isComplete = file.holds(offset, size)
    return Table(offset: offset, count: count, isComplete: isComplete)
  }
}
