package import CElf

/// The headers of an image as another process has them in memory: libelf reads copies of them, in capsules.
///
/// ELF: `gelf_getehdr`, `gelf_getphdr`, `gelf_getnote`, `gelf_getdyn`.
package struct ELFMemoryHeaders {
  package let header: ELFHeader
  package let segments: [GElf_Phdr]
  /// The program headers as they are in memory.
  package let programHeaders: [UInt8]

  /// The most bytes that an ELF header has, of either class.
  package static let headSize = ELFHeader.size(bits: 64)
  /// More program headers than any linker writes.
  private static let mostSegments = 1 << 10

  /// Reads the headers of an image.
  ///
  /// - Parameters:
  ///   - head: The first `headSize` bytes of the image.
  ///   - failure: Makes the errors.
  ///   - read: Copies the bytes at a distance from the image's start.
  /// - Throws: ``ImageError`` if libelf does not read them, or `read` fails.
  package init(
    _ head: [UInt8], failure: (ImageError.Code, String) -> ImageError,
    read: (_ offset: UInt64, _ count: Int) throws(ImageError) -> [UInt8]
  ) throws(ImageError) {
    guard head.count >= Self.headSize, let format = ELFFormat(identity: head) else {
      throw failure(.notAnObject, "What is mapped does not start with an ELF header.")
    }
    func refusal(_ reason: String) -> ImageError {
      failure(.unreadable, "libelf does not read its headers: \(reason).")
    }
    guard let first = try ELFDescriptor(head: head[...], format, refusal).header else {
      throw refusal(ELFDescriptor.lastMessage)
    }
    let (size, count) = (format.size(of: ELF_T_PHDR), Int(first.e_phnum))
    guard 1...Self.mostSegments ~= count, Int(first.e_phentsize) == size else {
      throw failure(.malformed, "It claims \(count) program headers.")
    }
    programHeaders = try read(first.e_phoff, count * size)
    guard programHeaders.count == count * size else {
      throw failure(.truncated, "Its program headers are not there.")
    }
    let descriptor = try ELFDescriptor(
      head: head[...], segments: programHeaders[...], format, refusal)
    segments = descriptor.segments(count)
    guard segments.count == count else { throw refusal(ELFDescriptor.lastMessage) }
    header = ELFHeader(
      first, format.order, sections: .none,
      segments: ELFHeader.Table(offset: first.e_phoff, count: UInt64(count), isComplete: true))
  }

  /// Returns whether the image is a program; `read` copies the bytes of its dynamic section.
  package func isProgram(_ read: (GElf_Phdr) -> [UInt8]?) -> Bool {
    let hasInterpreter = segments.contains { $0.p_type == UInt32(PT_INTERP) }
    return ELFFile.isProgram(header, hasInterpreter: hasInterpreter) {
      let segment = segments.last { $0.p_type == UInt32(PT_DYNAMIC) }
      guard let bytes = segment.flatMap(read), let tags = tags(in: bytes) else { return nil }
      return { tags[$0] }
    }
  }

  /// The values of the tags in the bytes of a dynamic section, up to `DT_NULL`; nil if libelf does not read them.
  private func tags(in bytes: [UInt8]) -> [Int64: UInt64]? {
    guard !bytes.isEmpty else { return [:] }
    let failure = { ImageError(.unreadable, image: "", message: $0) }
    let capsule = try? unsafe ELFDescriptor(header.format, count: bytes.count, failure) {
      unsafe $0.copyBytes(from: bytes)
    }
    guard let capsule, let data = unsafe capsule.data(ELF_T_DYN) else { return nil }
    var (tags, row, index): ([Int64: UInt64], GElf_Dyn, Int32) = ([:], GElf_Dyn(), 0)
    while unsafe gelf_getdyn(data, index, &row) != nil, row.d_tag != DT_NULL {
      tags[row.d_tag] = unsafe row.d_un.d_val
      index += 1
    }
    return tags
  }
}
