package import BinaryImage
internal import CElf

/// An image in the memory of another process, where the loader has resolved its pointers.
///
/// Its headers are read from that memory. Where its sections are, the image's own note says, or
/// else its file, if that is the one that is mapped. The process may change or end meanwhile: what
/// is not there any more is an error. Use one value on one thread.
package final class RemoteImage: Image {
  /// What the image is.
  package let identity: ImageIdentity
  /// Where it is mapped, and what became of its file.
  package let mapping: RemoteMapping
  let memory: any RemoteMemory
  let headers: RemoteHeaders
  private var found: [Section]?

  init(_ mapping: RemoteMapping, in memory: any RemoteMemory) throws(ImageError) {
    let headers = try RemoteHeaders(of: mapping, in: memory)
    self.mapping = mapping
    self.memory = memory
    self.headers = headers
    identity = headers.identity
  }

  /// The most bytes of a section that are copied.
  private static let mostBytes: UInt64 = 1 << 28

  /// Every section of this name; only the three of this package are looked for.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    if found == nil { found = try findSections() }
    return found?.filter { $0.name == name } ?? []
  }

  /// Lends a copy of the section as it is now.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    try mapping.check(
      section.size <= Self.mostBytes, .malformed, "It claims \(section.size) bytes.",
      section: section)
    let bytes = try bytes(at: section.address, count: Int(section.size), section)
    return body(bytes.span)
  }

  /// The pointer at `offset`, with the value that the loader has written.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let size = pointerSize
    guard section.size >= UInt64(size), offset <= section.size - UInt64(size),
      let address = section.address.advanced(by: offset)
    else {
      throw mapping.error(
        .truncated, "A pointer at offset \(offset) does not fit.", section: section)
    }
    let bytes = try bytes(at: address, count: size, section)
    let word = identity.byteOrder.number(of: bytes[...])
    if word == 0 { return PointerValue(rawValue: 0, target: .null, resolution: .none) }
    let linked = VirtualAddress(rawValue: word &- headers.bias)
    let target: PointerValue.Target =
      headers.holds(linked)
      ? .address(linked) : .foreign(RuntimeAddress(rawValue: UInt(truncatingIfNeeded: word)))
    return PointerValue(rawValue: word, target: target, resolution: .loaded)
  }

  /// Lends a copy of the text at a target inside the image.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard case .address(let address) = target, headers.holds(address) else {
      throw mapping.error(.outOfImage, "The pointer does not lead into the image.")
    }
    let text = try text(from: address, limit: limit)
    return body(text.span)
  }

  /// The text at a linked address, without its NUL.
  private func text(from start: VirtualAddress, limit: Int) throws(ImageError) -> [UInt8] {
    var text: [UInt8] = []
    var address = start.rawValue &+ headers.bias
    while text.count <= limit {
      // Up to the end of a page: what comes next may not be mapped.
      let count = 4096 - Int(truncatingIfNeeded: address & 4095)
      let chunk = try memory.read(at: address, count: count)
      if let end = chunk.firstIndex(of: 0) {
        guard text.count + end <= limit else { break }
        return text + chunk[..<end]
      }
      guard chunk.count == count else { break }
      text += chunk
      address = address &+ UInt64(count)
    }
    throw mapping.error(
      .unterminated,
      "No NUL ends the text at \(start.rawValue.hexadecimal) within \(limit) bytes, or it is not "
        + "there any more.")
  }

  private func bytes(
    at address: VirtualAddress, count: Int, _ section: Section
  ) throws(ImageError) -> [UInt8] {
    let bytes = try memory.read(at: address.rawValue &+ headers.bias, count: count)
    try mapping.check(
      bytes.count == count, .truncated,
      "Of \(count) bytes at \(address.rawValue.hexadecimal), \(bytes.count) are there.",
      section: section)
    return bytes
  }

  // MARK: - Where the sections are

  private func findSections() throws(ImageError) -> [Section] {
    if let note = try headers.sectionNote() {
      return try note.sections { name, extent throws(ImageError) in
        try mapping.check(
          extent.start < extent.stop && headers.holds(extent.start), .malformed,
          "The note tells of \(name) where the image has nothing.")
        return nil
      }
    }
    var reason: ImageError?
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
        "The file is gone or replaced, and the image has no note that says where its sections are.")
    }
    throw reason ?? mapping.error(.unreadable, "The image has no file.")
  }

  /// What the section table of a file tells, if that is the one that is mapped.
  private func sections(inFile path: String) throws(ImageError) -> [Section] {
    let file = try ELFFile(path: path, name: mapping.path)
    try mapping.check(
      headers.agree(with: file.file), .replaced, "The file is not the one that is mapped.")
    var sections: [Section] = []
    for name in SectionNote.names {
      sections += try file.sections(named: name).filter { $0.flags.contains("A") }
    }
    return sections
  }
}
