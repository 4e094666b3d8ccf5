internal import CElf

/// One descriptor of libelf, `Elf *`: every structure of an ELF file is read through one.
///
/// For a file it serves the headers. A **capsule** is a descriptor of memory: a header with copied bytes after it. In a
/// capsule with a clean header, no count or size of a foreign header reaches libelf. libelf's allocations end with the
/// capsule, and the read before notices a file that shrinks. Large tables, other processes and core files are read this
/// way, piece by piece. One descriptor, one thread.
///
/// ELF: `elf_begin`, `elf_memory`, `gelf_getehdr`, `gelf_getshdr`, `gelf_getphdr`, `elf_getdata_rawchunk`.
@safe struct ELFDescriptor: ~Copyable {
  // Sound: valid until deinit, and never handed out. libelf may write to the memory, and reads no other.
  private let elf: OpaquePointer
  private let memory: UnsafeMutableRawBufferPointer?
  /// The offset of a capsule's copied bytes.
  private let start: Int

  /// Makes the error of a refusal from libelf's own words.
  typealias Refusal = (String) -> ImageError

  /// Whether libelf knows this version of ELF. It opens nothing before this `elf_version`.
  private static let isUsable = elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE)

  private init(
    _ memory: UnsafeMutableRawBufferPointer?, start: Int, _ refusal: Refusal,
    open: () -> OpaquePointer?
  ) throws(ImageError) {
    guard Self.isUsable, let elf = unsafe open() else {
      unsafe memory?.deallocate()
      throw refusal(Self.lastMessage)
    }
    self.start = start
    unsafe (self.elf, self.memory) = (elf, memory)
  }

  deinit {
    unsafe elf_end(elf)
    unsafe memory?.deallocate()
  }

  /// Opens a whole file whose header the guard has read; it must outlive the descriptor.
  ///
  /// With `ELF_C_READ`, because a mapped file raises SIGBUS when it shrinks.
  init(_ file: OpenedFile, _ refusal: Refusal) throws(ImageError) {
    try unsafe self.init(nil, start: 0, refusal) {
      unsafe elf_begin(file.descriptor, ELF_C_READ, nil)
    }
  }

  /// Makes a capsule of a whole file that is part of a larger one.
  init(copyOf bytes: [UInt8], _ refusal: Refusal) throws(ImageError) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe memory.copyBytes(from: bytes)
    try unsafe self.init(memory, start: 0, refusal) { unsafe Self.open(memory) }
  }

  /// Makes a capsule of a foreign header, which leads to the copied tables and to nothing else.
  init(
    head: ArraySlice<UInt8>, sections: ArraySlice<UInt8> = [], segments: ArraySlice<UInt8> = [],
    _ format: ELFFormat, _ refusal: Refusal
  ) throws(ImageError) {
    var bytes: [UInt8] = []
    if format.bits == 64, let header = Elf64_Ehdr(head) {
      bytes = Self.leading(header, to: sections, segments, format)
    } else if let header = Elf32_Ehdr(head) {
      bytes = Self.leading(header, to: sections, segments, format)
    }
    try self.init(copyOf: bytes, refusal)
  }

  /// Makes a capsule of `count` bytes, which `fill` copies after a clean header.
  ///
  /// - Throws: The error of `fill`, or of `refusal` if libelf does not open it.
  init(
    _ format: ELFFormat, count: Int, _ refusal: Refusal,
    fill: (UnsafeMutableRawBufferPointer) throws(ImageError) -> Void
  ) throws(ImageError) {
    let header =
      format.bits == 64 ? Self.clean(Elf64_Ehdr(), format) : Self.clean(Elf32_Ehdr(), format)
    let start = (header.count + 15) & ~15
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: start + count, alignment: 16)
    unsafe memory.copyBytes(from: header)
    do throws(ImageError) {
      try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
    } catch {
      unsafe memory.deallocate()
      throw error
    }
    try unsafe self.init(memory, start: start, refusal) { unsafe Self.open(memory) }
  }

  private static func open(_ memory: UnsafeMutableRawBufferPointer) -> OpaquePointer? {
    unsafe elf_memory(memory.baseAddress?.assumingMemoryBound(to: CChar.self), memory.count)
  }

  /// The reason that libelf refused, in its own words: `elf_errmsg`.
  static var lastMessage: String {
    guard let text = unsafe elf_errmsg(-1) else { return "it gives no reason" }
    return unsafe String(cString: text)
  }

  // MARK: - Headers

  /// The ELF header; nil if libelf takes this for no ELF file.
  var header: GElf_Ehdr? {
    var header = GElf_Ehdr()
    let isRead = unsafe elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != nil
    return isRead ? header : nil
  }

  /// The index of the section that holds the names, extended numbering included; nil if there is none.
  var nameSection: Int? {
    var index = 0
    return unsafe elf_getshdrstrndx(elf, &index) == 0 && index > 0 ? index : nil
  }

  /// Returns the first `count` section headers; fewer if libelf cannot read one of them.
  func sections(_ count: Int) -> [GElf_Shdr] {
    var (sections, header): ([GElf_Shdr], GElf_Shdr) = ([], GElf_Shdr())
    sections.reserveCapacity(count)
    while sections.count < count, let section = unsafe elf_getscn(elf, sections.count),
      unsafe gelf_getshdr(section, &header) != nil
    {
      sections.append(header)
    }
    return sections
  }

  /// Returns the first `count` program headers; fewer if libelf cannot read one of them.
  func segments(_ count: Int) -> [GElf_Phdr] {
    var (segments, header): ([GElf_Phdr], GElf_Phdr) = ([], GElf_Phdr())
    segments.reserveCapacity(count)
    while segments.count < count, unsafe gelf_getphdr(elf, Int32(segments.count), &header) != nil {
      segments.append(header)
    }
    return segments
  }

  // MARK: - Contents

  /// Returns the copied bytes as structures of one type, in the byte order of this process; nil if libelf refuses.
  ///
  /// Valid as long as the capsule.
  func data(_ type: Elf_Type) -> UnsafeMutablePointer<Elf_Data>? {
    guard let memory = unsafe memory else { return nil }
    return unsafe elf_getdata_rawchunk(elf, Int64(start), memory.count - start, type)
  }

  /// Returns the inflated bytes of a section with `SHF_COMPRESSED` that the guard has admitted; nil if libelf refuses.
  ///
  /// libelf rewrites the header of an inflated section and keeps the bytes, so read headers from another descriptor.
  /// The bytes are in the order of the file, not of this process.
  ///
  /// ELF: `elf_compress`, `elf_rawdata`.
  func inflated(_ index: Int) -> [UInt8]? {
    var header = GElf_Shdr()
    guard let section = unsafe elf_getscn(elf, index), unsafe gelf_getshdr(section, &header) != nil
    else { return nil }
    // libelf inflates no section that is loaded; in an object that flag is only a plan.
    header.sh_flags &= ~UInt64(SHF_ALLOC)
    guard unsafe gelf_update_shdr(section, &header) != 0,
      unsafe header.sh_flags & UInt64(SHF_COMPRESSED) == 0 || elf_compress(section, 0, 0) >= 0,
      let data = unsafe elf_rawdata(section, nil)
    else { return nil }
    // Sound: libelf owns the `d_size` bytes at `d_buf` until deinit; they are copied at once.
    let bytes = unsafe UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
    return unsafe [UInt8](bytes)
  }

  // MARK: - Headers of capsules

  /// Returns the bytes of a header that says only how the rest is laid out.
  private static func clean<Header: ELFRawHeader>(_ empty: Header, _ format: ELFFormat) -> [UInt8] {
    var header = empty
    (header.e_type, header.e_machine) = (format.file(UInt16(ET_DYN)), format.file(format.machine))
    header.e_version = format.file(UInt32(EV_CURRENT))
    let kind = format.bits == 64 ? ELFCLASS64 : ELFCLASS32
    let data = format.order == .little ? ELFDATA2LSB : ELFDATA2MSB
    let identity = [0x7f, 0x45, 0x4c, 0x46, UInt8(kind), UInt8(data), UInt8(EV_CURRENT)]
    var bytes = header.bytes
    bytes.replaceSubrange(..<identity.count, with: identity)
    return bytes
  }

  /// Returns the bytes of a header and of the tables that it leads to.
  private static func leading<Header: ELFRawHeader>(
    _ foreign: Header, to sections: ArraySlice<UInt8>, _ segments: ArraySlice<UInt8>,
    _ format: ELFFormat
  ) -> [UInt8] {
    var (header, bytes) = (foreign, [UInt8](repeating: 0, count: ELFHeader.size(bits: 64)))
    // A missing section table is written as missing. Without segments the header still says how many there should be.
    header.e_shoff = format.file(Header.Word(sections.isEmpty ? 0 : bytes.count))
    if sections.isEmpty { (header.e_shnum, header.e_shstrndx) = (0, 0) }
    bytes += sections
    bytes += [UInt8](repeating: 0, count: -bytes.count & 15)
    if !segments.isEmpty { header.e_phoff = format.file(Header.Word(bytes.count)) }
    bytes += segments
    bytes.replaceSubrange(..<MemoryLayout<Header>.size, with: header.bytes)
    return bytes
  }
}
