internal import CElf

/// The program headers: which bytes of the file are at which address. libelf has no call that looks an address up.
package final class ELFSegments {
  /// `PT_DYNAMIC`: the last one with bytes, as the loader takes it; nil where that has no address.
  let dynamic: ELFSegment?
  /// Whether a `PT_DYNAMIC` has no bytes, as in files of debug information.
  let hasEmptyDynamic: Bool
  /// `PT_GNU_RELRO`: the last one, as the loader takes it.
  let readOnlyAfterRelocation: ELFSegment?
  /// Every `PT_NOTE`, in table order.
  package let notes: [ELFSegment]
  /// Whether a loader is named: `PT_INTERP`.
  let hasInterpreter: Bool
  /// Where the ELF header is in memory, if it is loaded.
  let headerAddress: VirtualAddress?
  /// Every `PT_LOAD`.
  package let loads: [ELFSegment]
  private let isOrdered: Bool

  /// The most segments that may overlap or be in disorder; real files have a handful, in order.
  private static let mostDisordered = 64

  /// Every program header, in table order.
  package let all: [ELFSegment]

  /// Takes the program headers of a file, as libelf reads them.
  init(_ all: [ELFSegment], of file: OpenedFile) throws(ImageError) {
    self.all = all
    var (loads, notes): ([ELFSegment], [ELFSegment]) = ([], [])
    var dynamic: ELFSegment?, relro: ELFSegment?, hasEmptyDynamic = false, hasInterpreter = false
    for segment in all {
      switch Int32(truncatingIfNeeded: segment.type) {
      case PT_LOAD: loads.append(segment)
      case PT_NOTE: notes.append(segment)
      case PT_DYNAMIC where segment.fileSize == 0: hasEmptyDynamic = true
      case PT_DYNAMIC: dynamic = segment.address == 0 ? nil : segment
      case PT_GNU_RELRO: relro = segment
      case PT_INTERP: hasInterpreter = true
      default: break
      }
    }
    (self.loads, self.notes, self.dynamic) = (loads, notes, dynamic)
    (self.hasEmptyDynamic, self.hasInterpreter) = (hasEmptyDynamic, hasInterpreter)
    readOnlyAfterRelocation = relro
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

/// One program header, as libelf reads it: `GElf_Phdr`.
package struct ELFSegment: Hashable, Sendable {
  package let type: UInt32
  package let offset: UInt64
  package let address: UInt64
  package let fileSize: UInt64
  package let memorySize: UInt64
  package let alignment: UInt64
  private let flags: UInt32

  init(_ header: GElf_Phdr) {
    (type, flags, offset, address) = (
      header.p_type, header.p_flags, header.p_offset, header.p_vaddr
    )
    (fileSize, memorySize, alignment) = (header.p_filesz, header.p_memsz, header.p_align)
  }

  /// Whether code in it may run.
  package var isExecutable: Bool { flags & UInt32(PF_X) != 0 }
  /// Whether the process may write to it.
  package var isWritable: Bool { flags & UInt32(PF_W) != 0 }
  /// Whether the process may read it.
  var isReadable: Bool { flags & UInt32(PF_R) != 0 }
  /// How many bytes of it are both in the file and in memory.
  var mappedSize: UInt64 { min(fileSize, memorySize) }
  /// Where the file has it.
  package var extent: FileExtent { FileExtent(offset: offset, size: fileSize) }
}
