internal import BinaryImage

/// The Mach-O header: class, byte order, machine, and how many load commands follow.
///
/// C: `struct mach_header` and `mach_header_64` of `<mach-o/loader.h>`.
struct MachOHeader {
  /// 32 or 64; 32 for arm64_32 too, whose registers are wider than its addresses.
  let bits: Int
  /// The byte order of the magic.
  let order: ImageIdentity.ByteOrder
  /// `cputype` and `cpusubtype`.
  let machine: MachOMachine
  /// `filetype`.
  let type: FileType
  /// `flags`.
  let flags: UInt32
  /// `ncmds`.
  let commandCount: UInt32
  /// `sizeofcmds`.
  let commandSize: UInt32

  /// How many bytes come before the load commands.
  var size: Int { bits == 64 ? 32 : 28 }
  /// Whether addresses are relative to sections: `MH_OBJECT`.
  var isObject: Bool { type == .object }
  /// The size of an address in bytes.
  var wordSize: Int { bits / 8 }
  /// The size of an entry of the symbol table in bytes: `nlist`, `nlist_64`.
  var symbolSize: Int { bits == 64 ? 16 : 12 }

  /// Whether the linked addresses are those of the process: an executable without `MH_PIE`.
  var hasFixedAddress: Bool {
    (type == .execute && flags & 0x20_0000 == 0) || type == .preload || type == .core
  }

  /// Whether the writable segments may move apart from the others: `MH_SPLIT_SEGS`.
  var hasSplitSegments: Bool { flags & 0x20 != 0 }

  /// Whether linkers may take sections apart at their symbols: `MH_SUBSECTIONS_VIA_SYMBOLS`.
  var isDivisible: Bool { flags & 0x2000 != 0 }

  /// More bytes than the load commands of any file have.
  private static let mostCommandBytes: UInt32 = 1 << 24

  /// The values of `filetype` that this reader knows.
  enum FileType: UInt32 {
    case object = 1, execute
    case core = 4, preload, dylib, dylinker, bundle, dylibStub, dsym, kext

    /// What a file of a type that is not read holds, by its number.
    static let others: [UInt32: String] = [
      3: "a fixed virtual memory library", 12: "several images, as a kernel collection does",
      13: "a GPU program", 14: "a GPU library",
    ]
  }

  /// The class and byte order that a file's first four bytes tell; nil where it is no Mach-O file.
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
    let head = file.head
    func field(_ index: Int) throws(ImageError) -> UInt32 {
      guard let value: UInt32 = head.span.integer(at: index * 4, order: order) else {
        throw file.error(.truncated, "The file ends inside the Mach-O header.")
      }
      return value
    }
    machine = try MachOMachine(type: field(1), subtype: field(2))
    let number = try field(3)
    commandCount = try field(4)
    commandSize = try field(5)
    flags = try field(6)
    if bits == 64 { _ = try field(7) }
    guard let type = FileType(rawValue: number) else {
      let other = FileType.others[number].map { "The file holds \($0), which is not read." }
      throw file.error(
        .unsupported, other ?? "Mach-O file type \(number) is unknown.", at: 12)
    }
    self.type = type
    try file.check(
      commandSize <= Self.mostCommandBytes && commandCount <= commandSize / 8, .malformed,
      "\(commandCount) load commands are said to take \(commandSize) bytes; no file has that.",
      at: 16)
    try file.check(
      UInt64(size) + UInt64(commandSize) <= file.size, .truncated,
      "The file ends before its \(commandSize) bytes of load commands do.", at: 20)
  }
}

/// What a machine is called, and which relocation of an object writes a pointer.
///
/// C: `<mach/machine.h>`, and the `reloc.h` of each machine.
struct MachOMachine {
  /// The name that `section-dump` prints.
  let name: String
  /// `cputype`.
  let type: UInt32

  /// The relocation type that makes a word an address, on every machine: `*_RELOC_VANILLA`,
  /// `X86_64_RELOC_UNSIGNED`, `ARM64_RELOC_UNSIGNED`.
  static let pointer: UInt8 = 0

  /// `ARM64_RELOC_AUTHENTICATED_POINTER`: an address that the loader signs.
  var signed: UInt8? { type == Self.arm64 ? 11 : nil }

  /// Whether classic relocations of linked files count from the first segment that is writable.
  var countsFromWritableSegment: Bool { type == Self.x86On64 }

  private static let x86On64: UInt32 = 0x0100_0007
  private static let arm64: UInt32 = 0x0100_000c
  private static let arm64On32: UInt32 = 0x0200_000c

  /// Looks up `cputype` and `cpusubtype`, without the capabilities in the latter's highest byte.
  init(type: UInt32, subtype: UInt32) {
    self.type = type
    let variant = subtype & 0x00ff_ffff
    name = Self.variants[type]?[variant] ?? Self.known[type]?.name ?? "machine-\(type)"
  }

  /// `ARM64_RELOC_BRANCH26`: what the machine calls a relocation type.
  func name(ofRelocation type: UInt8) -> String {
    let (_, prefix, list) = Self.known[self.type] ?? ("", "", "")
    let names = list.split(separator: " ")
    guard Int(type) < names.count else { return "relocation type \(type)" }
    let name = names[Int(type)]
    return name.hasPrefix("ARM_") ? String(name) : "\(prefix)_RELOC_\(name)"
  }

  /// The names of the machines and of their relocation types, by `cputype`.
  private static let known: [UInt32: (name: String, prefix: String, relocations: String)] = [
    6: ("m68k", "GENERIC", generic), 7: ("i386", "GENERIC", generic),
    x86On64: (
      "x86_64", "X86_64",
      "UNSIGNED SIGNED BRANCH GOT_LOAD GOT SUBTRACTOR SIGNED_1 SIGNED_2 SIGNED_4 TLV"
    ),
    12: (
      "arm", "ARM",
      "VANILLA PAIR SECTDIFF LOCAL_SECTDIFF PB_LA_PTR BR24 ARM_THUMB_RELOC_BR22 "
        + "ARM_THUMB_32BIT_BRANCH HALF HALF_SECTDIFF"
    ),
    arm64: ("arm64", "ARM64", arm), arm64On32: ("arm64_32", "ARM64", arm),
    18: ("ppc", "PPC", power), 0x0100_0012: ("ppc64", "PPC", power),
  ]

  private static let generic = "VANILLA PAIR SECTDIFF PB_LA_PTR LOCAL_SECTDIFF TLV"
  private static let arm =
    "UNSIGNED SUBTRACTOR BRANCH26 PAGE21 PAGEOFF12 GOT_LOAD_PAGE21 GOT_LOAD_PAGEOFF12 "
    + "POINTER_TO_GOT TLVP_LOAD_PAGE21 TLVP_LOAD_PAGEOFF12 ADDEND AUTHENTICATED_POINTER"
  private static let power =
    "VANILLA PAIR BR14 BR24 HI16 LO16 HA16 LO14 SECTDIFF PB_LA_PTR HI16_SECTDIFF "
    + "LO16_SECTDIFF HA16_SECTDIFF JBSR LO14_SECTDIFF LOCAL_SECTDIFF"

  /// By `cputype`, then by what is `CPU_SUBTYPE_ARM_*` of ARM.
  private static let variants: [UInt32: [UInt32: String]] = [
    x86On64: [8: "x86_64h"], arm64: [2: "arm64e"],
    12: [
      5: "armv4t", 6: "armv6", 7: "armv5", 8: "xscale", 9: "armv7", 10: "armv7f", 11: "armv7s",
      12: "armv7k", 14: "armv6m", 15: "armv7m", 16: "armv7em",
    ],
  ]
}
