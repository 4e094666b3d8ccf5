internal import CElf

/// Which sections have a given name: two reads answer, without libelf.
///
/// Most files have no section of the name that is looked for, and a walk over them should not pay
/// for headers that nobody looks at.
struct ELFSectionTable {
  /// The number of sections, the null entry included.
  let count: Int
  private let table: [UInt8]
  private let names: [UInt8]
  private let stride: Int
  private let order: ImageIdentity.ByteOrder

  /// As many bytes as the names of most files' sections have.
  private static let usualNames: UInt64 = 512

  /// More bytes than the names of any file's sections have.
  private static let mostNames: UInt64 = 1 << 28

  /// Reads the section table of `file`, which must be complete, and the names.
  init(of file: OpenedFile, _ header: ELFHeader) throws(ImageError) {
    let (is64, order) = (header.bits == 64, header.order)
    let (stride, count) = (is64 ? 64 : 40, Int(header.sections.count))
    // Linkers put the names right before the table, so one read has both as a rule.
    let ahead = min(header.sections.offset, Self.usualNames)
    let first = header.sections.offset - ahead
    let tail = try file.read(at: first, count: Int(ahead) + count * stride)
    let table = Array(tail[Int(ahead)...])
    // SHN_XINDEX: the real index stands in section header 0.
    let isExtended = header.nameSection == UInt16(SHN_XINDEX)
    let link: UInt32? = table.span.integer(at: is64 ? 40 : 24, order: order)
    let index = isExtended ? Int(link ?? 0) : Int(header.nameSection)
    let start = index * stride
    guard index > 0, index < count,
      table.span.integer(at: start + 4, as: UInt32.self, order: order) == UInt32(SHT_STRTAB),
      let offset = table.span.word(at: start + (is64 ? 24 : 16), bits: header.bits, order: order),
      let size = table.span.word(at: start + (is64 ? 32 : 20), bits: header.bits, order: order)
    else { throw file.error(.malformed, "No section holds the names of the sections.") }
    guard offset <= file.size, size <= file.size - offset else {
      throw file.error(.truncated, "The file ends before the sections' names do.", at: offset)
    }
    guard size <= Self.mostNames else {
      throw file.error(.malformed, "The sections' names claim \(size) bytes.", at: offset)
    }
    if offset >= first, offset - first <= ahead, size <= ahead - (offset - first) {
      names = Array(tail[Int(offset - first)..<Int(offset - first + size)])
    } else {
      names = try file.read(at: offset, count: Int(size))
    }
    (self.table, self.stride, self.count, self.order) = (table, stride, count, order)
  }

  /// The indices of the sections of exactly this name, ascending.
  func indices(named name: String) -> [Int] {
    let text = Array(name.utf8)
    return (1..<max(1, count)).filter {
      names.span.holds(text.span, at: nameOffset(of: $0))
        && names[nameOffset(of: $0) + text.count] == 0
    }
  }

  /// `sh_addr` and `sh_size`.
  func range(of index: Int) -> (address: UInt64, size: UInt64) {
    let start = index * stride
    let (bits, address, size) = stride == 64 ? (64, 16, 32) : (32, 12, 20)
    return (
      table.span.word(at: start + address, bits: bits, order: order) ?? 0,
      table.span.word(at: start + size, bits: bits, order: order) ?? 0
    )
  }

  /// `sh_type` and `sh_flags`.
  func kind(of index: Int) -> (type: UInt32, flags: UInt64) {
    let start = index * stride
    let type: UInt32? = table.span.integer(at: start + 4, order: order)
    let flags = table.span.word(at: start + 8, bits: stride == 64 ? 64 : 32, order: order)
    return (type ?? 0, flags ?? 0)
  }

  /// `sh_offset` and `sh_size`.
  func extent(of index: Int) -> (offset: UInt64, size: UInt64) {
    let (start, bits) = (index * stride, stride == 64 ? 64 : 32)
    let offset = table.span.word(at: start + (bits == 64 ? 24 : 16), bits: bits, order: order)
    let size = table.span.word(at: start + (bits == 64 ? 32 : 20), bits: bits, order: order)
    return (offset ?? 0, size ?? 0)
  }

  /// Whether the name of a section starts with `prefix`.
  func name(of index: Int, startsWith prefix: String) -> Bool {
    names.span.holds(Array(prefix.utf8).span, at: nameOffset(of: index))
  }

  /// The name of a section; nil where it lies outside the names.
  func name(of index: Int) -> String? {
    let start = nameOffset(of: index)
    guard let length = names.span.textLength(from: start) else { return nil }
    return String(decoding: names.span.extracting(start..<start + length))
  }

  /// The most bytes that all names together should have, though they may share bytes.
  var plausibleLength: Int { names.count * 16 + 4096 }

  private func nameOffset(of index: Int) -> Int {
    let offset: UInt32? = table.span.integer(at: index * stride, order: order)
    return offset.map(Int.init) ?? -1
  }
}
