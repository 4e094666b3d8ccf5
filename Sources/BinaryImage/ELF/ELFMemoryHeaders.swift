internal import CElf

/// The headers of an image as another process has them in memory, or as a core file kept them.
///
/// libelf reads copies of them: a header that leads to the copied program headers, and to no sections, which no
/// process maps.
///
/// ELF: `elf_memory`, `gelf_getehdr`, `gelf_getphdr`, `gelf_getdyn`.
package struct ELFMemoryHeaders {
  package let header: ELFHeader
  package let segments: [ELFSegment]
  /// The program headers as they are in memory.
  package let programHeaders: [UInt8]

  /// The most bytes that an ELF header has, of either class.
  package static let headSize = ELFHeader.size(bits: 64)
  /// More program headers than any linker writes.
  private static let mostSegments = 1 << 10

  /// Reads the headers of an image that starts with `head`.
  ///
  /// - Parameters:
  ///   - head: The first `headSize` bytes of the image.
  ///   - failure: Makes the errors.
  ///   - read: Copies the bytes at a distance from the image's start.
  package init(
    _ head: [UInt8], failure: (ImageError.Code, String) -> ImageError,
    read: (_ offset: UInt64, _ count: Int) throws(ImageError) -> [UInt8]
  ) throws(ImageError) {
    guard head.count >= Self.headSize, ELFFile.recognises(head),
      let format = ELFFormat(identity: head)
    else { throw failure(.notAnObject, "What is mapped does not start with an ELF header.") }
    let first = try Self.read(head, [], format, failure)
    let size = format.size(of: ELF_T_PHDR)
    let count = Int(first.header.e_phnum)
    guard 1...Self.mostSegments ~= count, Int(first.header.e_phentsize) == size else {
      throw failure(.malformed, "It claims \(count) program headers.")
    }
    programHeaders = try read(first.header.e_phoff, count * size)
    guard programHeaders.count == count * size else {
      throw failure(.truncated, "Its program headers are not there.")
    }
    let whole = try Self.read(head, programHeaders, format, failure)
    let table = ELFHeader.Table(
      offset: first.header.e_phoff, count: UInt64(count), isComplete: true)
    header = ELFHeader(
      whole.header, sections: ELFHeader.Table(offset: 0, count: 0, isComplete: true),
      segments: table, order: format.order)
    segments = whole.segments
  }

  /// Returns whether the image is a program; `dynamic` answers the values of its tags.
  package func isProgram(_ dynamic: () -> ((_ tag: Int64) -> UInt64?)?) -> Bool {
    ELFFile.isProgram(
      header, hasInterpreter: segments.contains { $0.type == UInt32(PT_INTERP) },
      dynamic: dynamic)
  }

  /// The values of the tags in the bytes of a dynamic section, up to `DT_NULL`.
  package func tags(
    in bytes: [UInt8], failure: (String) -> ImageError
  ) throws(ImageError) -> [Int64: UInt64] {
    guard !bytes.isEmpty else { return [:] }
    let capsule = try ELFCapsule(header.format, of: bytes.span, refusal: failure)
    var (tags, row, index): ([Int64: UInt64], GElf_Dyn, Int32) = ([:], GElf_Dyn(), 0)
    guard let data = unsafe capsule.data(ELF_T_DYN) else { return [:] }
    while unsafe gelf_getdyn(data, index, &row) != nil, row.d_tag != DT_NULL {
      tags[row.d_tag] = unsafe row.d_un.d_val
      index += 1
    }
    return tags
  }

  /// The notes of a segment whose bytes these are.
  package func notes(
    in bytes: Span<UInt8>, of segment: ELFSegment, failure: (String) -> ImageError
  ) throws(ImageError) -> [ELFNote] {
    try ELFNote.notes(
      in: bytes, alignment: segment.alignment, order: header.order, refusal: failure)
  }

  private static func read(
    _ head: [UInt8], _ programHeaders: [UInt8], _ format: ELFFormat,
    _ failure: (ImageError.Code, String) -> ImageError
  ) throws(ImageError) -> (header: GElf_Ehdr, segments: [ELFSegment]) {
    format.bits == 64
      ? try read(Elf64_Ehdr(head[...]), programHeaders, format, failure)
      : try read(Elf32_Ehdr(head[...]), programHeaders, format, failure)
  }

  private static func read<Header: ELFRawHeader>(
    _ head: Header?, _ programHeaders: [UInt8], _ format: ELFFormat,
    _ failure: (ImageError.Code, String) -> ImageError
  ) throws(ImageError) -> (header: GElf_Ehdr, segments: [ELFSegment]) {
    guard var head else { throw failure(.truncated, "Its header is not there.") }
    let start = 64
    (head.e_shoff, head.e_shnum, head.e_shstrndx) = (0, 0, 0)
    // Without program headers, what the header says of them is left as it is, and libelf does not look.
    if !programHeaders.isEmpty {
      let offset = Header.Word(start)
      head.e_phoff = format.order == .ofThisProcess ? offset : offset.byteSwapped
    }
    var bytes = unsafe withUnsafeBytes(of: head) { unsafe [UInt8]($0) }
    bytes += [UInt8](repeating: 0, count: start - bytes.count) + programHeaders
    let size = bytes.count
    // libelf may write there, and wants it aligned.
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    defer { unsafe copy.deallocate() }
    unsafe copy.copyBytes(from: bytes)
    guard ELFCapsule.isUsable,
      let elf = unsafe elf_memory(copy.baseAddress?.assumingMemoryBound(to: CChar.self), size)
    else {
      throw failure(.unreadable, "libelf does not open its headers: \(ELFCapsule.lastMessage).")
    }
    defer { unsafe elf_end(elf) }
    var (header, segments, one): (GElf_Ehdr, [ELFSegment], GElf_Phdr) = (
      GElf_Ehdr(), [], GElf_Phdr()
    )
    guard unsafe gelf_getehdr(elf, &header) != nil else {
      throw failure(.unreadable, "libelf does not read its header: \(ELFCapsule.lastMessage).")
    }
    guard !programHeaders.isEmpty else { return (header, []) }
    for index in 0..<Int32(header.e_phnum) {
      guard unsafe gelf_getphdr(elf, index, &one) != nil else {
        throw failure(
          .malformed, "libelf does not read program header \(index): \(ELFCapsule.lastMessage).")
      }
      segments.append(ELFSegment(one))
    }
    return (header, segments)
  }
}

extension ELFFormat {
  /// The class and the order that `e_ident` says; nil if it says neither of two.
  fileprivate init?(identity head: [UInt8]) {
    let kinds = [UInt8(ELFCLASS32): 32, UInt8(ELFCLASS64): 64]
    let orders = [UInt8(ELFDATA2LSB): ImageIdentity.ByteOrder.little, UInt8(ELFDATA2MSB): .big]
    guard let bits = kinds[head[Int(EI_CLASS)]], let order = orders[head[Int(EI_DATA)]] else {
      return nil
    }
    self.init(bits: bits, order: order, machine: UInt16(EM_NONE))
  }
}
