internal import CElf

/// One section header, `Elf32_Shdr` or `Elf64_Shdr`.
struct ELFSectionHeader {
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

  /// Reads the header at `start`; zeros where there is none.
  init(_ bytes: Span<UInt8>, at start: Int, bits: Int, order: ImageIdentity.ByteOrder) {
    let isThere = start >= 0 && start <= bytes.count - Self.size(bits: bits)
    let isSwapped = order != .ofThisProcess
    @inline(__always) func number<Number: FixedWidthInteger & BitwiseCopyable>(
      _ place: Int
    ) -> Number {
      guard isThere else { return 0 }
      // Sound: the whole header is there.
      let number = unsafe bytes.bytes.unsafeLoadUnaligned(
        fromUncheckedByteOffset: start &+ place, as: Number.self)
      return isSwapped ? number.byteSwapped : number
    }
    @inline(__always) func single(_ place: Int) -> UInt32 { number(place) }
    @inline(__always) func word(_ place: Int) -> UInt64 {
      bits == 64 ? number(place) : UInt64(single(place))
    }
    let size = bits / 8
    (type, flags, address) = (single(4), word(8), word(8 + size))
    (offset, self.size) = (word(8 + 2 * size), word(8 + 3 * size))
    (link, info) = (Int(single(8 + 4 * size)), Int(single(12 + 4 * size)))
    (alignment, entrySize) = (word(16 + 4 * size), word(16 + 5 * size))
  }

  /// The size of a header in bytes.
  static func size(bits: Int) -> Int { bits == 64 ? 64 : 40 }

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

  /// The flags as `readelf -S` prints them: `o`, `p` and `x` are those without a letter, of the
  /// system, of the processor, and others.
  var flagLetters: String {
    // Most sections have one of these.
    switch flags {
    case 0: return ""
    case 2: return "A"
    case 3: return "WA"
    case 6: return "AX"
    case 0x30: return "MS"
    case 0x20_0003: return "WAR"
    default: break
    }
    let letters: [(Int, Character)] = [
      (0, "W"), (1, "A"), (2, "X"), (4, "M"), (5, "S"), (6, "I"), (7, "L"), (8, "O"), (9, "G"),
      (10, "T"), (11, "C"), (21, "R"), (31, "E"),
    ]
    let known = letters.reduce(0) { $0 | UInt64(1) << UInt64($1.0) }
    let rest = flags & ~known
    let others: [(UInt64, Character)] = [
      (0x0ff0_0000, "o"), (0xf000_0000, "p"), (~0xfff0_0000, "x"),
    ]
    return String(
      letters.filter { flags >> UInt64($0.0) & 1 != 0 }.map(\.1)
        + others.filter { rest & $0.0 != 0 }.map(\.1))
  }

  /// The type as `readelf -S` prints it; numbers of processors mean something under their machine only.
  func typeName(machine: UInt16) -> String {
    if Int(type) < Self.standard.count, !Self.standard[Int(type)].isEmpty {
      return Self.standard[Int(type)]
    }
    return Self.systems[type] ?? Self.processors[machine]?[type] ?? UInt64(type).hexadecimal
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
