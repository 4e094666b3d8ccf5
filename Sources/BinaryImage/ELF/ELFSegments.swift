internal import CElf

/// The program headers: which bytes of the file stand at which address.
package struct ELFSegments {
  /// One `PT_LOAD`.
  private struct Load {
    let address: UInt64
    let memorySize: UInt64
    let offset: UInt64
    let fileSize: UInt64
  }

  /// A range of the file.
  package struct Extent {
    /// From the start of the file.
    var offset: UInt64
    /// In bytes.
    var size: UInt64
    /// `p_align` or `sh_addralign`.
    var alignment: UInt64 = 1
    /// The linked address of the first byte.
    var address = VirtualAddress(rawValue: 0)
  }

  /// `PT_DYNAMIC`.
  private(set) var dynamic: Extent?
  /// Every `PT_NOTE`, in table order.
  private(set) var notes: [Extent] = []
  /// Whether a loader is named: `PT_INTERP`.
  private(set) var hasInterpreter = false
  /// Where the ELF header stands in memory, if it is loaded.
  private(set) var headerAddress: VirtualAddress?
  private var loads: [Load] = []
  private var isOrdered = true

  /// The most segments that may overlap or stand in disorder; real files have a handful, in order.
  private static let mostDisordered = 64

  /// Reads the program headers of a file.
  package init(of file: OpenedFile, _ header: ELFHeader) throws(ImageError) {
    for segment in try ELFSegment.all(of: file, header) {
      let extent = Extent(
        offset: segment.offset, size: segment.fileSize, alignment: segment.alignment,
        address: VirtualAddress(rawValue: segment.address))
      switch segment.type {
      case UInt32(PT_LOAD):
        let load = Load(
          address: segment.address, memorySize: segment.memorySize, offset: segment.offset,
          fileSize: min(segment.fileSize, segment.memorySize))
        if let last = loads.last,
          load.address < last.address || load.address - last.address < last.memorySize
        {
          isOrdered = false
        }
        loads.append(load)
        if segment.offset == 0, segment.fileSize > 0, headerAddress == nil {
          headerAddress = extent.address
        }
      case UInt32(PT_DYNAMIC): if dynamic == nil { dynamic = extent }
      case UInt32(PT_INTERP): hasInterpreter = true
      case UInt32(PT_NOTE): notes.append(extent)
      default: break
      }
    }
    guard isOrdered || loads.count <= Self.mostDisordered else {
      throw file.error(.malformed, "\(loads.count) segments overlap or stand in disorder.")
    }
  }

  /// The bytes of the file from `address` to the end of its segment; nil where none stand there.
  ///
  /// A later segment covers an earlier one, as the kernel maps them.
  package func extent(from address: VirtualAddress) -> Extent? {
    guard let load = load(holding: address.rawValue) else { return nil }
    let skipped = address.rawValue - load.address
    guard skipped < load.fileSize else { return nil }
    let (offset, overflow) = load.offset.addingReportingOverflow(skipped)
    guard !overflow else { return nil }
    return Extent(offset: offset, size: load.fileSize - skipped, address: address)
  }

  /// The `size` bytes at `address`, if one segment holds them all in the file.
  package func extent(from address: VirtualAddress, size: UInt64) -> Extent? {
    guard var extent = extent(from: address), extent.size >= size else { return nil }
    extent.size = size
    return extent
  }

  /// A segment that a file of this size does not have whole; nil where it has them all.
  package func extent(notWithin size: UInt64) -> Extent? {
    loads.first { $0.fileSize > 0 && ($0.offset > size || $0.fileSize > size - $0.offset) }
      .map { Extent(offset: $0.offset, size: $0.fileSize) }
  }

  /// Whether memory of the image is at an address, or ends there.
  package func holds(_ address: VirtualAddress) -> Bool {
    let place = address.rawValue
    return load(holding: place) != nil || (place > 0 && load(holding: place - 1) != nil)
  }

  private func load(holding address: UInt64) -> Load? {
    guard isOrdered else {
      return loads.last { address >= $0.address && address - $0.address < $0.memorySize }
    }
    var low = 0
    var high = loads.count
    while low < high {
      let middle = (low + high) / 2
      if loads[middle].address <= address { low = middle + 1 } else { high = middle }
    }
    guard low > 0, address - loads[low - 1].address < loads[low - 1].memorySize else { return nil }
    return loads[low - 1]
  }
}

/// One program header, `Elf32_Phdr` or `Elf64_Phdr`: their fields stand in different order.
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

  /// Reads the table of program headers of a file.
  package static func all(
    of file: OpenedFile, _ header: ELFHeader
  ) throws(ImageError) -> [ELFSegment] {
    guard header.segments.isComplete else {
      throw file.error(
        .truncated, "The file ends inside the program headers.", at: header.segments.offset)
    }
    let count = Int(header.segments.count)
    let size = header.bits == 64 ? 56 : 32
    let table = try file.read(at: header.segments.offset, count: count * size)
    return (0..<count).map { index in
      ELFSegment(
        table.span.extracting(index * size..<(index + 1) * size), bits: header.bits,
        order: header.order)
    }
  }

  /// Reads the header that `bytes` are.
  package init(_ bytes: Span<UInt8>, bits: Int, order: ImageIdentity.ByteOrder) {
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
