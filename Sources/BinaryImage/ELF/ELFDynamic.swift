internal import CElf

/// The dynamic section, `PT_DYNAMIC`, which leads the loader to relocations and symbols.
///
/// For linked files this is the truth; section headers may lie or be absent.
final class ELFDynamic {
  /// Its tags and their values, up to `DT_NULL`.
  private let tags: [(tag: Int64, value: UInt64)]
  /// Its addresses in memory, with `DT_NULL`.
  let addresses: Range<UInt64>
  /// `DT_FLAGS_1`.
  var flags: UInt64 { value(Int64(DT_FLAGS_1)) ?? 0 }
  /// Whether relocations write into code: `DT_TEXTREL`, `DF_TEXTREL`.
  private(set) lazy var relocatesCode =
    value(Int64(DT_TEXTREL)) != nil || (value(Int64(DT_FLAGS)) ?? 0) & UInt64(DF_TEXTREL) != 0
  /// The relocation tables, in the order that the loader applies them.
  private(set) var relocations: [ELFRelocationTable] = []
  /// The words that the loader relocates without a table.
  private(set) var globalOffsets: ELFGlobalOffsets?
  /// `DT_SYMTAB` and `DT_STRTAB`.
  private(set) var symbols: ELFSymbols?
  /// Whether relocations are packed in a form that only Android's loaders read.
  private(set) var isPackedForAndroid = false

  /// More bytes than any linker's dynamic section has.
  private static let mostBytes: UInt64 = 1 << 20

  /// Reads the dynamic section at the address that the program header names, as the loader does.
  init(of image: ELFFile, at segment: GElf_Phdr) throws(ImageError) {
    let (file, header, segments) = (image.file, image.header, try image.segments())
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
      try file.check(
        file.stores(size), .malformed,
        "The relocations claim \(size) bytes, more than the file stores.", at: extent.offset)
      relocations.append(ELFRelocationTable(encoding: encoding, bytes: .stored(extent)))
    }
    try table(Int64(DT_RELR), Int64(DT_RELRSZ), .relr)
    if header.usesCommonNumbers {
      try table(Self.androidRelr, Self.androidRelr + 1, .relr)
      try table(Self.androidRel, Self.androidRel + 1, .androidRel)
      try table(Self.androidRela, Self.androidRela + 1, .androidRela)
      isPackedForAndroid = [Self.androidRel, Self.androidRela, Self.androidRelr].contains {
        value($0) != nil
      }
    }
    try table(Int64(DT_REL), Int64(DT_RELSZ), .rel)
    try table(Int64(DT_RELA), Int64(DT_RELASZ), .rela)
    let isExplicit = value(Int64(DT_PLTREL)) == UInt64(DT_RELA)
    try table(Int64(DT_JMPREL), Int64(DT_PLTRELSZ), isExplicit ? .rela : .rel)
    // Numbers from DT_LOPROC on mean something under their machine only.
    try file.check(
      header.machine != UInt16(EM_AARCH64) || value(Self.signed) == nil, .unsupported,
      "The relocations are signed (DT_AARCH64_AUTH_RELR), which is not read yet.")

    if let symbols = value(Int64(DT_SYMTAB)), let strings = value(Int64(DT_STRTAB)),
      let symbolExtent = segments.extent(from: VirtualAddress(rawValue: symbols)),
      let stringExtent = segments.extent(from: VirtualAddress(rawValue: strings))
    {
      let size = min(stringExtent.size, value(Int64(DT_STRSZ)) ?? stringExtent.size)
      self.symbols = ELFSymbols(
        image, .stored(symbolExtent),
        names: .stored(FileExtent(offset: stringExtent.offset, size: size)))
    }
  }

  /// Returns the value of a tag, the last one of several, as the loader does; nil if there is none.
  func value(_ tag: Int64) -> UInt64? { tags.last { $0.tag == tag }?.value }

  /// Returns every value of a tag.
  func values(_ tag: Int64) -> [UInt64] { tags.filter { $0.tag == tag }.map(\.value) }

  // Tags that the system's header does not know; the size of each table is the next tag.
  private static let androidRel: Int64 = 0x6000_000f
  private static let androidRela: Int64 = 0x6000_0011
  private static let androidRelr: Int64 = 0x6fff_e000
  /// `DT_AARCH64_AUTH_RELR`.
  private static let signed: Int64 = 0x7000_0012

  /// Reads the tags and their values, up to `DT_NULL`, whatever size the program header claims.
  private static func tags(
    of file: OpenedFile, _ header: ELFHeader, _ segments: ELFSegments, at segment: GElf_Phdr
  ) throws(ImageError) -> ([(tag: Int64, value: UInt64)], addresses: Range<UInt64>) {
    let (entry, start) = (UInt64(header.format.size(of: ELF_T_DYN)), segment.p_vaddr)
    var tags: [(tag: Int64, value: UInt64)] = []
    var end = start
    // Reads a piece for each segment that it reaches into: as a rule one, of the size that its header claims.
    while let extent = segments.extent(from: VirtualAddress(rawValue: end)) {
      try file.check(
        extent.size >= entry && end - start < mostBytes, .malformed,
        "The dynamic section does not end (DT_NULL).", at: extent.offset)
      let claimed = max(min(segment.p_filesz, mostBytes), entry)
      let size = min(extent.size, tags.isEmpty ? claimed : mostBytes - (end - start))
      let table = ELFTable(
        .dynamic, .stored(FileExtent(offset: extent.offset, size: size)), of: file, header.format)
      tags.reserveCapacity(32)
      for index in 0..<table.count {
        let row = try table.row(index)
        end = end.saturating(adding: entry)
        if row.d_tag == DT_NULL { return (tags, start..<end) }
        tags.append((row.d_tag, unsafe row.d_un.d_val))
      }
    }
    // Memory that the file has no bytes for is zero.
    try file.check(
      segments.holds(VirtualAddress(rawValue: end.saturating(adding: 1))), .malformed,
      "The dynamic section leads to \(end.hexadecimal), which no segment holds.")
    return (tags, start..<end.saturating(adding: entry))
  }
}
