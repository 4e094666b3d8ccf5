internal import CElf

/// What section types are called, as `readelf -S` prints them.
enum ELFSectionTypes {
  /// The name of `sh_type`; numbers of processors mean something under their machine only.
  static func name(of type: UInt32, machine: UInt16) -> String {
    if Int(type) < standard.count, !standard[Int(type)].isEmpty { return standard[Int(type)] }
    if let name = systems[type] ?? processors[machine]?[type] { return name }
    return "0x" + UInt64(type).hexadecimal
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
