internal import BinaryImage

/// One `LC_SEGMENT` or `LC_SEGMENT_64`.
struct MachOSegment {
  /// `segname`; empty in objects.
  let name: String
  /// `vmaddr`, `vmsize`.
  let address: UInt64, memorySize: UInt64
  /// `fileoff`, `filesize`.
  let offset: UInt64, fileSize: UInt64
  /// Whether it may be written to at first: `VM_PROT_WRITE` in `initprot`.
  let isWritable: Bool

  /// How many bytes of it are both in the file and in memory.
  var mappedSize: UInt64 { min(memorySize, fileSize) }

  /// Whether bytes of it begin at an offset of the file. The header is there at 0, never a section.
  func stores(_ start: UInt64) -> Bool {
    start > 0 && start >= offset && start - offset < fileSize
  }

  /// Reads the command.
  init(_ fields: MachOFields) throws(MachOFields.TooShort) {
    let word = fields.bits / 8
    name = try fields.name(8)
    (address, memorySize) = (try fields.word(24), try fields.word(24 + word))
    (offset, fileSize) = (try fields.word(24 + 2 * word), try fields.word(24 + 3 * word))
    isWritable = try fields.single(28 + 4 * word) & 2 != 0
  }
}

/// The segments of a linked file: which of its bytes are at which address.
struct MachOSegments {
  /// In the order of the load commands, which fixups count.
  let list: [MachOSegment]
  /// The address of the Mach-O header, which some chained fixups count from.
  let base: UInt64?
  /// The bytes of the file that have an address, in the order of the addresses.
  private let stored: [Stored]

  private struct Stored {
    var address: UInt64, offset: UInt64, size: UInt64
  }

  /// More segments than any file has; they are searched one by one.
  private static let mostSegments = 256

  /// Checks that no two segments share addresses, which dyld refuses too.
  init(_ commands: MachOCommands, of file: OpenedFile, _ header: MachOHeader) throws(ImageError) {
    list = commands.segments
    try file.check(
      list.count <= Self.mostSegments, .malformed, "The file claims \(list.count) segments.")
    base = list.first { $0.offset == 0 && $0.fileSize > 0 }?.address
    let byAddress = list.filter { $0.memorySize > 0 }.sorted { $0.address < $1.address }
    // No loader maps split debug information, so its segments' bytes are not at their addresses.
    stored =
      header.type == .dsym
      ? commands.sections.compactMap { section in
        section.offset.map { Stored(address: section.address, offset: $0, size: section.size) }
      }.sorted { $0.address < $1.address }
      : byAddress.map { Stored(address: $0.address, offset: $0.offset, size: $0.mappedSize) }
    for (segment, next) in zip(byAddress, byAddress.dropFirst())
    where next.address - segment.address < segment.memorySize {
      throw file.error(.malformed, "The segments \(segment.name) and \(next.name) share addresses.")
    }
  }

  /// The segment, as fixups count them, that has bytes of the file at an address.
  func index(holding address: UInt64) -> Int? {
    list.firstIndex { address >= $0.address && address - $0.address < $0.mappedSize }
  }

  /// Whether memory of the image is at an address, or ends there.
  func holds(_ address: VirtualAddress) -> Bool {
    list.contains {
      $0.memorySize > 0 && address.rawValue >= $0.address
        && address.rawValue - $0.address <= $0.memorySize
    }
  }

  /// The bytes of the file from `address` to the end of its segment; nil where there are none.
  func extent(from address: VirtualAddress) -> FileExtent? {
    guard let found = stored.last(notAfter: address.rawValue, by: \.address) else { return nil }
    let range = stored[found]
    let skipped = address.rawValue - range.address
    guard skipped < range.size else { return nil }
    let (offset, overflow) = range.offset.addingReportingOverflow(skipped)
    return overflow ? nil : FileExtent(offset: offset, size: range.size - skipped)
  }
}
