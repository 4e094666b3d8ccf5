internal import CElf

/// The ELF header of a file, and the two tables that it leads to.
///
/// ELF: `gelf_getehdr`, `elf_getshdrnum`, `elf_getphdrnum`, `elf_getshdrstrndx`.
package struct ELFHeader: Sendable {
  /// A table of headers in the file.
  package struct Table: Sendable {
    /// From the start of the file.
    package var offset: UInt64
    /// How many entries the file claims, extended numbering included.
    package var count: UInt64
    /// Whether the file holds all of them.
    package var isComplete: Bool

    /// How many entries the file holds, all of them or none.
    var held: Int { isComplete ? Int(count) : 0 }

    /// A table that the file does not have.
    static let none = Table(offset: 0, count: 0, isComplete: true)
  }

  /// The class, the byte order and the machine.
  let format: ELFFormat
  /// `ET_REL`, `ET_EXEC`, `ET_DYN` or `ET_CORE`.
  package let type: UInt16
  /// `EI_OSABI`: whose numbers the file uses where systems have their own.
  package let system: UInt8
  /// `EI_ABIVERSION`.
  let systemVersion: UInt8
  /// Whether the rest of `e_ident` is zero, and `e_version` is 1.
  let isUsual: Bool
  /// `e_entry`: where a program starts.
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
  /// Whether numbers from `DT_LOOS` and `SHT_LOOS` on are those of GNU, LLVM and Android, because `EI_OSABI` names
  /// no system that has numbers of its own.
  var usesCommonNumbers: Bool {
    switch Int32(system) {
    case ELFOSABI_HPUX, ELFOSABI_SOLARIS, ELFOSABI_AIX, ELFOSABI_IRIX, ELFOSABI_TRU64,
      ELFOSABI_MODESTO:
      false
    default: true
    }
  }

  /// Takes what libelf has read, and where the tables are.
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

  /// The size of the header in bytes.
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

/// What decides how the structures of an ELF file are laid out.
struct ELFFormat: Hashable, Sendable {
  /// 32 or 64.
  var bits: Int
  var order: ImageIdentity.ByteOrder
  /// `e_machine`.
  var machine: UInt16

  init(bits: Int, order: ImageIdentity.ByteOrder, machine: UInt16) {
    (self.bits, self.order, self.machine) = (bits, order, machine)
  }

  /// The class and the order that `e_ident` says, without the machine; nil if it is none of ELF's.
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

  /// The size of one structure in a file, in bytes: `elf32_fsize`, `elf64_fsize`.
  func size(of type: Elf_Type) -> Int {
    bits == 64 ? elf64_fsize(type, 1, UInt32(EV_CURRENT)) : elf32_fsize(type, 1, UInt32(EV_CURRENT))
  }

  /// A number of a file in the order of this process, or the other way round.
  func file<Number: FixedWidthInteger>(_ number: Number) -> Number {
    order == .ofThisProcess ? number : number.byteSwapped
  }
}
