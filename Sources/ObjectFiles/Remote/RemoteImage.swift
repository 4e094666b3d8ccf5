package import BinaryImage
internal import CElf

/// An image in the memory of another process, where the loader has resolved its pointers.
///
/// Its headers are read from that memory. Its sections are found by the image's own note, or by its file if that is the
/// mapped one. The process may change or end meanwhile: memory that is gone is an error. Use one value on one thread.
package final class RemoteImage: Image {
  /// The identity of the image.
  package let identity: ImageIdentity
  /// The mapping of the image, and the state of its file.
  package let mapping: RemoteMapping
  let read: RemoteMemory
  /// The load bias: the difference to every linked address.
  let bias: UInt64
  /// The ranges that the process cannot write to. Their memory equals the file.
  let constants: [(memory: Range<UInt64>, offset: UInt64)]
  private let headers: ELFMemoryHeaders
  private let headerAddress: UInt64
  private let loads: [GElf_Phdr]
  /// The notes of this project.
  private let notes: [ELFNote]
  private var found: [Section]?
  /// The number of bytes of sections that were read.
  package private(set) var bytesRead = 0

  /// More bytes of notes or of a dynamic section than any linker writes.
  private static let (mostNotes, mostDynamic): (UInt64, UInt64) = (1 << 16, 1 << 20)

  init(_ mapping: RemoteMapping, in read: @escaping RemoteMemory) throws(ImageError) {
    let headers: ELFMemoryHeaders
    do throws(ImageError) {
      headers = try mapping.headers(read)
    } catch {
      guard error.code == .notAnObject, mapping.hasELFFile else { throw error }
      throw mapping.error(
        .malformed,
        "The file has an ELF header, but the memory has none: something overwrote the memory, so it cannot be read."
      )
    }
    let header = headers.header
    let loads = headers.loads
    guard let first = headers.first else {
      throw mapping.error(.malformed, "No segment holds its header.")
    }
    let bias = mapping.base &- first.p_vaddr
    var (room, id, notes): (UInt64, [UInt8], [ELFNote]) = (Self.mostNotes, [], [])
    for segment in headers.segments where segment.p_type == UInt32(PT_NOTE) {
      let count = min(segment.p_filesz, room)
      room -= count
      let found = try ELFNote.notes(
        in: read(bias &+ segment.p_vaddr, Int(count))[...],
        alignment: segment.p_align, order: header.order, at: segment.p_vaddr
      ) { mapping.error(.unreadable, "libelf does not read its memory: \($0).") }
      if id.isEmpty, let own = found.first(where: \.isBuildID) { id = Array(own.descriptor) }
      // A process may have thousands of images, so only the notes of this project are kept.
      notes += found.filter { $0.owner == .beehive }
    }
    let isProgram = headers.isProgram { segment in
      try? read(bias &+ segment.p_vaddr, Int(min(segment.p_filesz, Self.mostDynamic)))
    }
    identity = ImageIdentity(
      path: mapping.path, format: .elf, bits: header.bits, byteOrder: header.order,
      machine: ELFMachine(number: header.machine, bits: header.bits, order: header.order).name,
      kind: isProgram ? .executable : .shared, id: id)
    (self.mapping, self.read, self.headers, self.loads) = (mapping, read, headers, loads)
    (self.bias, headerAddress, self.notes) = (bias, first.p_vaddr, notes)
    constants = loads.compactMap { segment in
      let start = bias &+ segment.p_vaddr
      let (end, overflow) = start.addingReportingOverflow(segment.p_filesz)
      return overflow || segment.isWritable ? nil : (start..<end, segment.p_offset)
    }
  }

  /// The most bytes of a section to copy.
  private static let mostBytes: UInt64 = 1 << 28

  /// Returns every section of this name. Finds only the three of this package.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    if found == nil { found = try findSections() }
    return found?.filter { $0.name == name } ?? []
  }

  /// Calls `body` with a copy of the section as it is now.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    try mapping.check(
      section.size <= Self.mostBytes, .malformed, "It claims \(section.size) bytes.",
      section: section)
    let bytes = try bytes(at: section.address.rawValue &+ bias, count: Int(section.size), section)
    bytesRead += bytes.count
    return body(bytes.span)
  }

  /// Returns the pointer at `offset`, with the value that the loader has written.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let size = pointerSize
    guard section.size >= UInt64(size), offset <= section.size - UInt64(size),
      let address = section.address.advanced(by: offset)
    else {
      throw mapping.error(
        .truncated, "A pointer at offset \(offset) does not fit.", section: section)
    }
    let bytes = try bytes(at: address.rawValue &+ bias, count: size, section)
    let word = identity.byteOrder.number(of: bytes[...])
    if word == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    let linked = VirtualAddress(rawValue: word &- bias)
    let target: PointerValue.Target =
      holds(linked)
      ? .address(linked) : .foreign(RuntimeAddress(rawValue: UInt(truncatingIfNeeded: word)))
    return PointerValue(rawValue: word, target: target, resolution: .loaded)
  }

  /// Calls `body` with a copy of the text at a target inside the image.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard case .address(let address) = target, holds(address) else {
      throw mapping.error(.outOfImage, "The pointer does not lead into the image.")
    }
    var text: [UInt8] = []
    var place = address.rawValue &+ bias
    while text.count <= limit {
      // Up to the end of a page: the next page may not be mapped.
      let count = 4096 - Int(truncatingIfNeeded: place & 4095)
      let chunk = try read(place, count)
      if let end = chunk.firstIndex(of: 0) {
        guard text.count + end <= limit else { break }
        text += chunk[..<end]
        return body(text.span)
      }
      guard chunk.count == count else { break }
      text += chunk
      place = place &+ UInt64(count)
    }
    throw mapping.error(
      .unterminated,
      "No NUL ends the text at \(address.rawValue.hexadecimal) within \(limit) bytes, or it is not "
        + "there any more.")
  }

  /// Returns the bytes at an address of the process.
  func bytes(
    at address: UInt64, count: Int, _ section: Section? = nil
  ) throws(ImageError) -> [UInt8] {
    let bytes = try read(address, count)
    try mapping.check(
      bytes.count == count, .truncated,
      "Of \(count) bytes at \(address.hexadecimal), \(bytes.count) are there.",
      section: section)
    return bytes
  }

  // MARK: - Where the sections are

  private func findSections() throws(ImageError) -> [Section] {
    var (reason, flaw): (ImageError?, ImageError?)
    do throws(ImageError) {
      if let sections = try notedSections() { return sections }
    } catch {
      flaw = error
    }
    for path in mapping.files {
      do throws(ImageError) {
        return try sections(inFile: path)
      } catch {
        if reason?.code != .replaced { reason = error }
      }
    }
    if mapping.isDeleted || mapping.isReplaced {
      throw mapping.error(
        .replaced,
        "The file is gone or replaced, and the image has no note that says where its sections are"
          + (flaw.map { ": \($0.message)" } ?? "."))
    }
    throw reason ?? mapping.error(.unreadable, "The image has no file.")
  }

  /// Returns the entry sections in the section table of a file. Throws unless it is the mapped file.
  private func sections(inFile path: String) throws(ImageError) -> [Section] {
    let file = try ELFFile(path: path, name: mapping.path)
    try mapping.check(agrees(with: file), .replaced, "The file is not the one that is mapped.")
    var sections: [Section] = []
    for name in SectionNote.names {
      sections += try file.sections(named: name).filter { $0.flags.contains("A") }
    }
    return sections
  }

  // MARK: - Headers

  /// Returns whether a segment of the image is loaded at a linked address.
  private func holds(_ address: VirtualAddress) -> Bool {
    loads.contains { $0.holds(address.rawValue) }
  }

  /// Returns the sections that the image's own note lists; nil if it has none. Several notes must agree.
  private func notedSections() throws(ImageError) -> [Section]? {
    let note = try SectionNote.read(
      notes, header: VirtualAddress(rawValue: headerAddress),
      isFixed: headers.header.type == UInt16(ET_EXEC), bits: identity.bits,
      order: identity.byteOrder
    ) { code, message, _ in mapping.error(code, message) }
    return try note?.sections(
      in: nil, word: identity.bits / 8,
      at: { start, size in
        loads.last { $0.holds(start.rawValue) }
          .flatMap {
            let end = (start.rawValue - $0.p_vaddr).saturating(adding: size)
            return end <= $0.p_filesz ? $0.extent : nil
          }
      }, failure: { mapping.error(.malformed, "\($0): \($1)") })
  }

  /// The type of a runtime's note. Its descriptor: the version, and the distances to the header and the record.
  private static let stateNote: UInt32 = 0x4245_4503

  /// Returns the address of the runtime's state record in the process; nil if the image
  /// has no runtime that keeps one.
  func stateRecord() throws(ImageError) -> UInt64? {
    guard let note = notes.first(where: { $0.type == Self.stateNote }) else {
      return nil
    }
    func distance(at offset: Int) -> UInt64? {
      SectionNote.distance(at: offset, of: note.descriptor.span, identity.byteOrder)
    }
    guard distance(at: 0) == 1, let header = distance(at: 4), let record = distance(at: 8) else {
      throw mapping.error(
        .unsupported,
        "Its note of the state record is of a version that this reader does not know.")
    }
    // A tool that moves notes leaves the distances as they were.
    let moved = headerAddress &- (note.address &+ 4 &+ header)
    let place = VirtualAddress(rawValue: note.address &+ 8 &+ record &+ moved)
    try mapping.check(
      holds(place), .malformed, "Its note tells of a state record outside the image.")
    return place.rawValue &+ bias
  }

  /// Returns whether the image was mapped from a file: both have the same headers.
  func agrees(with file: ELFFile) throws(ImageError) -> Bool {
    let head = headers.head.prefix(ELFHeader.size(bits: identity.bits))
    let theirs = try file.file.slice(at: 0, count: head.count)
    guard ELFHeader.areOfOneBuild(head, theirs),
      try file.programHeaderBytes().elementsEqual(headers.programHeaders)
    else { return false }
    return identity.id.isEmpty || file.identity.id == identity.id
  }
}
