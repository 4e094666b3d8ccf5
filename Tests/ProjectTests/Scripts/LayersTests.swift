import Foundation
import TestSupport
import Testing

@Suite("Scripts/check-layers sees each violation")
struct LayersTests {
  /// Lines at the ends of files of the package, which may be new files.
  static let plants: [(file: String, line: String, isAllowed: Bool)] = [
    ("Sources/BinaryImage/Planted.swift", "internal import CElf", true),
    ("Sources/BeeHive/Planted.swift", "// import Foundation", true),
    ("CSupport/CImageList/planted.c", "#include <link.h>", true),
    // Imports of a higher layer.
    ("Sources/BinaryImage/Planted.swift", "internal import Registration", false),
    ("Sources/Registration/Planted.swift", "public import BeeHive", false),
    ("Sources/BeeHive/Deep/Planted.swift", "@_exported import BeeHiveRouting", false),
    // Sideways imports.
    ("Sources/section-dump/Planted.swift", "import BeeHive", false),
    ("Sources/Registration/Planted.swift", "  private import struct CElf.Elf", false),
    ("Sources/BinaryImage/Planted.swift", "internal import CBeeHive", false),
    ("Sources/BeeHive/Planted.swift", "internal import CImageList", false),
    ("Package.swift", #".target(name: "BinaryImage", dependencies: ["CElf", "BeeHive"])"#, false),
    (
      "Package.swift",
      ".executableTarget(\n name: \"section-dump\",\n dependencies: [\n \"CElf\"])", false
    ),
    // Imports from outside.
    ("Sources/BeeHive/Planted.swift", "import Foundation", false),
    ("Sources/section-dump/Planted.swift", "import Foundation", false),
    // C.
    ("CSupport/CBeeHive/include/beehive/planted.h", "#include <string.h>", false),
    ("CSupport/CImageList/planted.c", "#include <BeeHive.h>", false),
    ("CSupport/CImageList/planted.c", #"#include "CImageEvents.h""#, false),
    (
      "CSupport/CSwiftRuntime/planted.c", ##"  #  include "../CImageList/include/CImageList.h""##,
      false
    ),
    // Code next to libelf.
    (
      "Sources/BinaryImage/ELF/Planted.swift",
      "let size: UInt32? = bytes.span.integer(at: 4, order: order)", false
    ),
    ("Sources/PluginFiles/Planted.swift", "let type = order.number(of: bytes[4..<8])", false),
    ("Sources/BinaryImage/ELF/Planted.swift", "elf_begin(file, ELF_C_READ_MMAP, nil)", false),
    (
      "Sources/BinaryImage/Planted.swift",
      "let size: UInt32? = bytes.span.integer(at: 4, order: order)", true
    ),
    // Forbidden names, and unknown targets.
    ("Sources/BeeHive/StringUtils.swift", "enum Planted {}", false),
    ("Sources/BeeHive/Helpers/Planted.swift", "enum Planted {}", false),
    ("Sources/BinaryImage/CommonTypes.swift", "enum Planted {}", false),
    ("CSupport/CImageList/image_manager.c", "int planted;", false),
    ("Sources/Planted/Planted.swift", "enum Planted {}", false),
  ]

  /// Returns the script's outcome for a package, or for this one if none is given.
  static func check(_ package: String...) throws -> Outcome {
    try Command.run(Repository.place("Scripts/check-layers").path, package)
  }

  @Test("this package has none") func thisPackage() throws {
    let outcome = try Self.check().expect(0)
    #expect(outcome.lines.last?.hasSuffix(" passed, 0 failed, 0 skipped") == true)
  }

  @Test("planted in a copy", arguments: plants)
  func planted(file: String, line: String, isAllowed: Bool) throws {
    let outcome = try Self.checkCopy { copy in
      let before = FileManager.default.contents(atPath: copy.place(file).path) ?? Data()
      try copy.write(before + Data("\(line)\n".utf8), as: file)
    }
    outcome.expect(isAllowed ? 0 : 1)
    #expect(outcome.output.contains("FAIL \(file)") != isAllowed, "\(outcome)")
  }

  /// Returns the script's outcome for a copy that `change` changes.
  private static func checkCopy(_ change: (Folder) throws -> Void) throws -> Outcome {
    let copy = try Folder()
    defer { copy.remove() }
    // Files that are read-only here must be writable in the copy.
    try Command.output(
      "sh", ["-c", #"cp -R Sources CSupport Package.swift "$0" && chmod -R u+w "$0""#, copy.path],
      in: Repository.root)
    try change(copy)
    return try check(copy.path)
  }

  @Test("what is declared and never imported") func unused() throws {
    let outcome = try Self.checkCopy { copy in
      let script = "find Sources/ObjectFiles -name '*.swift' -exec sed -i '/import CElf/d' {} +"
      try Command.output("sh", ["-c", script], in: copy.url)
    }
    outcome.expect(1, output: "ObjectFiles depends on CElf, and imports nothing of it")
  }

  @Test("what is imported and not linked, in the package of the fuzzers") func unlinked() throws {
    let outcome = try Self.checkCopy { copy in
      let package = try Repository.text("Fuzz/Package.swift")
        .replacing(
          #""Registration", "BinaryImage", "Threads""#, with: #""Registration", "BinaryImage""#)
      try copy.write(package, as: "Fuzz/Package.swift")
    }
    outcome.expect(1, output: "PluginFiles imports Threads, and does not depend on it")
  }

  @Test("more than one folder is a mistake") func usage() throws {
    #expect(try Self.check("one", "two").status == 64)
    #expect(try Self.check("--self-test").status == 64)
  }
}
