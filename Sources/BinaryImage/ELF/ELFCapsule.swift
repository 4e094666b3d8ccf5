internal import CElf
internal import LibC

/// A clean ELF header of ours with copied bytes after it, which libelf reads in memory.
///
/// No count or size of a foreign header reaches libelf this way, what it makes room for goes with the capsule,
/// and a file that shrinks is noticed by the read before. The headers of other processes, core files and large
/// tables of files, piece by piece, are read so. One capsule, one thread.
///
/// ELF: `elf_memory`, `elf_getdata_rawchunk`.
@safe struct ELFCapsule: ~Copyable {
  // Sound: both are valid until deinit, libelf reads only the memory, and neither is handed out.
  private let memory: UnsafeMutableRawBufferPointer
  private let elf: OpaquePointer
  private let start: Int

  /// Whether libelf was told which version of ELF its callers know: `elf_version`.
  static let isUsable = elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE)

  /// Makes a capsule of `count` bytes, which `fill` copies.
  ///
  /// - Throws: What `fill` throws; the error of `refusal` if libelf does not open it.
  init(
    _ format: ELFFormat, count: Int, refusal: (String) -> ImageError,
    fill: (UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
  ) throws(ImageError) {
    let start = (ELFHeader.size(bits: format.bits) + 15) & ~15
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: start + count, alignment: 16)
    if format.bits == 64 {
      unsafe Self.write(Elf64_Ehdr(), format, to: memory)
    } else {
      unsafe Self.write(Elf32_Ehdr(), format, to: memory)
    }
    do throws(ImageError) {
      try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
    } catch {
      unsafe memory.deallocate()
      throw error
    }
    guard Self.isUsable,
      let elf = unsafe elf_memory(
        memory.baseAddress?.assumingMemoryBound(to: CChar.self), memory.count)
    else {
      unsafe memory.deallocate()
      throw refusal(Self.lastMessage)
    }
    (self.start) = start
    unsafe (self.memory, self.elf) = (memory, elf)
  }

  /// Makes a capsule of bytes that are at hand.
  init(
    _ format: ELFFormat, of bytes: Span<UInt8>, refusal: (String) -> ImageError
  ) throws(ImageError) {
    let size = bytes.count
    // A span cannot be captured: its buffer can, for the length of the call.
    self = try unsafe bytes.withUnsafeBytes { source throws(ImageError) in
      try unsafe ELFCapsule(format, count: size, refusal: refusal) { room in
        unsafe room.copyMemory(from: source)
      }
    }
  }

  deinit {
    unsafe elf_end(elf)
    unsafe memory.deallocate()
  }

  /// The copied bytes as structures of one type, in the byte order of this process; nil if libelf refuses.
  ///
  /// Valid as long as the capsule.
  func data(_ type: Elf_Type) -> UnsafeMutablePointer<Elf_Data>? {
    unsafe elf_getdata_rawchunk(elf, Int64(start), memory.count - start, type)
  }

  /// Why libelf refused, in its own words: `elf_errmsg`.
  static var lastMessage: String {
    guard let text = unsafe elf_errmsg(-1) else { return "no reason" }
    return unsafe String(cString: text)
  }

  /// The header that libelf needs to know how the rest is laid out.
  private static func write<Header: ELFRawHeader>(
    _ empty: Header, _ format: ELFFormat, to memory: UnsafeMutableRawBufferPointer
  ) {
    var header = empty
    func file<Number: FixedWidthInteger>(_ number: Number) -> Number {
      format.order == .ofThisProcess ? number : number.byteSwapped
    }
    (header.e_type, header.e_machine) = (file(UInt16(ET_DYN)), file(format.machine))
    header.e_version = file(UInt32(EV_CURRENT))
    header.e_ehsize = file(UInt16(MemoryLayout<Header>.size))
    unsafe withUnsafeMutableBytes(of: &header) { bytes in
      let kind = Header.bits == 64 ? ELFCLASS64 : ELFCLASS32
      let data = format.order == .little ? ELFDATA2LSB : ELFDATA2MSB
      unsafe bytes.copyBytes(
        from: [0x7f, 0x45, 0x4c, 0x46, UInt8(kind), UInt8(data), UInt8(EV_CURRENT)])
      unsafe memory.copyMemory(from: UnsafeRawBufferPointer(bytes))
    }
  }
}
