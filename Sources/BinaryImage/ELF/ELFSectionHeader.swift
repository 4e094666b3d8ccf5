internal import CElf

/// One section header, as libelf reads it: `GElf_Shdr`.
struct ELFSectionHeader {
  /// `sh_name`: where the name starts among the names.
  let name: Int
  /// `sh_type`.
  let type: UInt32
  /// `sh_flags`, `sh_addr`.
  let flags: UInt64, address: UInt64
  /// `sh_offset`, `sh_size`.
  let offset: UInt64, size: UInt64
  /// `sh_link`, `sh_info`.
  let link: Int, info: Int
  /// `sh_addralign`, `sh_entsize`.
  let alignment: UInt64, entrySize: UInt64

  init(_ header: GElf_Shdr) {
    (name, type, flags) = (Int(header.sh_name), header.sh_type, header.sh_flags)
    (address, offset, size) = (header.sh_addr, header.sh_offset, header.sh_size)
    (link, info) = (Int(header.sh_link), Int(header.sh_info))
    (alignment, entrySize) = (header.sh_addralign, header.sh_entsize)
  }

  /// Whether the file holds the bytes of the section.
  var hasContents: Bool { type != UInt32(SHT_NOBITS) && type != UInt32(SHT_NULL) }
  /// Whether the section is part of the image in memory.
  var isLoaded: Bool { flags & UInt64(SHF_ALLOC) != 0 }
  /// Whether its bytes have to be inflated.
  var isCompressed: Bool { flags & UInt64(SHF_COMPRESSED) != 0 }

  /// Whether the section is run.
  var isExecutable: Bool { flags & UInt64(SHF_EXECINSTR) != 0 }
  /// Where the file has the section, as the header claims.
  var extent: FileExtent { FileExtent(offset: offset, size: size) }
  /// The linked addresses of the section.
  var addresses: Range<UInt64> { address..<address.saturating(adding: size) }

  /// The flags as `readelf -S` prints them.
  var flagLetters: String { Self.usual[flags] ?? Self.letters(of: flags) }

  /// The letters of flags that most sections have.
  private static let usual = Dictionary(
    uniqueKeysWithValues: [0, 2, 3, 6, 0x30, 0x20_0003].map { ($0, letters(of: $0)) })

  private static func letters(of flags: UInt64) -> String {
    String(letters.filter { flags & $0.flags != 0 }.map(\.letter))
  }

  /// In the order in which they are printed; `o`, `p` and `x` are those without a letter, of the system, of the
  /// processor, and others.
  private static let letters: [(flags: UInt64, letter: Character)] = [
    (0x1, "W"), (0x2, "A"), (0x4, "X"), (0x10, "M"), (0x20, "S"), (0x40, "I"), (0x80, "L"),
    (0x100, "O"), (0x200, "G"), (0x400, "T"), (0x800, "C"), (0x20_0000, "R"), (0x8000_0000, "E"),
    (0x0fd0_0000, "o"), (0x7000_0000, "p"), (~0xfff0_0ff7, "x"),
  ]

  /// The type as `readelf -S` prints it; numbers of systems and processors mean something under theirs only.
  func typeName(_ file: ELFHeader) -> String {
    if Int(type) < Self.standard.count, !Self.standard[Int(type)].isEmpty {
      return Self.standard[Int(type)]
    }
    // Versions of symbols come from Solaris, and have one number everywhere; the hash table is GNU's everywhere.
    let isCommon = file.usesCommonNumbers || type >= UInt32(SHT_GNU_HASH)
    return (isCommon ? Self.systems[type] : nil) ?? Self.processors[file.machine]?[type]
      ?? UInt64(type).hexadecimal
  }

  private static let standard = [
    "NULL", "PROGBITS", "SYMTAB", "STRTAB", "RELA", "HASH", "DYNAMIC", "NOTE", "NOBITS", "REL",
    "SHLIB", "DYNSYM", "", "", "INIT_ARRAY", "FINI_ARRAY", "PREINIT_ARRAY", "GROUP", "SYMTAB_SHNDX",
    "RELR",
  ]

  private static let systems: [UInt32: String] = [
    0x4000_0014: "CREL", 0x6000_0001: "ANDROID_REL", 0x6000_0002: "ANDROID_RELA",
    0x6fff_4c00: "LLVM_ODRTAB", 0x6fff_4c01: "LLVM_LINKER_OPTIONS", 0x6fff_4c03: "LLVM_ADDRSIG",
    0x6fff_4c04: "LLVM_DEPENDENT_LIBRARIES", 0x6fff_4c05: "LLVM_SYMPART",
    0x6fff_4c0a: "LLVM_BB_ADDR_MAP", 0x6fff_ff00: "ANDROID_RELR", 0x6fff_fff5: "GNU_ATTRIBUTES",
    0x6fff_fff6: "GNU_HASH", 0x6fff_fff7: "GNU_LIBLIST", 0x6fff_fffd: "VERDEF",
    0x6fff_fffe: "VERNEED", 0x6fff_ffff: "VERSYM",
  ]

  private static let processors: [UInt16: [UInt32: String]] = [
    UInt16(EM_X86_64): [0x7000_0001: "X86_64_UNWIND"],
    UInt16(EM_ARM): [
      0x7000_0001: "ARM_EXIDX", 0x7000_0002: "ARM_PREEMPTMAP", 0x7000_0003: "ARM_ATTRIBUTES",
    ],
    UInt16(EM_AARCH64): [0x7000_0003: "AARCH64_ATTRIBUTES"],
    UInt16(EM_RISCV): [0x7000_0003: "RISCV_ATTRIBUTES"],
    UInt16(EM_MIPS): [
      0x7000_0006: "MIPS_REGINFO", 0x7000_000d: "MIPS_OPTIONS", 0x7000_001e: "MIPS_DWARF",
      0x7000_002a: "MIPS_ABIFLAGS",
    ],
    UInt16(EM_PARISC): [
      0x7000_0000: "PARISC_EXT", 0x7000_0001: "PARISC_UNWIND", 0x7000_0002: "PARISC_DOC",
    ],
  ]
}
