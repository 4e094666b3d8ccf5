internal import CElf

/// libelf's view of one file, for what it inflates.
///
/// Opened with `ELF_C_READ`: mapped files raise SIGBUS when they shrink. One value, one thread.
@safe final class ELFHandle {
  // Sound: valid from elf_begin until deinit, and never handed out.
  private let elf: OpaquePointer
  // What libelf reads where the file is a part of a larger one; libelf may write there.
  private let copy: UnsafeMutableRawBufferPointer?
  private static let isUsable = elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE)

  /// Opens `file`, whose header has been checked; `file` must outlive the handle.
  init(_ file: OpenedFile) throws(ImageError) {
    let copy = try unsafe Self.copy(ofPart: file)
    guard Self.isUsable, let elf = unsafe Self.begin(file, copy) else {
      unsafe copy?.deallocate()
      throw file.error(.unreadable, "libelf: \(Self.lastMessage).")
    }
    unsafe self.elf = elf
    unsafe self.copy = copy
  }

  deinit {
    unsafe elf_end(elf)
    unsafe copy?.deallocate()
  }

  private static func begin(
    _ file: OpenedFile, _ copy: UnsafeMutableRawBufferPointer?
  ) -> OpaquePointer? {
    // Sound: the copy lives until deinit, after libelf has let go of it.
    guard let copy = unsafe copy else { return unsafe elf_begin(file.descriptor, ELF_C_READ, nil) }
    return unsafe elf_memory(copy.baseAddress?.assumingMemoryBound(to: CChar.self), copy.count)
  }

  /// A copy of the part of a file that an archive's member is, aligned as libelf wants it; nil where
  /// libelf may read the file itself.
  private static func copy(
    ofPart file: OpenedFile
  ) throws(ImageError) -> UnsafeMutableRawBufferPointer? {
    guard !file.isWhole else { return nil }
    try file.check(
      file.size <= mostCopied, .unsupported,
      "The member has \(file.size) bytes, more than are read.")
    let bytes = try file.read(at: 0, count: Int(file.size))
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    unsafe copy.copyBytes(from: bytes)
    return unsafe copy
  }

  /// More bytes than any object has that a compiler writes.
  private static let mostCopied: UInt64 = 1 << 28

  /// The inflated contents of a section with `SHF_COMPRESSED`, or nil, and `lastMessage` says why.
  ///
  /// The caller has bounded `ch_size`, which libelf allocates. It rewrites the header of what it
  /// inflates, so a handle is for one use.
  func inflate(_ index: Int) -> [UInt8]? {
    var header = GElf_Shdr()
    guard let section = unsafe elf_getscn(elf, index), unsafe gelf_getshdr(section, &header) != nil
    else { return nil }
    // libelf inflates no section that is loaded; in an object that flag is only a plan.
    header.sh_flags &= ~UInt64(SHF_ALLOC)
    guard unsafe gelf_update_shdr(section, &header) != 0,
      unsafe header.sh_flags & UInt64(SHF_COMPRESSED) == 0 || elf_compress(section, 0, 0) >= 0,
      let data = unsafe elf_getdata(section, nil)
    else { return nil }
    // Sound: libelf owns the `d_size` bytes at `d_buf` until deinit; they are copied at once.
    let bytes = unsafe UnsafeRawBufferPointer(start: data.pointee.d_buf, count: data.pointee.d_size)
    return unsafe [UInt8](bytes)
  }

  /// Why libelf refused, in its own words: `elf_errmsg`.
  static var lastMessage: String {
    guard let text = unsafe elf_errmsg(-1) else { return "unknown error" }
    return unsafe String(cString: text)
  }
}
