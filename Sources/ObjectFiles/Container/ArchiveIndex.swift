internal import BinaryImage

/// What linkers look symbols up in, at the start of an archive; read only to learn how far the
/// archive reaches, since one that was cut off between two members looks whole.
struct ArchiveIndex {
  /// How the index is written.
  enum Encoding {
    /// `/`: a count and offsets, of 32 bits each, most significant byte first.
    case systemV
    /// `/SYM64/`: the same of 64 bits.
    case systemV64
    /// `__.SYMDEF`: a size, and pairs of name and offset, of 32 bits in the members' byte order.
    case bsd
    /// `__.SYMDEF_64`: the same of 64 bits.
    case bsd64
  }

  /// The furthest member's header.
  private(set) var furthest: UInt64 = 0

  private static let mostBytes: UInt64 = 1 << 28

  /// Reads the index at `offset`.
  init(
    _ encoding: Encoding, of file: OpenedFile, at offset: UInt64, size: UInt64
  ) throws(ImageError) {
    let bits = encoding == .systemV64 || encoding == .bsd64 ? 64 : 32
    let isBSD = encoding == .bsd || encoding == .bsd64
    let word = UInt64(bits / 8)
    guard size >= word, size <= Self.mostBytes else { return }
    let first = try file.read(at: offset, count: Int(word))
    // Apple's are little-endian, but for machines that are not built for any more.
    let isLittle = isBSD && first.last == 0
    let order: ImageIdentity.ByteOrder = isLittle ? .little : .big
    let count = first.span.word(at: 0, bits: bits, order: order) ?? 0
    let bytes = isBSD ? count : count.multipliedReportingOverflow(by: word).partialValue
    guard bytes <= size - word else { return }
    let table = FileExtent(offset: offset + word, size: bytes)
    // Of a pair, the offset is the second.
    let entry = Int(isBSD ? 2 * word : word)
    try file.forEachPiece(of: table, entry: entry) { entries in
      for end in stride(from: entry, through: entries.count, by: entry) {
        let place = entries.span.word(at: end - Int(word), bits: bits, order: order)
        furthest = max(furthest, place ?? 0)
      }
    }
  }
}
