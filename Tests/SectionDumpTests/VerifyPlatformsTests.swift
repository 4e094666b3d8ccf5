import Foundation
import TestSupport
import Testing

/// Files that declare the same, of which some could come into one process and others never.
@Suite("Duplicates are looked for among files that are loaded together")
struct VerifyPlatformsTests {
  /// Files, all with the same five entries, and those whose entries are duplicates.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var files: [String]
    var duplicates: [String]
    /// Those that are the same as one before, byte by byte.
    var copies: Set<String>

    init(
      _ description: String, _ files: [String], duplicates: [String] = [], copies: Set<String> = []
    ) {
      (testDescription, self.files) = (description, files)
      (self.duplicates, self.copies) = (duplicates, copies)
    }
  }

  private static let member = "a name longer than the sixteen bytes of a header.o"

  static let rows = [
    Row("two libraries", ["elf-bfd.so", "elf-lld.so"], duplicates: ["elf-lld.so"]),
    Row("ELF and Mach-O", ["elf-bfd.so", "macho-x86_64-fixup-chains.dylib"]),
    Row("two machines", ["elf-bfd.so", "elf-aarch64.so", "elf-s390x.so"]),
    Row("two byte orders", ["elf-aarch64.so", "elf-aarch64_be.so"]),
    Row("two byte orders of MIPS", ["elf-mips.so", "elf-mipsel.so"]),
    Row("32 and 64 bits", ["elf-mips.so", "elf-mips64.so"]),
    Row("32 and 64 bits of x86_64", ["elf-gcc.o", "elf-x32.o"]),
    Row("32 and 64 bits of Mach-O", ["macho-arm64-fixup-chains.dylib", "macho-arm64_32.dylib"]),
    Row(
      "a dylib and a bundle",
      ["macho-arm64-fixup-chains.dylib", "macho-arm64-fixup-chains.bundle"],
      duplicates: ["macho-arm64-fixup-chains.bundle"]),
    Row("two executables", ["elf-bfd-pie", "elf-lld-no-pie"]),
    Row("an executable and a library", ["elf-bfd-pie", "elf-bfd.so"], duplicates: ["elf-bfd.so"]),
    Row(
      "two executables, each with a library",
      ["elf-bfd.so", "elf-bfd-pie", "elf-lld-no-pie", "elf-lld.so"],
      duplicates: ["elf-bfd-pie", "elf-lld-no-pie", "elf-lld.so"]),
    Row("an object and a library", ["elf-gcc.o", "elf-bfd.so"]),
    Row("two objects", ["elf-gcc.o", "elf-clang.o"], duplicates: ["elf-clang.o"]),
    Row("members of an archive", ["archive-gnu.a"], copies: ["archive-gnu.a(short.o)"]),
    Row(
      "members of an archive in an archive", ["archive-nested.a"],
      copies: ["archive-nested.a(archive-gnu.a)(short.o)"]),
    Row(
      "members of a thin archive, and an object", ["elf-gcc.o", "archive-thin.a"],
      copies: [
        "archive-thin.a(archive-thin.a.members/\(member))",
        "archive-thin.a(archive-thin.a.members/short.o)",
      ]),
    Row("slices of a library", ["universal.dylib"]),
    Row("slices of an object", ["universal.o"]),
    Row("slices of an archive", ["universal.a"]),
    Row("slices in an archive", ["archive-universal.a"]),
    Row(
      "slices of two libraries", ["universal.dylib", "universal-64.dylib"],
      copies: ["universal-64.dylib(arm64)", "universal-64.dylib(x86_64)"]),
    Row(
      "a slice and a library of its machine",
      ["universal.dylib", "macho-arm64-no-fixup-chains.dylib"],
      duplicates: ["macho-arm64-no-fixup-chains.dylib"]),
    Row(
      "a slice of an archive and an object of its machine", ["macho-x86_64.o", "universal.a"],
      copies: ["universal.a(x86_64)(macho-x86_64.o)"]),
  ]

  @Test(arguments: rows)
  func finds(row: Row) throws {
    let findings = try Tool.findings(
      row.files.map(Linkages.path), status: row.duplicates.isEmpty ? 0 : 1)
    func names(_ code: String) -> [String] {
      findings.filter { ($0["code"] as? String)?.hasPrefix(code) == true }.map { finding in
        let container = finding["container"] as? [String] ?? []
        let name = ((finding["path"] as? String ?? "") as NSString).lastPathComponent
        return name + container.map { "(\($0))" }.joined()
      }
    }
    #expect(
      names("duplicate-").sorted() == row.duplicates.flatMap { Array(repeating: $0, count: 5) })
    #expect(Set(names("copy")) == row.copies)
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
