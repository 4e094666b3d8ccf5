import Foundation
import TestSupport
import Testing

/// Files that declare the same, of which some could come into one process and others never.
@Suite("Duplicates are looked for among files that are loaded together")
struct VerifyPlatformsTests {
  /// Files, all with the same five entries, and where duplicates of how many are found.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var files: [String]
    var duplicates: [String: Int] = [:]
    /// Those that are the same as one before, byte by byte.
    var copies: [String] = []
  }

  private static let member = "a name longer than the sixteen bytes of a header.o"

  static let rows = [
    Row(
      testDescription: "two libraries", files: ["elf-bfd.so", "elf-lld.so"],
      duplicates: ["elf-lld.so": 5]),
    Row(
      testDescription: "ELF and Mach-O", files: ["elf-bfd.so", "macho-x86_64-fixup-chains.dylib"]),
    Row(testDescription: "two machines", files: ["elf-bfd.so", "elf-aarch64.so", "elf-s390x.so"]),
    Row(testDescription: "two byte orders", files: ["elf-aarch64.so", "elf-aarch64_be.so"]),
    Row(testDescription: "two byte orders of MIPS", files: ["elf-mips.so", "elf-mipsel.so"]),
    Row(testDescription: "32 and 64 bits", files: ["elf-mips.so", "elf-mips64.so"]),
    Row(testDescription: "32 and 64 bits of x86_64", files: ["elf-gcc.o", "elf-x32.o"]),
    Row(
      testDescription: "32 and 64 bits of Mach-O",
      files: ["macho-arm64-fixup-chains.dylib", "macho-arm64_32.dylib"]),
    Row(
      testDescription: "a dylib and a bundle",
      files: ["macho-arm64-fixup-chains.dylib", "macho-arm64-fixup-chains.bundle"],
      duplicates: ["macho-arm64-fixup-chains.bundle": 5]),
    Row(testDescription: "two executables", files: ["elf-bfd-pie", "elf-lld-no-pie"]),
    Row(
      testDescription: "an executable and a library", files: ["elf-bfd-pie", "elf-bfd.so"],
      duplicates: ["elf-bfd.so": 5]),
    Row(
      testDescription: "two executables, each with a library",
      files: ["elf-bfd.so", "elf-bfd-pie", "elf-lld-no-pie", "elf-lld.so"],
      duplicates: ["elf-bfd-pie": 5, "elf-lld-no-pie": 5, "elf-lld.so": 5]),
    Row(testDescription: "an object and a library", files: ["elf-gcc.o", "elf-bfd.so"]),
    Row(
      testDescription: "two objects", files: ["elf-gcc.o", "elf-clang.o"],
      duplicates: ["elf-clang.o": 5]),
    Row(
      testDescription: "members of an archive", files: ["archive-gnu.a"],
      copies: ["archive-gnu.a(short.o)"]),
    Row(
      testDescription: "members of an archive in an archive", files: ["archive-nested.a"],
      copies: ["archive-nested.a(archive-gnu.a)(short.o)"]),
    Row(
      testDescription: "members of a thin archive, and an object",
      files: ["elf-gcc.o", "archive-thin.a"],
      copies: [
        "archive-thin.a(archive-thin.a.members/\(member))",
        "archive-thin.a(archive-thin.a.members/short.o)",
      ]),
    Row(testDescription: "slices of a library", files: ["universal.dylib"]),
    Row(testDescription: "slices of an object", files: ["universal.o"]),
    Row(testDescription: "slices of an archive", files: ["universal.a"]),
    Row(testDescription: "slices in an archive", files: ["archive-universal.a"]),
    Row(
      testDescription: "slices of two libraries", files: ["universal.dylib", "universal-64.dylib"],
      copies: ["universal-64.dylib(arm64)", "universal-64.dylib(x86_64)"]),
    Row(
      testDescription: "a slice and a library of its machine",
      files: ["universal.dylib", "macho-arm64-no-fixup-chains.dylib"],
      duplicates: ["macho-arm64-no-fixup-chains.dylib": 5]),
    Row(
      testDescription: "a slice of an archive and an object of its machine",
      files: ["macho-x86_64.o", "universal.a"],
      copies: ["universal.a(x86_64)(macho-x86_64.o)"]),
  ]

  @Test(arguments: rows)
  func finds(row: Row) throws {
    let outcome = try Tool.run(["verify", "--format", "json"] + row.files.map(Linkages.path))
    #expect(outcome.status == (row.duplicates.isEmpty ? 0 : 1), "\(outcome.errors)")
    let findings = try Tool.files(of: outcome, key: "findings")
    var (duplicates, copies): ([String: Int], Set<String>) = ([:], [])
    for finding in findings {
      let code = try #require(finding["code"] as? String)
      let path = try #require(finding["path"] as? String)
      let container = try #require(finding["container"] as? [String])
      let file = URL(fileURLWithPath: path).lastPathComponent
      let name = file + container.map { "(\($0))" }.joined()
      if code.hasPrefix("duplicate-") { duplicates[name, default: 0] += 1 }
      if code == "copy" { copies.insert(name) }
    }
    #expect(duplicates == row.duplicates)
    #expect(copies == Set(row.copies))
    // The two that require a module which nobody declares say so, wherever they stand.
    #expect(findings.contains { $0["code"] as? String == "unmet-requirement" })
  }

  @Test("A requirement is met by what stands beside it, in whatever kind of file of the platform")
  func requirements() throws {
    let files = try [
      ("shop.so", "shop", "BEEHIVE_REQUIRES(\"log\")", ["-shared", "-fPIC"]),
      ("log.o", "log", "", ["-c"]),
    ].map { name, module, attributes, arguments in
      try Fixtures.build(
        """
        #include <BeeHive.h>
        static const beehive_module_operations operations = {0};
        BEEHIVE_MODULE(\(module), &operations, \(attributes));
        """, as: "platform-\(name)", arguments)
    }
    #expect(try Tool.run(["verify", "--strict"] + files).status == 0)
    #expect(try Tool.run(["verify", "--strict", files[0]]).status == 1)
  }
}
