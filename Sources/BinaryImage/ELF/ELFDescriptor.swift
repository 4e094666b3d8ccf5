internal import CElf

/// libelf's view of one file: its header, sections and program headers, and what it inflates.
///
/// The guard has read the header before. A file is opened with `ELF_C_READ`, because a mapped one raises SIGBUS
/// when it shrinks; of an archive's member, libelf gets a copy of the headers. One value, one thread.
///
/// ELF: `elf_begin`, `elf_memory`, `gelf_getehdr`, `gelf_getshdr`, `gelf_getphdr`.
@safe struct ELFDescriptor: ~Copyable {
  // Sound: valid from elf_begin until deinit, and never handed out.
  private let elf: OpaquePointer
  // What libelf reads of a part of a larger file; libelf may write there.
  private let copy: UnsafeMutableRawBufferPointer?
  private let file: OpenedFile
  let header: ELFHeader

  /// Opens `file`.
  ///
  /// - Throws: ``ImageError`` if the guard or libelf refuses it.
  init(_ file: OpenedFile) throws(ImageError) {
    let claims = try ELFGuard.claims(of: file)
    let copy = try unsafe file.isWhole ? nil : Self.headers(of: file, claims)
    guard let elf = unsafe Self.begin(file, copy) else {
      unsafe copy?.deallocate()
      throw Self.refusal(of: file)
    }
    var (header, sections, segments) = (GElf_Ehdr(), 0, 0)
    let isRead =
      unsafe elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != nil
      && elf_getshdrnum(elf, &sections) == 0
      && (!claims.segments.isComplete || elf_getphdrnum(elf, &segments) == 0)
    // Of a table that is cut off, libelf says that it is empty.
    let agrees =
      (!claims.sections.isComplete || sections == claims.sections.count)
      && (!claims.segments.isComplete || segments == claims.segments.count)
    guard isRead, agrees else {
      let error =
        isRead
        ? file.error(
          .malformed,
          "The header claims \(claims.sections.count) sections and \(claims.segments.count) segments, "
            + "libelf counts \(sections) and \(segments).") : Self.refusal(of: file)
      unsafe elf_end(elf)
      unsafe copy?.deallocate()
      throw error
    }
    self.header = ELFHeader(
      header, sections: claims.sections, segments: claims.segments, order: claims.order)
    self.file = file
    unsafe (self.elf, self.copy) = (elf, copy)
  }

  deinit {
    unsafe elf_end(elf)
    unsafe copy?.deallocate()
  }

  private static func begin(
    _ file: OpenedFile, _ copy: UnsafeMutableRawBufferPointer?
  ) -> OpaquePointer? {
    guard ELFCapsule.isUsable else { return nil }
    // Sound: the copy lives until deinit, after libelf has let go of it.
    guard let copy = unsafe copy else { return unsafe elf_begin(file.descriptor, ELF_C_READ, nil) }
    return unsafe elf_memory(copy.baseAddress?.assumingMemoryBound(to: CChar.self), copy.count)
  }

  private static func refusal(of file: OpenedFile) -> ImageError {
    file.error(.unreadable, "libelf does not open the file: \(ELFCapsule.lastMessage).")
  }

  // MARK: - Headers

  /// The index of the section that holds the names, extended numbering included; nil if libelf finds none.
  var nameSection: Int? {
    var index = 0
    return unsafe elf_getshdrstrndx(elf, &index) == 0 && index > 0 ? index : nil
  }

  /// The header of a section; nil if libelf has none.
  func section(_ index: Int) -> ELFSectionHeader? {
    var header = GElf_Shdr()
    guard let section = unsafe elf_getscn(elf, index), unsafe gelf_getshdr(section, &header) != nil
    else { return nil }
    return ELFSectionHeader(header)
  }

  /// The program headers.
  func segments() throws(ImageError) -> [ELFSegment] {
    try file.check(
      header.segments.isComplete, .truncated, "The file ends inside the program headers.",
      at: header.segments.offset)
    var segments: [ELFSegment] = []
    segments.reserveCapacity(Int(header.segments.count))
    var one = GElf_Phdr()
    for index in 0..<Int32(header.segments.count) {
      guard unsafe gelf_getphdr(elf, index, &one) != nil else { throw Self.refusal(of: file) }
      segments.append(ELFSegment(one))
    }
    return segments
  }

  // MARK: - Copies

  /// The headers of a part of a file, one after the other, as libelf expects them of a file.
  private static func headers(
    of file: OpenedFile, _ claims: ELFGuard.Claims
  ) throws(ImageError) -> UnsafeMutableRawBufferPointer {
    try unsafe claims.bits == 64
      ? headers(of: file, claims, Elf64_Ehdr.self) : headers(of: file, claims, Elf32_Ehdr.self)
  }

  private static func headers<Header: ELFRawHeader>(
    of file: OpenedFile, _ claims: ELFGuard.Claims, _ type: Header.Type
  ) throws(ImageError) -> UnsafeMutableRawBufferPointer {
    guard var header = Header(file.head[...]) else { throw refusal(of: file) }
    func place(_ offset: Int) -> Header.Word {
      let word = Header.Word(offset)
      return claims.order == .ofThisProcess ? word : word.byteSwapped
    }
    var bytes = [UInt8](repeating: 0, count: 64)
    (header.e_shoff, header.e_phoff) = (0, 0)
    func append(
      _ table: ELFHeader.Table, _ size: Int
    ) throws(ImageError) -> Header.Word {
      guard table.isComplete, table.count > 0 else { return 0 }
      let start = bytes.count
      bytes += try file.slice(at: table.offset, count: Int(table.count) * size)
      bytes += [UInt8](repeating: 0, count: -bytes.count & 15)
      return place(start)
    }
    header.e_shoff = try append(claims.sections, MemoryLayout<Header.Section>.size)
    header.e_phoff = try append(claims.segments, MemoryLayout<Header.Segment>.size)
    // A table that is cut off is none here, as libelf has it.
    if header.e_shoff == 0 { (header.e_shnum, header.e_shstrndx) = (0, 0) }
    if header.e_phoff == 0 { header.e_phnum = 0 }
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe copy.copyBytes(from: bytes)
    unsafe withUnsafeBytes(of: header) { unsafe copy.copyMemory(from: $0) }
    return unsafe copy
  }
}

/// A handle of libelf for one section that is inflated.
///
/// libelf rewrites the header of what it inflates, so a handle is for one use.
///
/// ELF: `elf_compress`, `elf_getdata`.
enum ELFInflation {
  /// Returns the inflated bytes of a section with `SHF_COMPRESSED`, which the guard has admitted; nil if libelf
  /// refuses, and `ELFCapsule.lastMessage` says why.
  static func bytes(of index: Int, in file: OpenedFile) throws(ImageError) -> [UInt8]? {
    guard ELFCapsule.isUsable else { return nil }
    guard file.isWhole else {
      try ELFGuard.admitCopy(of: file)
      var bytes = try file.read(at: 0, count: Int(file.size))
      // Sound: libelf is done with the bytes before they go.
      return unsafe bytes.withUnsafeMutableBytes { copy in
        unsafe inflate(
          index, elf_memory(copy.baseAddress?.assumingMemoryBound(to: CChar.self), copy.count))
      }
    }
    return unsafe inflate(index, elf_begin(file.descriptor, ELF_C_READ, nil))
  }

  private static func inflate(_ index: Int, _ elf: OpaquePointer?) -> [UInt8]? {
    guard let elf = unsafe elf else { return nil }
    defer { unsafe elf_end(elf) }
    var header = GElf_Shdr()
    guard let section = unsafe elf_getscn(elf, index), unsafe gelf_getshdr(section, &header) != nil
    else { return nil }
    // libelf inflates no section that is loaded; in an object that flag is only a plan.
    header.sh_flags &= ~UInt64(SHF_ALLOC)
    guard unsafe gelf_update_shdr(section, &header) != 0,
      unsafe header.sh_flags & UInt64(SHF_COMPRESSED) == 0 || elf_compress(section, 0, 0) >= 0,
      let data = unsafe elf_getdata(section, nil)
    else { return nil }
    // Sound: libelf owns the `d_size` bytes at `d_buf` until elf_end; they are copied at once.
    let bytes = unsafe UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
    return unsafe [UInt8](bytes)
  }
}
