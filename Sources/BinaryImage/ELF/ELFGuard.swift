internal import CElf

/// The one guard before libelf: it decides how much of a file libelf may see and copy.
///
/// libelf believes a file's counts and sizes and allocates what they claim. So the guard reads the header first, and
/// checks before each call that allocates or copies:
/// - header counts, extended ones too, against the bytes that the file stores, not its length;
/// - the extents of sections and tables against the file, also near 2^64;
/// - the bytes of all sections that are copied or inflated against one budget, since sections may share bytes;
/// - nothing is mapped (`ELF_C_READ_MMAP`), because a file may shrink, and nobody requests an archive's index
///   (`elf_getarsym`).
struct ELFGuard {
  /// The checked claims of a file's header.
  typealias Claims = (format: ELFFormat, sections: ELFHeader.Table, segments: ELFHeader.Table)

  /// The way out if a section is not inflated here.
  static let unpacking =
    "link without compression, or unpack debug sections with llvm-objcopy --decompress-debug-sections"

  /// More section or program headers than any linker writes.
  private static let mostHeaders: UInt64 = 1 << 20
  /// More bytes than the section names of any file have.
  private static let mostNames: UInt64 = 1 << 28
  /// More bytes than any object from a compiler has.
  private static let mostOfMember: UInt64 = 1 << 28
  /// More bytes than all notes of a file have.
  private static let mostNotes: UInt64 = 1 << 20
  /// More bytes of versions than any file has. libelf walks the chains of foreign files once more to swap them.
  private static let (mostVersions, mostForeignVersions): (UInt64, UInt64) = (1 << 20, 1 << 15)

  private let file: OpenedFile
  /// The bytes that sections may still be inflated to, and the bytes of notes that may still be read.
  private var budget: UInt64, noteBudget = ELFGuard.mostNotes

  init(_ file: OpenedFile) {
    self.file = file
    budget = min(ELFFile.mostContents, (1 << 22) + min(file.size, 1 << 32) * 32)
  }

  // MARK: - Before elf_begin

  /// Reads and checks the header of `file`; libelf must not see a header that this refuses.
  ///
  /// - Throws: ``ImageError`` that names the field and its fault.
  static func claims(of file: OpenedFile) throws(ImageError) -> Claims {
    let head = file.head
    try file.check(
      head.starts(with: [0x7f, 0x45, 0x4c, 0x46]), .notAnObject,
      "The file does not start with the ELF magic.")
    try file.check(head.count >= Int(EI_NIDENT), .truncated, "The file ends inside the ELF header.")
    let (kind, data, version) = (head[Int(EI_CLASS)], head[Int(EI_DATA)], head[Int(EI_VERSION)])
    guard let format = ELFFormat(identity: head) else {
      let isClass = kind == UInt8(ELFCLASS32) || kind == UInt8(ELFCLASS64)
      throw isClass
        ? file.error(.unsupported, "ELF data encoding \(data) is unknown.", at: UInt64(EI_DATA))
        : file.error(
          .unsupported, "ELF class \(kind) is neither 32 nor 64 bit.", at: UInt64(EI_CLASS))
    }
    try file.check(
      version == UInt8(EV_CURRENT), .unsupported, "ELF version \(version) is unknown.",
      at: UInt64(EI_VERSION))
    return format.bits == 64
      ? try claims(of: file, format, Elf64_Ehdr.self)
      : try claims(of: file, format, Elf32_Ehdr.self)
  }

  private static func claims<Header: ELFRawHeader>(
    of file: OpenedFile, _ format: ELFFormat, _ type: Header.Type
  ) throws(ImageError) -> Claims {
    guard let header = Header(file.head[...]) else {
      throw file.error(.truncated, "The file ends inside the ELF header.")
    }
    let kind = format.file(header.e_type)
    try file.check(
      1...4 ~= kind, .unsupported, "ELF type \(kind) is no object, executable, library or core.",
      at: UInt64(EI_NIDENT))
    let (sectionOffset, segmentOffset) = (
      UInt64(format.file(header.e_shoff)), UInt64(format.file(header.e_phoff))
    )
    var (sectionCount, segmentCount) = (
      UInt64(format.file(header.e_shnum)), UInt64(format.file(header.e_phnum))
    )
    // More headers than 16 bits can count: the real numbers are in section header 0.
    let size = MemoryLayout<Header.Section>.size
    var isFirstReadable = true
    if sectionOffset != 0, sectionCount == 0 || segmentCount == UInt64(PN_XNUM) {
      isFirstReadable = file.holds(sectionOffset, UInt64(size))
      if isFirstReadable,
        let first = Header.Section(try file.slice(at: sectionOffset, count: size))
      {
        if sectionCount == 0 { sectionCount = UInt64(format.file(first.sh_size)) }
        if segmentCount == UInt64(PN_XNUM) { segmentCount = UInt64(format.file(first.sh_info)) }
      }
    }
    var sections = try table(
      "section", file, offset: sectionOffset, count: sectionCount,
      entry: Int(format.file(header.e_shentsize)), expected: size)
    if !isFirstReadable { sections.isComplete = false }
    let segments = try table(
      "program", file, offset: segmentOffset, count: segmentCount,
      entry: Int(format.file(header.e_phentsize)), expected: MemoryLayout<Header.Segment>.size)
    return (format, sections, segments)
  }

  private static func table(
    _ kind: String, _ file: OpenedFile, offset: UInt64, count: UInt64, entry: Int, expected: Int
  ) throws(ImageError) -> ELFHeader.Table {
    guard offset != 0, count != 0 else { return .none }
    try file.check(
      entry == expected, .malformed,
      "A \(kind) header has \(entry) bytes instead of \(expected) (e_phentsize, e_shentsize).",
      at: 0)
    let (size, _) = count.multipliedReportingOverflow(by: UInt64(expected))
    let isPlausible = count <= UInt64(UInt16.max) || size <= file.allocatedSize
    try file.check(
      count <= mostHeaders && isPlausible, .malformed,
      "The file claims \(count) \(kind) headers, more than it stores.", at: offset)
    return ELFHeader.Table(offset: offset, count: count, isComplete: file.holds(offset, size))
  }

  // MARK: - Before the names of sections are copied

  /// Returns the extent of the section that holds the names, once libelf may read it.
  static func names(
    _ section: GElf_Shdr?, of file: OpenedFile
  ) throws(ImageError) -> FileExtent {
    guard let section, section.sh_type == UInt32(SHT_STRTAB) else {
      throw file.error(.malformed, "No section holds the names of the sections (e_shstrndx).")
    }
    try file.check(
      file.holds(section.sh_offset, section.sh_size), .truncated,
      "The file ends before the sections' names do.", at: section.sh_offset)
    try file.check(
      section.sh_size <= mostNames && file.stores(section.sh_size), .malformed,
      "The sections' names claim \(section.sh_size) bytes, more than the file stores.",
      at: section.sh_offset)
    return section.extent
  }

  // MARK: - Before elf_compress

  /// Admits a compressed section for inflating. Its header claims that it then has `size` bytes; nil if it claims
  /// nothing.
  mutating func admit(
    inflating size: UInt64?, of section: GElf_Shdr, _ refusal: (String) -> ImageError
  ) throws(ImageError) {
    let isStored =
      section.hasContents && file.holds(section.sh_offset, section.sh_size)
      && file.stores(section.sh_size)
    guard isStored else {
      throw refusal("and claims \(section.sh_size) bytes, more than the file stores")
    }
    guard let size else { throw refusal("and too short for the header that says how") }
    guard size <= budget else {
      throw refusal(
        "and claims to inflate to \(size) bytes, where \(budget) are left for this file; \(Self.unpacking)"
      )
    }
    budget -= size
  }

  /// Returns all bytes of an archive's member, for libelf.
  func copy() throws(ImageError) -> [UInt8] {
    try file.check(
      file.size <= Self.mostOfMember && file.stores(file.size), .unsupported,
      "The member has \(file.size) bytes, more than are read or than the file stores.")
    return try file.read(at: 0, count: Int(file.size))
  }

  // MARK: - Before elf_getdata_rawchunk

  /// Admits the bytes of notes for reading, with one budget for all segments and sections of a file.
  mutating func admit(notes extent: FileExtent) throws(ImageError) {
    try file.check(
      extent.size <= noteBudget, .malformed,
      "The notes claim \(extent.size) bytes, and \(noteBudget) more are read of one file.",
      at: extent.offset)
    noteBudget -= extent.size
  }

  /// Admits tables of one sort for reading. They may share their bytes, but not claim more than the file stores.
  func admit(_ sizes: some Sequence<UInt64>, of tables: String) throws(ImageError) {
    let total = sizes.reduce(UInt64(0)) { $0.saturating(adding: $1) }
    try file.check(
      total <= file.size && file.stores(total), .malformed,
      "The \(tables) claim \(total) bytes, more than the file stores.")
  }

  /// Returns the part of a chain of versions that libelf may read.
  static func versions(
    in extent: FileExtent, _ order: ImageIdentity.ByteOrder
  ) -> FileExtent {
    let most = order == .ofThisProcess ? mostVersions : mostForeignVersions
    return FileExtent(offset: extent.offset, size: min(extent.size, most))
  }
}

// MARK: - The structures of both classes

/// `Elf32_Ehdr` or `Elf64_Ehdr`, in file byte order.
protocol ELFRawHeader: ELFRawStructure {
  associatedtype Word: FixedWidthInteger & UnsignedInteger
  associatedtype Section: ELFRawSection
  associatedtype Segment
  var e_type: UInt16 { get set }
  var e_machine: UInt16 { get set }
  var e_version: UInt32 { get set }
  var e_phoff: Word { get set }
  var e_shoff: Word { get set }
  var e_phentsize: UInt16 { get set }
  var e_phnum: UInt16 { get set }
  var e_shentsize: UInt16 { get set }
  var e_shnum: UInt16 { get set }
  var e_shstrndx: UInt16 { get set }
}

/// `Elf32_Shdr` or `Elf64_Shdr`.
protocol ELFRawSection: ELFRawStructure {
  associatedtype Size: FixedWidthInteger & UnsignedInteger
  var sh_size: Size { get }
  var sh_info: UInt32 { get }
}

/// A C structure as a file has it.
protocol ELFRawStructure { init() }

extension ELFRawStructure {
  /// Its bytes.
  var bytes: [UInt8] { unsafe withUnsafeBytes(of: self) { unsafe [UInt8]($0) } }

  /// Reads the first bytes; nil if there are too few.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= MemoryLayout<Self>.size else { return nil }
    self.init()
    // Sound: as many bytes are copied as the structure has, and every bit pattern is a value.
    unsafe withUnsafeMutableBytes(of: &self) { unsafe $0.copyBytes(from: bytes.prefix($0.count)) }
  }
}

extension Elf32_Ehdr: ELFRawHeader {
  typealias Section = Elf32_Shdr
  typealias Segment = Elf32_Phdr
}

extension Elf64_Ehdr: ELFRawHeader {
  typealias Section = Elf64_Shdr
  typealias Segment = Elf64_Phdr
}

extension Elf32_Shdr: ELFRawSection {}
extension Elf64_Shdr: ELFRawSection {}

extension OpenedFile {
  /// Returns whether the file system may store `count` bytes of the file: it may pack them, but not without end.
  package func stores(_ count: UInt64) -> Bool {
    count <= 1 << 20 || count / 64 <= allocatedSize
  }
}
