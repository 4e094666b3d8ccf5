package import CElf

/// The ELF header of a file, and the two tables that it leads to.
///
/// ELF: `gelf_getehdr`.
package struct ELFHeader: Sendable {
  /// A table of headers in the file.
  package struct Table: Sendable {
    /// The distance from the start of the file.
    package var offset: UInt64
    /// The number of entries that the file claims, extended numbering included.
    package var count: UInt64
    /// Whether the file holds all of them.
    package var isComplete: Bool

    /// The number of entries that the file holds: all of them or none.
    var held: Int { isComplete ? Int(count) : 0 }

    /// A table that the file does not have.
    static let none = Table(offset: 0, count: 0, isComplete: true)
  }

  /// The class, the byte order and the machine.
  let format: ELFFormat
  /// `ET_REL`, `ET_EXEC`, `ET_DYN` or `ET_CORE`.
  package let type: UInt16
  /// `EI_OSABI`: the system whose own numbers the file uses.
  package let system: UInt8
  /// `EI_ABIVERSION`.
  let systemVersion: UInt8
  /// Whether the rest of `e_ident` is zero, and `e_version` is 1.
  let isUsual: Bool
  /// `e_entry`: the address that a program starts at.
  package let entry: UInt64
  /// `e_flags`: the machine's own.
  let flags: UInt32
  /// `e_shoff`, `e_shnum`.
  package let sections: Table
  /// `e_phoff`, `e_phnum`.
  package let segments: Table

  /// 32 or 64: `ELFCLASS32`, `ELFCLASS64`.
  package var bits: Int { format.bits }
  /// `EI_DATA`.
  package var order: ImageIdentity.ByteOrder { format.order }
  /// `e_machine`.
  package var machine: UInt16 { format.machine }
  /// Whether addresses are relative to sections.
  package var isObject: Bool { type == UInt16(ET_REL) }
  /// The size of an address in bytes.
  package var wordSize: Int { bits / 8 }
  /// Whether numbers from `DT_LOOS` and `SHT_LOOS` on have the meaning of GNU, LLVM and Android: `EI_OSABI` names no
  /// system with numbers of its own.
  var usesCommonNumbers: Bool {
    switch Int32(system) {
    case ELFOSABI_HPUX, ELFOSABI_SOLARIS, ELFOSABI_AIX, ELFOSABI_IRIX, ELFOSABI_TRU64,
      ELFOSABI_MODESTO:
      false
    default: true
    }
  }

  /// Takes the header that libelf has read, and the locations of the tables.
  init(_ header: GElf_Ehdr, _ order: ImageIdentity.ByteOrder, sections: Table, segments: Table) {
    let identity = unsafe withUnsafeBytes(of: header.e_ident) { unsafe [UInt8]($0) }
    let bits = identity[Int(EI_CLASS)] == UInt8(ELFCLASS64) ? 64 : 32
    format = ELFFormat(bits: bits, order: order, machine: header.e_machine)
    (type, entry, flags) = (header.e_type, header.e_entry, header.e_flags)
    (system, systemVersion) = (identity[Int(EI_OSABI)], identity[Int(EI_ABIVERSION)])
    isUsual =
      header.e_version == UInt32(EV_CURRENT)
      && identity[(Int(EI_ABIVERSION) + 1)...].allSatisfy { $0 == 0 }
    (self.sections, self.segments) = (sections, segments)
  }

  /// Returns the size of the header in bytes.
  package static func size(bits: Int) -> Int {
    bits == 64 ? MemoryLayout<Elf64_Ehdr>.size : MemoryLayout<Elf32_Ehdr>.size
  }

  /// Returns whether two headers are of one build.
  ///
  /// The position of the section table does not count, because `strip` moves it: `e_shoff`, `e_shentsize`,
  /// `e_shnum` and `e_shstrndx`.
  package static func areOfOneBuild(_ header: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool
  {
    guard header.count == other.count else { return false }
    return header.count == size(bits: 64)
      ? areOfOneBuild(Elf64_Ehdr(header), Elf64_Ehdr(other))
      : areOfOneBuild(Elf32_Ehdr(header), Elf32_Ehdr(other))
  }

  private static func areOfOneBuild<Header: ELFRawHeader>(_ one: Header?, _ other: Header?) -> Bool
  {
    func build(_ header: Header?) -> [UInt8]? {
      guard var header else { return nil }
      (header.e_shoff, header.e_shentsize, header.e_shnum, header.e_shstrndx) = (0, 0, 0, 0)
      return header.bytes
    }
    let bytes = build(one)
    return bytes != nil && bytes == build(other)
  }
}

/// The properties that decide the layout of an ELF file's structures.
struct ELFFormat: Hashable, Sendable {
  /// 32 or 64.
  var bits: Int
  var order: ImageIdentity.ByteOrder
  /// `e_machine`.
  var machine: UInt16

  init(bits: Int, order: ImageIdentity.ByteOrder, machine: UInt16) {
    (self.bits, self.order, self.machine) = (bits, order, machine)
  }

  /// Reads the class and the byte order in `e_ident`, without the machine; nil if ELF does not define them.
  init?(identity head: [UInt8]) {
    guard ELFFile.recognises(head), head.count >= Int(EI_NIDENT),
      let bits = Self.bits(head[Int(EI_CLASS)]), let order = Self.order(head[Int(EI_DATA)])
    else { return nil }
    self.init(bits: bits, order: order, machine: UInt16(EM_NONE))
  }

  private static func bits(_ kind: UInt8) -> Int? {
    kind == UInt8(ELFCLASS64) ? 64 : kind == UInt8(ELFCLASS32) ? 32 : nil
  }

  private static func order(_ data: UInt8) -> ImageIdentity.ByteOrder? {
    data == UInt8(ELFDATA2LSB) ? .little : data == UInt8(ELFDATA2MSB) ? .big : nil
  }

  /// Returns the size of one structure in a file, in bytes: `elf32_fsize`, `elf64_fsize`.
  func size(of type: Elf_Type) -> Int {
    bits == 64 ? elf64_fsize(type, 1, UInt32(EV_CURRENT)) : elf32_fsize(type, 1, UInt32(EV_CURRENT))
  }

  /// Converts a number from the order of the file to the order of this process, or back.
  func file<Number: FixedWidthInteger>(_ number: Number) -> Number {
    order == .ofThisProcess ? number : number.byteSwapped
  }
}

/// The purpose of an ELF file, and its build.
extension ELFFile {
  /// Whether the header says that it is a core file.
  package var isCore: Bool { header.type == UInt16(ET_CORE) }
  /// Whether it is a relocatable object, which no loader opens.
  package var isObject: Bool { header.isObject }

  /// Describes the file as far as it can be read; a damaged part counts as absent.
  package func makeIdentity() -> ImageIdentity {
    ImageIdentity(
      path: file.path, format: .elf, bits: header.bits,
      byteOrder: header.order, machine: machine.name, kind: kind, id: (try? buildID()) ?? [])
  }

  private var kind: ImageIdentity.Kind {
    switch Int32(header.type) {
    case ET_CORE: return .core
    case ET_REL: return hasOnlyDebugInformation ? .debug : .object
    case ET_EXEC: return hasOnlyDebugInformation ? .debug : .executable
    default:
      return hasOnlyDebugInformation ? .debug : isProgram ? .executable : .shared
    }
  }

  /// Whether it is linked to be started.
  var isProgram: Bool {
    let hasInterpreter = (try? segments())?.hasInterpreter == true
    return Self.isProgram(header, hasInterpreter: hasInterpreter) { (try? dynamic())?.value }
  }

  /// Returns whether an ELF header and an interpreter are those of a program. If they leave that open, the tags of the
  /// dynamic section decide.
  ///
  /// A static PIE has no interpreter, an old linker's PIE no flag. Libraries that can be run, as libc.so.6, have an
  /// interpreter, but only programs have `DT_DEBUG`.
  static func isProgram(
    _ header: ELFHeader, hasInterpreter: Bool, dynamic: () -> ((_ tag: Int64) -> UInt64?)?
  ) -> Bool {
    if header.type == UInt16(ET_EXEC) { return true }
    // Most libraries say here that nothing starts them.
    guard hasInterpreter || header.entry != 0 else { return false }
    guard let value = dynamic() else { return hasInterpreter }
    return (value(Int64(DT_FLAGS_1)) ?? 0) & UInt64(DF_1_PIE) != 0
      || hasInterpreter && value(Int64(DT_DEBUG)) != nil
  }

  /// Whether this file has symbols or DWARF, but none of the loaded contents.
  package var hasOnlyDebugInformation: Bool {
    guard let table = try? sectionTable() else { return false }
    var hasLoaded = false
    var hasDebug = false
    for index in sectionIndices {
      let section = table[index]
      if section.isLoaded {
        let isEmptied = section.sh_type == UInt32(SHT_NOBITS)
        guard isEmptied || section.sh_type == UInt32(SHT_NOTE) else { return false }
        if isEmptied { hasLoaded = true }
      } else if section.sh_type == UInt32(SHT_SYMTAB) {
        hasDebug = true
      } else {
        hasDebug = hasDebug || table.name(of: index, startsWith: ".debug_")
      }
    }
    return hasLoaded && hasDebug
  }

  /// Returns the build-id that the loader finds too: the first among the note segments, empty if there is none.
  func loadedBuildID() throws(ImageError) -> [UInt8] {
    for segment in try segments().notes {
      if let id = try notes(of: segment).first(where: \.isBuildID) { return Array(id.descriptor) }
    }
    return []
  }

  /// Returns the bytes of the program headers, as the file has them.
  package func programHeaderBytes() throws(ImageError) -> ArraySlice<UInt8> {
    let table = header.segments
    return try file.slice(
      at: table.offset, count: Int(table.count) * header.format.size(of: ELF_T_PHDR))
  }

  /// Returns the descriptor of the first `NT_GNU_BUILD_ID`; empty if there is none.
  package func buildID() throws(ImageError) -> [UInt8] {
    let id = try loadedBuildID()
    if !id.isEmpty { return id }
    // Objects have no segments, and the segments of split debug information may lead nowhere.
    for index in sectionIndices {
      let section = try sectionHeader(index)
      guard section.sh_type == UInt32(SHT_NOTE) else { continue }
      let notes = try notes(
        in: section.extent, alignment: section.sh_addralign, at: section.sh_addr)
      if let id = notes.first(where: \.isBuildID) { return Array(id.descriptor) }
    }
    return []
  }
}

/// The headers of an image as another process has them in memory: libelf reads copies of them, in capsules.
///
/// ELF: `gelf_getehdr`, `gelf_getphdr`, `gelf_getdyn`.
package struct ELFMemoryHeaders {
  package let header: ELFHeader
  /// The bytes at the start of the image.
  package let head: [UInt8]
  package let segments: [GElf_Phdr]
  /// The program headers as they are in memory.
  package let programHeaders: [UInt8]

  /// The most bytes that an ELF header has, of either class.
  private static let headSize = ELFHeader.size(bits: 64)
  /// More program headers than any linker writes.
  private static let mostSegments = 1 << 10

  /// Reads the headers of an image.
  ///
  /// - Parameters:
  ///   - failure: Makes the errors.
  ///   - read: Copies the bytes at a distance from the image's start.
  /// - Throws: ``ImageError`` if libelf does not read them, or `read` fails.
  package init(
    failure: (ImageError.Code, String) -> ImageError,
    read: (_ offset: UInt64, _ count: Int) throws(ImageError) -> [UInt8]
  ) throws(ImageError) {
    head = try read(0, Self.headSize)
    guard head.count == Self.headSize else {
      throw failure(
        .unreadable,
        "Its header is not there: the process unmapped it or ended, or the core file was cut off.")
    }
    guard let format = ELFFormat(identity: head) else {
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

  /// The segments that are loaded.
  package var loads: [GElf_Phdr] { segments.filter { $0.p_type == UInt32(PT_LOAD) } }

  /// The segment that holds the header.
  package var first: GElf_Phdr? { loads.first { $0.p_offset == 0 } }

  /// The number of bytes from the header to the end of the last segment in memory.
  package var imageSize: UInt64 {
    guard let start = first?.p_vaddr else { return 0 }
    return loads.reduce(start) { max($0, $1.p_vaddr.saturating(adding: $1.p_memsz)) } - start
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

  /// Returns the values of the tags in a dynamic section, up to `DT_NULL`; nil if libelf does not read them.
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
