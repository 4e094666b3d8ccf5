import Foundation
import TestSupport
import Testing

/// Files that were cut off or overwritten, read by the whole tool. One process reads thousands.
@Suite("Damaged files", .needs("prlimit"), .mayHang, .limitsMemory)
struct DamageTests {
  /// One fixture for each way to find records: class, byte order, encoding of relocations, container.
  static let fixtures = [
    "elf-bfd.so", "elf-lld-relr.so", "elf-gcc.o", "elf-clang.o", "elf-i386.so", "elf-i386.o",
    "elf-s390x.so", "elf-aarch64_be.o", "elf-mips.so", "elf-mips64.o", "elf-x32.o",
    "elf-lld-android.so", "elf-crel.o", "elf-no-sections.so", "elf-bfd-no-pie", "elf-zlib.o",
    "macho-arm64-fixup-chains.dylib", "macho-x86_64-no-fixup-chains.dylib", "macho-arm64_32.dylib",
    "macho-arm64-fixup-chains", "macho-x86_64.o", "macho-i386-old.o", "macho-armv7.o",
    "universal.dylib", "universal-64.dylib", "archive-gnu.a", "archive-bsd.a", "archive-sym64.a",
    "archive-nested.a", "archive-universal.a", "universal.a",
  ]

  /// The address space of the process in bytes. The tool forgets each file after reading it, so no file may take more.
  private static let mostMemory = 256 << 20
  /// The most bytes that may be printed of one image.
  private static let mostText = 1 << 20

  @Test("that were cut off show the same entries or a problem", arguments: fixtures)
  func cut(name: String) throws {
    let bytes = try Linkages.bytes(name)
    let lengths = Array(0..<min(4096, bytes.count)) + stride(from: 4096, to: bytes.count, by: 64)
    // An archive cut off after its first eight bytes is whole, and has no members.
    let cuts = Effort.sample(
      24, of: lengths.filter { !name.hasSuffix(".a") || $0 != 8 || bytes[0] != 0x21 })
    let folder = try Sweep.folder(for: (cuts.count + 1) * (bytes.count + 4096))
    defer { try? FileManager.default.removeItem(at: folder) }
    let paths = try Sweep.write(cuts.map { bytes.prefix($0) } + [bytes], in: folder)
    let tool = [Repository.sectionDump, "--stdin0", "--jobs", "1", "--format", "ndjson"]
    let outcome = try Fixtures.run(
      "prlimit", ["--as=\(Self.mostMemory)"] + tool,
      input: Data(paths.joined(separator: "\0").utf8))
    #expect(outcome.status == 2, "\(outcome.errors.suffix(1000))")
    var (entries, damaged): ([String: [String]], Set<String>) = ([:], [])
    for line in outcome.lines {
      #expect(line.utf8.count < Self.mostText)
      let file = try Tool.object(line)
      let path = try #require(file["path"] as? String)
      entries[path, default: []] += try Tool.lines(file)
      if !Tool.codes(file).isEmpty { damaged.insert(path) }
    }
    #expect(entries.count == paths.count, "each file has a line")
    let whole = try #require(paths.last.flatMap { entries[$0] }).sorted()
    #expect(!whole.isEmpty && !damaged.contains(paths[cuts.count]))
    let different = zip(cuts, paths).filter { _, path in
      !damaged.contains(path) && entries[path]?.sorted() != whole
    }
    #expect(different.isEmpty, "\(different)")
  }
}
