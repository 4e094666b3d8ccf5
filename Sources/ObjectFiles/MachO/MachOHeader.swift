internal import BinaryImage

/// The Mach-O header: class, byte order, machine, and the number of load commands.
///
/// C: `struct mach_header` and `mach_header_64` of `<mach-o/loader.h>`.
struct MachOHeader {
  /// 32 or 64; 32 for arm64_32 too, whose registers are wider than its addresses.
  let bits: Int
  /// The byte order of the magic.
  let order: ImageIdentity.ByteOrder
  /// `cputype`.
  let machineType: UInt32
  /// The name of the machine, by `cputype` and `cpusubtype`.
  let machine: String
  /// `filetype`.
  let type: UInt32
  /// The purpose of the file, by `filetype`.
  let kind: ImageIdentity.Kind
  /// `flags`.
  let flags: UInt32
  /// `ncmds`.
  let commandCount: UInt32
  /// `sizeofcmds`.
  let commandSize: UInt32

  /// The number of bytes before the load commands.
  var size: Int { bits == 64 ? 32 : 28 }
  /// Whether addresses are relative to sections: `MH_OBJECT`.
  var isObject: Bool { kind == .object }
  /// Whether the file is a program: `MH_EXECUTE`.
  var isExecutable: Bool { type == 2 }
  /// The size of an address in bytes.
  var wordSize: Int { bits / 8 }
  /// The size of an entry of the symbol table in bytes: `nlist`, `nlist_64`.
  var symbolSize: Int { bits == 64 ? 16 : 12 }

  /// Whether processes have the linked addresses: an executable without `MH_PIE`, `MH_PRELOAD`, or a core file.
  var hasFixedAddress: Bool {
    (isExecutable && flags & 0x20_0000 == 0) || type == 5 || kind == .core
  }

  /// Whether classic relocations of linked files count from the first writable segment. They do on x86_64, and if the
  /// writable segments may move apart from the others: `MH_SPLIT_SEGS`.
  var countsFromWritableSegment: Bool { machineType == Self.x86On64 || flags & 0x20 != 0 }

  /// Whether linkers may take sections apart at their symbols: `MH_SUBSECTIONS_VIA_SYMBOLS`.
  var isDivisible: Bool { flags & 0x2000 != 0 }

  /// More bytes than the load commands of any file have.
  private static let mostCommandBytes: UInt32 = 1 << 24

  /// By `filetype`: `MH_OBJECT`, `MH_EXECUTE`, `MH_CORE`, `MH_PRELOAD`, `MH_DYLIB`, `MH_DYLINKER`, `MH_BUNDLE`,
  /// `MH_DYLIB_STUB`, `MH_DSYM`, `MH_KEXT_BUNDLE`.
  private static let kinds: [UInt32: ImageIdentity.Kind] = [
    1: .object, 2: .executable, 4: .core, 5: .executable, 6: .shared, 7: .executable, 8: .bundle,
    9: .shared, 10: .debug, 11: .bundle,
  ]

  /// Returns the class and byte order by the first four bytes of a file; nil if it is no Mach-O file.
  static func format(of head: [UInt8]) -> (bits: Int, order: ImageIdentity.ByteOrder)? {
    switch head.prefix(4) {
    case [0xce, 0xfa, 0xed, 0xfe]: (32, .little)
    case [0xcf, 0xfa, 0xed, 0xfe]: (64, .little)
    case [0xfe, 0xed, 0xfa, 0xce]: (32, .big)
    case [0xfe, 0xed, 0xfa, 0xcf]: (64, .big)
    default: nil
    }
  }

  /// Reads and checks the header of `file`.
  init(of file: OpenedFile) throws(ImageError) {
    guard let (bits, order) = Self.format(of: file.head) else {
      throw file.error(.notAnObject, "The file does not start with a Mach-O magic.")
    }
    (self.bits, self.order) = (bits, order)
    try file.check(file.head.count >= 28, .truncated, "The file ends inside the Mach-O header.")
    let fields = MachOFields(bytes: file.head, start: 0, bits: bits, order: order)
    machineType = fields.single(4)
    machine = Self.machine(machineType, subtype: fields.single(8))
    (type, commandCount) = (fields.single(12), fields.single(16))
    (commandSize, flags) = (fields.single(20), fields.single(24))
    guard let kind = Self.kinds[type] else {
      throw file.error(.unsupported, "Mach-O file type \(type) is not read.", at: 12)
    }
    self.kind = kind
    try file.check(
      commandSize <= Self.mostCommandBytes && commandCount <= commandSize / 8, .malformed,
      "\(commandCount) load commands are said to take \(commandSize) bytes; no file has that.",
      at: 16)
    try file.check(
      UInt64(size) + UInt64(commandSize) <= file.size, .truncated,
      "The file ends before its \(commandSize) bytes of load commands do.", at: 20)
  }
}

extension MachOHeader {
  /// `*_RELOC_VANILLA`, `X86_64_RELOC_UNSIGNED`, `ARM64_RELOC_UNSIGNED`: the relocation that makes a word an address.
  static let pointerRelocation: UInt32 = 0

  /// `ARM64_RELOC_AUTHENTICATED_POINTER`: an address that the loader signs.
  var signedRelocation: UInt32? { machineType == 0x0100_000c ? 11 : nil }

  /// Returns whether a relocation that begins with this word has an address in a section instead of a number. 64-bit
  /// machines have no such relocations, and 32 bits of address.
  func isScattered(_ first: UInt32) -> Bool { bits == 32 && first & 0x8000_0000 != 0 }

  /// Returns the name of a machine in reports, without the capabilities in the highest byte of `cpusubtype`.
  ///
  /// C: `<mach/machine.h>`.
  static func machine(_ type: UInt32, subtype: UInt32) -> String {
    variants[type]?[subtype & 0x00ff_ffff] ?? machines[type] ?? "machine-\(type)"
  }

  private static let x86On64: UInt32 = 0x0100_0007

  /// The names of machines, by `cputype`.
  private static let machines: [UInt32: String] = [
    6: "m68k", 7: "i386", x86On64: "x86_64", 12: "arm", 0x0100_000c: "arm64",
    0x0200_000c: "arm64_32", 18: "ppc", 0x0100_0012: "ppc64",
  ]

  /// The names of variants, by `cputype`, then by `cpusubtype`, such as `CPU_SUBTYPE_ARM_*`.
  private static let variants: [UInt32: [UInt32: String]] = [
    x86On64: [8: "x86_64h"], 0x0100_000c: [2: "arm64e"],
    12: [
      5: "armv4t", 6: "armv6", 7: "armv5", 8: "xscale", 9: "armv7", 10: "armv7f", 11: "armv7s",
      12: "armv7k", 14: "armv6m", 15: "armv7m", 16: "armv7em",
    ],
  ]
}
