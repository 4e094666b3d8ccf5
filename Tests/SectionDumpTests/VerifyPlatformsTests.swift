import Foundation
import TestSupport
import Testing

/// Files that declare the same entries. Some can come into one process, others never.
@Suite("Duplicates are looked for among files that are loaded together")
struct VerifyPlatformsTests {
  private static let member = "a name longer than the sixteen bytes of a header.o"

  /// Files that all have the same five entries. Then the files whose entries are duplicates, and the files that equal
  /// an earlier one byte by byte.
  static let rows: [(what: String, files: [String], duplicates: [String], copies: Set<String>)] = [
    ("two libraries", ["elf-bfd.so", "elf-lld.so"], ["elf-lld.so"], []),
    ("ELF and Mach-O", ["elf-bfd.so", "macho-x86_64-fixup-chains.dylib"], [], []),
    ("two machines", ["elf-bfd.so", "elf-aarch64.so", "elf-s390x.so"], [], []),
    ("two byte orders", ["elf-aarch64.so", "elf-aarch64_be.so"], [], []),
    ("two byte orders of MIPS", ["elf-mips.so", "elf-mipsel.so"], [], []),
    ("32 and 64 bits", ["elf-mips.so", "elf-mips64.so"], [], []),
    ("32 and 64 bits of x86_64", ["elf-gcc.o", "elf-x32.o"], [], []),
    (
      "32 and 64 bits of Mach-O", ["macho-arm64-fixup-chains.dylib", "macho-arm64_32.dylib"], [], []
    ),
    (
      "a dylib and a bundle",
      ["macho-arm64-fixup-chains.dylib", "macho-arm64-fixup-chains.bundle"],
      ["macho-arm64-fixup-chains.bundle"], []
    ),
    ("two executables", ["elf-bfd-pie", "elf-lld-no-pie"], [], []),
    ("an executable and a library", ["elf-bfd-pie", "elf-bfd.so"], ["elf-bfd.so"], []),
    (
      "two executables, each with a library",
      ["elf-bfd.so", "elf-bfd-pie", "elf-lld-no-pie", "elf-lld.so"],
      ["elf-bfd-pie", "elf-lld-no-pie", "elf-lld.so"], []
    ),
    ("an object and a library", ["elf-gcc.o", "elf-bfd.so"], [], []),
    ("two objects", ["elf-gcc.o", "elf-clang.o"], ["elf-clang.o"], []),
    ("members of an archive", ["archive-gnu.a"], [], ["archive-gnu.a(short.o)"]),
    (
      "members of an archive in an archive", ["archive-nested.a"], [],
      ["archive-nested.a(archive-gnu.a)(short.o)"]
    ),
    (
      "members of a thin archive, and an object", ["elf-gcc.o", "archive-thin.a"], [],
      [
        "archive-thin.a(archive-thin.a.members/\(member))",
        "archive-thin.a(archive-thin.a.members/short.o)",
      ]
    ),
    ("slices of a library", ["universal.dylib"], [], []),
    ("slices of an object", ["universal.o"], [], []),
    ("slices of an archive", ["universal.a"], [], []),
    ("slices in an archive", ["archive-universal.a"], [], []),
    (
      "slices of two libraries", ["universal.dylib", "universal-64.dylib"], [],
      ["universal-64.dylib(arm64)", "universal-64.dylib(x86_64)"]
    ),
    (
      "a slice and a library of its machine",
      ["universal.dylib", "macho-arm64-no-fixup-chains.dylib"],
      ["macho-arm64-no-fixup-chains.dylib"], []
    ),
    (
      "a slice of an archive and an object of its machine", ["macho-x86_64.o", "universal.a"], [],
      ["universal.a(x86_64)(macho-x86_64.o)"]
    ),
  ]

  @Test(arguments: rows)
  func finds(what: String, files: [String], duplicates: [String], copies: Set<String>) throws {
    let findings = try Tool.findings(files.map(Linkages.path), status: duplicates.isEmpty ? 0 : 1)
    func names(_ code: String) -> [String] {
      findings.filter { ($0["code"] as? String)?.hasPrefix(code) == true }.map { finding in
        let container = finding["container"] as? [String] ?? []
        let name = ((finding["path"] as? String ?? "") as NSString).lastPathComponent
        return name + container.map { "(\($0))" }.joined()
      }
    }
    #expect(names("duplicate-").sorted() == duplicates.flatMap { Array(repeating: $0, count: 5) })
    #expect(Set(names("copy")) == copies)
    // The two modules that require an undeclared module are reported, whichever files they are in.
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
