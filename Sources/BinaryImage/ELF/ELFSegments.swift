internal import CElf

/// The program headers: which bytes of the file are at which address.
package final class ELFSegments {
  /// `PT_DYNAMIC`: the last one with bytes, as the loader takes it; nil where that has no address.
  let dynamic: ELFSegment?
  /// Whether a `PT_DYNAMIC` has no bytes, as in files of debug information.
  let hasEmptyDynamic: Bool
  /// `PT_GNU_RELRO`: the last one, as the loader takes it.
  let readOnlyAfterRelocation: ELFSegment?
  /// Every `PT_NOTE`, in table order.
  let notes: [ELFSegment]
  /// Whether a loader is named: `PT_INTERP`.
  let hasInterpreter: Bool
  /// Where the ELF header is in memory, if it is loaded.
  let headerAddress: VirtualAddress?
  /// Every `PT_LOAD`.
  let loads: [ELFSegment]
  private let isOrdered: Bool

  /// The most segments that may overlap or be in disorder; real files have a handful, in order.
  private static let mostDisordered = 64

  /// Reads the program headers of a file.
  package init(of file: OpenedFile, _ header: ELFHeader) throws(ImageError) {
    let all = try ELFSegment.all(of: file, header)
    func every(_ type: Int32) -> [ELFSegment] { all.filter { $0.type == UInt32(type) } }
    loads = every(PT_LOAD)
    notes = every(PT_NOTE)
    dynamic = all.last { $0.type == UInt32(PT_DYNAMIC) && $0.fileSize > 0 }
      .flatMap { $0.address == 0 ? nil : $0 }
    hasEmptyDynamic = all.contains { $0.type == UInt32(PT_DYNAMIC) && $0.fileSize == 0 }
    readOnlyAfterRelocation = all.last { $0.type == UInt32(PT_GNU_RELRO) }
    hasInterpreter = all.contains { $0.type == UInt32(PT_INTERP) }
    headerAddress = loads.first { $0.offset == 0 && $0.fileSize > 0 }
      .map { VirtualAddress(rawValue: $0.address) }
    isOrdered = zip(loads, loads.dropFirst()).allSatisfy { last, next in
      next.address >= last.address && next.address - last.address >= last.memorySize
    }
    try file.check(
      isOrdered || loads.count <= Self.mostDisordered, .malformed,
      "\(loads.count) segments overlap or are in disorder.")
  }

  /// The bytes of the file from `address` to the end of its segment; nil where there are none.
  ///
  /// A later segment covers an earlier one, as the kernel maps them.
  package func extent(from address: VirtualAddress) -> FileExtent? {
    guard let load = load(holding: address.rawValue) else { return nil }
    let skipped = address.rawValue - load.address
    guard skipped < load.mappedSize else { return nil }
    let (offset, overflow) = load.offset.addingReportingOverflow(skipped)
    return overflow ? nil : FileExtent(offset: offset, size: load.mappedSize - skipped)
  }

  /// The `size` bytes at `address`, if one segment holds them all in the file.
  package func extent(from address: VirtualAddress, size: UInt64) -> FileExtent? {
    guard let extent = extent(from: address), extent.size >= size else { return nil }
    return FileExtent(offset: extent.offset, size: size)
  }

  /// What a segment claims that the file does not have whole; nil where it has them all.
  func extent(notWithin file: OpenedFile) -> FileExtent? {
    loads.first { $0.mappedSize > 0 && !file.holds($0.offset, $0.mappedSize) }
      .map { FileExtent(offset: $0.offset, size: $0.mappedSize) }
  }

  /// Whether memory of the image is at an address, or ends there.
  package func holds(_ address: VirtualAddress) -> Bool {
    let place = address.rawValue
    return load(holding: place) != nil || (place > 0 && load(holding: place - 1) != nil)
  }

  /// Every address that the process cannot write to.
  var unwritable: [Range<UInt64>] {
    AddressRanges(
      loads.filter(\.isWritable).map { load in
        load.address..<load.address.saturating(adding: load.memorySize)
      }
    ).gaps
  }

  private func load(holding address: UInt64) -> ELFSegment? {
    let isThere = { (load: ELFSegment) in
      address >= load.address && address - load.address < load.memorySize
    }
    guard isOrdered else { return loads.last(where: isThere) }
    return loads.last(notAfter: address, by: \.address).flatMap {
      isThere(loads[$0]) ? loads[$0] : nil
    }
  }
}

/// One program header, `Elf32_Phdr` or `Elf64_Phdr`: their fields are in different order.
package struct ELFSegment {
  package let type: UInt32
  package let offset: UInt64
  package let address: UInt64
  package let fileSize: UInt64
  package let memorySize: UInt64
  package let alignment: UInt64
  private let flags: UInt32

  /// Whether code in it may run.
  package var isExecutable: Bool { flags & UInt32(PF_X) != 0 }
  /// Whether the process may write to it.
  package var isWritable: Bool { flags & UInt32(PF_W) != 0 }
  /// Whether the process may read it.
  var isReadable: Bool { flags & UInt32(PF_R) != 0 }
  /// How many bytes of it are both in the file and in memory.
  var mappedSize: UInt64 { min(fileSize, memorySize) }
  /// Where the file has it.
  var extent: FileExtent { FileExtent(offset: offset, size: fileSize) }

  /// The size of a program header in bytes.
  package static func size(bits: Int) -> Int { bits == 64 ? 56 : 32 }

  /// Reads the program headers of a file.
  package static func all(
    of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> [ELFSegment] {
    let table = try table(of: file, header)
    return all(in: table.span, bits: header.bits, order: header.order)
  }

  /// The bytes of the program headers of a file.
  static func table(
    of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> ArraySlice<UInt8> {
    try file.check(
      header.segments.isComplete, .truncated, "The file ends inside the program headers.",
      at: header.segments.offset)
    let size = Int(header.segments.count) * size(bits: header.bits)
    return try file.slice(at: header.segments.offset, count: size)
  }

  /// The program headers that `table` consists of.
  package static func all(
    in table: Span<UInt8>, bits: Int, order: ImageIdentity.ByteOrder
  ) -> [ELFSegment] {
    (0..<table.count / size(bits: bits)).map { ELFSegment($0, in: table, bits: bits, order: order) }
  }

  /// What `body` makes of the first program header of this type of which it makes anything.
  static func first<Result>(
    ofType type: UInt32, in table: Span<UInt8>, bits: Int, order: ImageIdentity.ByteOrder,
    _ body: (ELFSegment) throws(ImageError) -> Result?
  ) throws(ImageError) -> Result? {
    let size = size(bits: bits)
    for index in 0..<table.count / size where table.integer(at: index * size, order: order) == type
    {
      let found = try body(ELFSegment(index, in: table, bits: bits, order: order))
      if let found { return found }
    }
    return nil
  }

  private init(_ index: Int, in table: Span<UInt8>, bits: Int, order: ImageIdentity.ByteOrder) {
    let size = Self.size(bits: bits)
    let bytes = table.extracting(index * size..<(index + 1) * size)
    func word(_ offset: Int) -> UInt64 { bytes.word(at: offset, bits: bits, order: order) ?? 0 }
    let is64 = bits == 64
    type = bytes.integer(at: 0, order: order) ?? 0
    offset = word(is64 ? 8 : 4)
    address = word(is64 ? 16 : 8)
    fileSize = word(is64 ? 32 : 16)
    memorySize = word(is64 ? 40 : 20)
    alignment = word(is64 ? 48 : 28)
    flags = bytes.integer(at: is64 ? 4 : 24, order: order) ?? 0
  }
}
