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
    switch type {
    case 6: name = "m68k"
    case 7: name = "i386"
    case Self.x86On64: name = variant == 8 ? "x86_64h" : "x86_64"
    case 12: name = Self.arms[variant] ?? "arm"
    case Self.arm64: name = variant == 2 ? "arm64e" : "arm64"
    case Self.arm64On32: name = "arm64_32"
    case 18: name = "ppc"
    case 0x0100_0012: name = "ppc64"
    default: name = "machine-\(type)"
    }
  }

  /// `CPU_SUBTYPE_ARM_*`.
  private static let arms: [UInt32: String] = [
    5: "armv4t", 6: "armv6", 7: "armv5", 8: "xscale", 9: "armv7", 10: "armv7f", 11: "armv7s",
    12: "armv7k", 14: "armv6m", 15: "armv7m", 16: "armv7em",
  ]
}
