package import CElf

/// The program headers, which map addresses to bytes of the file. libelf has no call that looks an address up.
package final class ELFSegments {
  /// Every program header, in table order.
  package let all: [GElf_Phdr]
  /// Every `PT_LOAD`.
  package let loads: [GElf_Phdr]
  private let isOrdered: Bool

  /// The most segments that may overlap or be in disorder; real files have a handful, in order.
  private static let mostDisordered = 64

  /// Takes the program headers of a file, as libelf reads them.
  init(_ all: [GElf_Phdr], of file: OpenedFile) throws(ImageError) {
    let loads = all.filter { $0.isOf(PT_LOAD) }
    isOrdered = zip(loads, loads.dropFirst()).allSatisfy { last, next in
      next.p_vaddr >= last.p_vaddr && next.p_vaddr - last.p_vaddr >= last.p_memsz
    }
    (self.all, self.loads) = (all, loads)
    try file.check(
      loads.allSatisfy { $0.p_memsz <= .max - $0.p_vaddr }, .malformed,
      "A segment goes on behind the last address.")
    try file.check(
      isOrdered || loads.count <= Self.mostDisordered, .malformed,
      "\(loads.count) segments overlap or are in disorder.")
  }

  /// `PT_DYNAMIC`: the last one with bytes, as the loader takes it; nil if that one has no address.
  var dynamic: GElf_Phdr? {
    all.last { $0.isOf(PT_DYNAMIC) && $0.p_filesz > 0 }.flatMap { $0.p_vaddr == 0 ? nil : $0 }
  }
  /// Whether a `PT_DYNAMIC` has no bytes, as in files of debug information.
  var hasEmptyDynamic: Bool { all.contains { $0.isOf(PT_DYNAMIC) && $0.p_filesz == 0 } }
  /// Every `PT_NOTE`, in table order.
  package var notes: [GElf_Phdr] { all.filter { $0.isOf(PT_NOTE) } }
  /// Whether the file names a loader: `PT_INTERP`.
  var hasInterpreter: Bool { all.contains { $0.isOf(PT_INTERP) } }
  /// The address of the ELF header in memory, if it is loaded.
  var headerAddress: VirtualAddress? {
    loads.first { $0.p_offset == 0 && $0.p_filesz > 0 }.map { VirtualAddress(rawValue: $0.p_vaddr) }
  }

  /// Returns the bytes of the file from `address` to the end of its segment; nil if there are none.
  ///
  /// A later segment covers an earlier one, as the kernel maps them.
  package func extent(from address: VirtualAddress) -> FileExtent? {
    guard let load = load(holding: address.rawValue) else { return nil }
    let skipped = address.rawValue - load.p_vaddr
    guard skipped < load.mappedSize else { return nil }
    let (offset, overflow) = load.p_offset.addingReportingOverflow(skipped)
    return overflow ? nil : FileExtent(offset: offset, size: load.mappedSize - skipped)
  }

  /// Returns the `size` bytes at `address`, if one segment holds them all in the file.
  package func extent(from address: VirtualAddress, size: UInt64) -> FileExtent? {
    guard let extent = extent(from: address), extent.size >= size else { return nil }
    return FileExtent(offset: extent.offset, size: size)
  }

  /// Returns the bytes of a segment that the file does not have whole; nil if it has all segments.
  func extent(notWithin file: OpenedFile) -> FileExtent? {
    loads.first { $0.mappedSize > 0 && !file.holds($0.p_offset, $0.mappedSize) }
      .map { FileExtent(offset: $0.p_offset, size: $0.mappedSize) }
  }

  /// Returns whether memory of the image is at an address, or ends there.
  package func holds(_ address: VirtualAddress) -> Bool {
    let place = address.rawValue
    return load(holding: place) != nil || (place > 0 && load(holding: place - 1) != nil)
  }

  /// Returns every address that the process cannot write to. With `isCodeWritable` the loader is relocating the code.
  func unwritable(isCodeWritable: Bool) -> [Range<UInt64>] {
    AddressRanges(
      loads.filter { $0.isWritable || isCodeWritable }.map { load in
        load.p_vaddr..<load.p_vaddr.saturating(adding: load.p_memsz)
      }
    ).gaps
  }

  /// Returns the segment whose memory holds an address; nil if there is none.
  func load(holding address: UInt64) -> GElf_Phdr? {
    guard isOrdered else { return loads.last { $0.holds(address) } }
    return loads.last(notAfter: address, by: \.p_vaddr).flatMap {
      loads[$0].holds(address) ? loads[$0] : nil
    }
  }
}

/// A program header, as libelf reads it.
extension GElf_Phdr {
  /// Returns whether it has a type, `PT_*`.
  package func isOf(_ type: Int32) -> Bool { p_type == UInt32(bitPattern: type) }
  /// Whether code in it may run.
  package var isExecutable: Bool { p_flags & UInt32(PF_X) != 0 }
  /// Whether the process may write to it.
  package var isWritable: Bool { p_flags & UInt32(PF_W) != 0 }
  /// Whether the process may read it.
  var isReadable: Bool { p_flags & UInt32(PF_R) != 0 }
  /// The number of its bytes that are both in the file and in memory.
  var mappedSize: UInt64 { min(p_filesz, p_memsz) }
  /// Its location in the file.
  package var extent: FileExtent { FileExtent(offset: p_offset, size: p_filesz) }
  /// Its bytes from the file, as a section without a name.
  var section: Section {
    Section(
      index: 0, name: "", address: VirtualAddress(rawValue: p_vaddr), offset: nil, size: mappedSize)
  }

  /// Returns whether an address is in its memory.
  package func holds(_ place: UInt64) -> Bool { place >= p_vaddr && place - p_vaddr < p_memsz }
}
