import Foundation
import TestSupport
import Testing

/// Files that were cut off or overwritten, through the whole tool: one process reads thousands.
@Suite(
  "Damaged files", .needs("prlimit"), .mayHang,
  .limitsMemory)
struct DamageTests {
  /// One of each way to find records: class, byte order, encoding of relocations, container.
  static let fixtures = [
    "elf-bfd.so", "elf-lld-relr.so", "elf-gcc.o", "elf-clang.o", "elf-i386.so", "elf-i386.o",
    "elf-s390x.so", "elf-aarch64_be.o", "elf-mips.so", "elf-mips64.o", "elf-x32.o",
    "elf-lld-android.so", "elf-crel.o", "elf-no-sections.so", "elf-bfd-no-pie", "elf-zlib.o",
    "macho-arm64-fixup-chains.dylib", "macho-x86_64-no-fixup-chains.dylib", "macho-arm64_32.dylib",
    "macho-arm64-fixup-chains", "macho-x86_64.o", "macho-i386-old.o", "macho-armv7.o",
    "universal.dylib", "universal-64.dylib", "archive-gnu.a", "archive-bsd.a", "archive-sym64.a",
    "archive-nested.a", "archive-universal.a", "universal.a",
  ]

  @Test("that were cut off show the same entries or a problem", arguments: fixtures)
  func cut(name: String) throws {
    let bytes = try Linkages.bytes(name)
    let lengths = Array(0..<min(4096, bytes.count)) + stride(from: 4096, to: bytes.count, by: 64)
    // An archive that was cut off behind its first eight bytes is a whole one, without members.
    let variants = Effort.sample(
      24, of: lengths.filter { !name.hasSuffix(".a") || $0 != 8 || bytes[0] != 0x21 }
    ).map { ("cut at \($0)", bytes.prefix($0)) }
    let different = try Damage(of: bytes, variants).silentlyDifferent()
    #expect(different.isEmpty, "\(different)")
  }
}
