internal import CElf

/// What `PT_DYNAMIC` says: where the loader finds relocations and symbols.
///
/// For linked files this is the truth; section headers may lie or be absent.
final class ELFDynamic {
  /// What it says, up to `DT_NULL`.
  private let tags: [(tag: Int64, value: UInt64)]
  /// Where it is in memory, with `DT_NULL`.
  let addresses: Range<UInt64>
  /// `DT_FLAGS_1`.
  var flags: UInt64 { value(Int64(DT_FLAGS_1)) ?? 0 }
  /// Whether relocations write into code: `DT_TEXTREL`, `DF_TEXTREL`.
  var relocatesCode: Bool {
    value(Int64(DT_TEXTREL)) != nil || (value(Int64(DT_FLAGS)) ?? 0) & UInt64(DF_TEXTREL) != 0
  }
  /// The relocation tables, in the order in which the loader applies them.
  private(set) var relocations: [ELFRelocationTable] = []
  /// What the loader relocates without a table.
  private(set) var globalOffsets: ELFGlobalOffsets?
  /// `DT_SYMTAB` and `DT_STRTAB`.
  private(set) var symbols: ELFSymbols?

  /// More bytes than any linker's dynamic section has.
  private static let mostBytes: UInt64 = 1 << 20
  /// How much is read at once where it is longer than the program header claims.
  private static let pageSize: UInt64 = 1 << 12

  /// Reads the dynamic section where the loader does: at the address that the program header names.
  init(
    of file: OpenedFile, _ header: ELFHeader, _ segments: ELFSegments, at segment: ELFSegment
  ) throws(ImageError) {
    (tags, addresses) = try Self.tags(of: file, header, segments, at: segment)
    globalOffsets = try ELFGlobalOffsets(of: file, header, segments, value: value)
    func table(
      _ address: Int64, _ size: Int64, _ encoding: ELFRelocationTable.Encoding
    ) throws(ImageError) {
      guard let start = value(address), let size = value(size), size > 0 else { return }
      guard let extent = segments.extent(from: VirtualAddress(rawValue: start), size: size) else {
        throw file.error(
          .truncated,
          "The dynamic section names \(size) bytes of relocations at \(start.hexadecimal), "
            + "which no segment holds.")
      }
      relocations.append(ELFRelocationTable(encoding: encoding, extent: extent))
    }
    try table(Int64(DT_RELR), Int64(DT_RELRSZ), .relr)
    try table(Self.androidRelr, Self.androidRelr + 1, .relr)
    try table(Self.androidRel, Self.androidRel + 1, .androidRel)
    try table(Self.androidRela, Self.androidRela + 1, .androidRela)
    try table(Int64(DT_REL), Int64(DT_RELSZ), .rel)
    try table(Int64(DT_RELA), Int64(DT_RELASZ), .rela)
    let isExplicit = value(Int64(DT_PLTREL)) == UInt64(DT_RELA)
    try table(Int64(DT_JMPREL), Int64(DT_PLTRELSZ), isExplicit ? .rela : .rel)
    // Numbers from 0x70000000 on mean something under their machine only.
    try file.check(
      header.machine != UInt16(EM_AARCH64) || value(Self.signed) == nil, .unsupported,
      "The relocations are signed (DT_AARCH64_AUTH_RELR), which is not read yet.")

    if let symbols = value(Int64(DT_SYMTAB)), let strings = value(Int64(DT_STRTAB)),
      let symbolExtent = segments.extent(from: VirtualAddress(rawValue: symbols)),
      let stringExtent = segments.extent(from: VirtualAddress(rawValue: strings))
    {
      let size = min(stringExtent.size, value(Int64(DT_STRSZ)) ?? stringExtent.size)
      self.symbols = ELFSymbols(
        of: file, header, entries: symbolExtent,
        names: FileExtent(offset: stringExtent.offset, size: size))
    }
  }

  /// The value of a tag, the last one of several, as the loader takes it; nil where it has none.
  func value(_ tag: Int64) -> UInt64? { tags.last { $0.tag == tag }?.value }

  /// Whether relocations are packed as loaders of Android alone read them.
  var isPackedForAndroid: Bool {
    [Self.androidRel, Self.androidRela, Self.androidRelr].contains { value($0) != nil }
  }

  /// Every value of a tag.
  func values(_ tag: Int64) -> [UInt64] { tags.filter { $0.tag == tag }.map(\.value) }

  // Tags that the system's header does not know; the size of each table is the next tag.
  private static let androidRel: Int64 = 0x6000_000f
  private static let androidRela: Int64 = 0x6000_0011
  private static let androidRelr: Int64 = 0x6fff_e000
  /// `DT_AARCH64_AUTH_RELR`.
  private static let signed: Int64 = 0x7000_0012

  /// Reads the tags and their values, up to `DT_NULL`, whatever size the program header claims.
  private static func tags(
    of file: OpenedFile, _ header: ELFHeader, _ segments: ELFSegments, at segment: ELFSegment
  ) throws(ImageError) -> ([(tag: Int64, value: UInt64)], addresses: Range<UInt64>) {
    let (entry, start) = (2 * header.wordSize, segment.address)
    var tags: [(tag: Int64, value: UInt64)] = []
    var (end, expected) = (start, min(segment.fileSize, mostBytes))
    while let extent = segments.extent(from: VirtualAddress(rawValue: end)) {
      try file.check(
        extent.size >= UInt64(entry) && end - start < mostBytes, .malformed,
        "The dynamic section does not end (DT_NULL).", at: extent.offset)
      let count = Int(min(extent.size, max(expected, UInt64(entry)))) / entry
      let bytes = try file.slice(at: extent.offset, count: count * entry)
      tags.reserveCapacity(min(tags.count + count, 32))
      for place in stride(from: 0, to: bytes.count, by: entry) {
        func word(_ place: Int) -> UInt64 {
          bytes.span.word(at: place, bits: header.bits, order: header.order) ?? 0
        }
        end = end.saturating(adding: UInt64(entry))
        let tag = word(place)
        if tag == 0 { return (tags, start..<end) }
        let signed = header.bits == 64 ? Int64(bitPattern: tag) : Int64(tag)
        tags.append((signed, word(place + header.wordSize)))
      }
      expected = pageSize
    }
    // What is in memory and not in the file is zero.
    try file.check(
      segments.holds(VirtualAddress(rawValue: end.saturating(adding: 1))), .malformed,
      "The dynamic section leads to \(end.hexadecimal), which no segment holds.")
    return (tags, start..<end.saturating(adding: UInt64(entry)))
  }
}
