internal import BinaryImage

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
