internal import BinaryImage
internal import CElf

/// The headers of an image as they are in the memory of another process.
struct RemoteHeaders {
  let identity: ImageIdentity
  /// What was added to every linked address.
  let bias: UInt64
  private let mapping: RemoteMapping
  private let header: [UInt8]
  private let programHeaders: [UInt8]
  private let notes: [(bytes: ArraySlice<UInt8>, segment: ELFSegment)]
  private let loads: [Range<UInt64>]
  /// What the process cannot write to: there its memory is what its file has.
  let constants: [(memory: Range<UInt64>, offset: UInt64)]
  private let headerAddress: UInt64

  /// More program headers, and more bytes of notes or of a dynamic section, than any linker writes.
  private static let (mostSegments, mostBytes): (Int, UInt64) = (1 << 10, 1 << 20)

  init(of mapping: RemoteMapping, in memory: any RemoteMemory) throws(ImageError) {
    let head = try memory.read(at: mapping.base, count: 64)
    try mapping.check(
      head.count == 64, .unreadable,
      "Its header is not there: it was unmapped, or the process ended.")
    try mapping.check(
      ELFFile.recognises(head) && [1, 2].contains(head[4]) && [1, 2].contains(head[5]),
      .notAnObject, "What is mapped does not start with an ELF header.")
    let bits = head[4] == 2 ? 64 : 32
    let order: ImageIdentity.ByteOrder = head[5] == 1 ? .little : .big
    func half(_ offset: Int) -> UInt16 { head.span.integer(at: offset, order: order) ?? 0 }
    header = Array(head.prefix(ELFHeader.size(bits: bits)))
    let table = head.span.word(at: bits == 64 ? 32 : 28, bits: bits, order: order) ?? 0
    let count = Int(half(bits == 64 ? 56 : 44))
    let size = ELFSegment.size(bits: bits)
    try mapping.check(
      count > 0 && count <= Self.mostSegments && Int(half(bits == 64 ? 54 : 42)) == size,
      .malformed, "It claims \(count) program headers.")
    let programHeaders = try memory.read(at: mapping.base &+ table, count: count * size)
    try mapping.check(
      programHeaders.count == count * size, .truncated, "Its program headers are not there.")
    let segments = ELFSegment.all(in: programHeaders.span, bits: bits, order: order)
    let mapped = segments.filter { $0.type == UInt32(PT_LOAD) }
    guard let first = mapped.first(where: { $0.offset == 0 }) else {
      throw mapping.error(.malformed, "No segment holds its header.")
    }
    let bias = mapping.base &- first.address
    notes = try segments.filter { $0.type == UInt32(PT_NOTE) }.map { segment throws(ImageError) in
      let count = Int(min(segment.fileSize, Self.mostBytes))
      return (try memory.read(at: bias &+ segment.address, count: count)[...], segment)
    }
    let ids = notes.lazy.compactMap { bytes, segment in
      ELFNote.buildID(in: bytes.span, alignment: segment.alignment, order: order)
        .map { Array(bytes[$0]) }
    }
    let isProgram = ELFFile.isProgram(
      head.span, bits: bits, order: order,
      hasInterpreter: segments.contains { $0.type == UInt32(PT_INTERP) }
    ) {
      guard let segment = segments.last(where: { $0.type == UInt32(PT_DYNAMIC) }),
        let bytes = try? memory.read(
          at: bias &+ segment.address, count: Int(min(segment.fileSize, Self.mostBytes)))
      else { return nil }
      func word(_ place: Int) -> UInt64 {
        bytes.span.word(at: place * bits / 8, bits: bits, order: order) ?? 0
      }
      let tags = (0..<bytes.count * 4 / bits).map { (word(2 * $0), word(2 * $0 + 1)) }
        .prefix { $0.0 != 0 }
      return { tag in tags.last { $0.0 == UInt64(tag) }?.1 }
    }
    identity = ImageIdentity(
      path: mapping.path, format: .elf, bits: bits, byteOrder: order,
      machine: ELFMachine(number: half(18), bits: bits, order: order).name,
      kind: isProgram ? .executable : .shared, id: ids.first { !$0.isEmpty } ?? [])
    (self.mapping, self.programHeaders) = (mapping, programHeaders)
    (self.bias, headerAddress) = (bias, first.address)
    constants = mapped.compactMap { segment in
      let start = bias &+ segment.address
      let (end, overflow) = start.addingReportingOverflow(segment.fileSize)
      return overflow || segment.isWritable ? nil : (start..<end, segment.offset)
    }
    loads = mapped.compactMap { segment in
      let (end, overflow) = segment.address.addingReportingOverflow(segment.memorySize)
      return overflow ? nil : segment.address..<end
    }
  }

  /// Whether a segment of the image is loaded at a linked address.
  func holds(_ address: VirtualAddress) -> Bool {
    loads.contains { $0.contains(address.rawValue) }
  }

  /// What the image itself says of its sections; several notes must agree.
  func sectionNote() throws(ImageError) -> SectionNote? {
    try SectionNote.read(
      notes, header: VirtualAddress(rawValue: headerAddress), bits: identity.bits,
      order: identity.byteOrder
    ) { code, message, _ in mapping.error(code, message) }
  }

  /// Where the state record of the runtime in this image is in the process; nil where the image
  /// has no runtime that keeps one.
  func stateRecord() throws(ImageError) -> UInt64? {
    for (bytes, segment) in notes {
      let span = bytes.span
      let found = ELFNote.notes(in: span, alignment: segment.alignment, order: identity.byteOrder)
        .first { $0.owner == .beehive && $0.type == StateRecordReader.noteType }
      guard let found else { continue }
      let descriptor = span.extracting(found.descriptor)
      func distance(at offset: Int) -> UInt64? {
        descriptor.integer(at: offset, as: UInt32.self, order: identity.byteOrder)
          .map { UInt64(bitPattern: Int64(Int32(bitPattern: $0))) }
      }
      let start = segment.address &+ UInt64(found.descriptor.lowerBound)
      guard distance(at: 0) == 1, let header = distance(at: 4), let record = distance(at: 8) else {
        throw mapping.error(
          .unsupported,
          "Its note of the state record is of a version that this reader does not know.")
      }
      // A tool that moves notes leaves the distances as they were.
      let moved = headerAddress &- (start &+ 4 &+ header)
      let place = VirtualAddress(rawValue: start &+ 8 &+ record &+ moved)
      try mapping.check(
        holds(place), .malformed, "Its note tells of a state record outside the image.")
      return place.rawValue &+ bias
    }
    return nil
  }

  /// Whether the image was mapped from a file: the headers that both have are the same.
  func agree(with file: OpenedFile) throws(ImageError) -> Bool {
    let theirs = try file.read(at: 0, count: header.count)
    guard ELFHeader.areOfOneBuild(header.span, theirs.span) else { return false }
    let offset = header.span.word(
      at: identity.bits == 64 ? 32 : 28, bits: identity.bits, order: identity.byteOrder)
    guard try file.read(at: offset ?? 0, count: programHeaders.count) == programHeaders else {
      return false
    }
    guard !identity.id.isEmpty else { return true }
    return try ELFFile(file).identity.id == identity.id
  }
}
