import Foundation
import TestSupport
import Testing

@Suite("Scripts/check-layers sees each violation")
struct LayersTests {
  /// A line at the end of a file of the package, which may be a new one.
  struct Plant: Sendable, CustomTestStringConvertible {
    var file: String
    var line: String
    var isAllowed: Bool

    init(_ file: String, _ line: String, isAllowed: Bool = false) {
      (self.file, self.line, self.isAllowed) = (file, line, isAllowed)
    }

    var testDescription: String { "\(file): \(line.replacing("\n", with: " "))" }
  }

  static let plants = [
    Plant("Sources/BinaryImage/Planted.swift", "internal import CElf", isAllowed: true),
    Plant("Sources/BeeHive/Planted.swift", "// import Foundation", isAllowed: true),
    Plant("CSupport/CImageList/planted.c", "#include <link.h>", isAllowed: true),
    // Up.
    Plant("Sources/BinaryImage/Planted.swift", "internal import Registration"),
    Plant("Sources/Registration/Planted.swift", "public import BeeHive"),
    Plant("Sources/BeeHive/Deep/Planted.swift", "@_exported import BeeHiveRouting"),
    // Sideways.
    Plant("Sources/section-dump/Planted.swift", "import BeeHive"),
    Plant("Sources/Registration/Planted.swift", "  private import struct CElf.Elf"),
    Plant("Sources/BinaryImage/Planted.swift", "internal import CBeeHive"),
    Plant("Sources/BeeHive/Planted.swift", "internal import CImageList"),
    Plant("Package.swift", #".target(name: "BinaryImage", dependencies: ["CElf", "BeeHive"])"#),
    Plant(
      "Package.swift", ".executableTarget(\n name: \"section-dump\",\n dependencies: [\n \"CElf\"])"
    ),
    // Out.
    Plant("Sources/BeeHive/Planted.swift", "import Foundation"),
    Plant("Sources/section-dump/Planted.swift", "import Foundation"),
    // C.
    Plant("CSupport/CBeeHive/include/beehive/planted.h", "#include <string.h>"),
    Plant("CSupport/CImageList/planted.c", "#include <BeeHive.h>"),
    Plant("CSupport/CImageList/planted.c", #"#include "CImageEvents.h""#),
    Plant(
      "CSupport/CSwiftRuntime/planted.c", ##"  #  include "../CImageList/include/CImageList.h""##),
    // Beside libelf.
    Plant(
      "Sources/BinaryImage/ELF/Planted.swift",
      "let size: UInt32? = bytes.span.integer(at: 4, order: order)"),
    Plant("Sources/PluginFiles/Planted.swift", "let type = order.number(of: bytes[4..<8])"),
    Plant("Sources/BinaryImage/ELF/Planted.swift", "elf_begin(file, ELF_C_READ_MMAP, nil)"),
    Plant(
      "Sources/BinaryImage/Planted.swift",
      "let size: UInt32? = bytes.span.integer(at: 4, order: order)", isAllowed: true),
    // Names, and targets that nobody thought of.
    Plant("Sources/BeeHive/StringUtils.swift", "enum Planted {}"),
    Plant("Sources/BeeHive/Helpers/Planted.swift", "enum Planted {}"),
    Plant("Sources/BinaryImage/CommonTypes.swift", "enum Planted {}"),
    Plant("CSupport/CImageList/image_manager.c", "int planted;"),
    Plant("Sources/Planted/Planted.swift", "enum Planted {}"),
  ]

  /// What the script says of a package, this one if none is given.
  static func check(_ package: String...) throws -> Outcome {
    try Command.run(Repository.place("Scripts/check-layers").path, package)
  }

  @Test("this package has none") func thisPackage() throws {
    let outcome = try Self.check().expect(0)
    #expect(outcome.lines.last?.hasSuffix(" passed, 0 failed, 0 skipped") == true)
  }

  @Test("planted in a copy", arguments: plants) func planted(plant: Plant) throws {
    let outcome = try Self.checkCopy { copy in
      let before = FileManager.default.contents(atPath: copy.place(plant.file).path) ?? Data()
      try copy.write(before + Data("\(plant.line)\n".utf8), as: plant.file)
    }
    #expect(outcome.status == (plant.isAllowed ? 0 : 1), "\(outcome)")
    #expect(outcome.output.contains("FAIL \(plant.file)") != plant.isAllowed, "\(outcome)")
  }

  /// The script's words about a copy that `change` makes different.
  private static func checkCopy(_ change: (Folder) throws -> Void) throws -> Outcome {
    let copy = try Folder()
    defer { copy.remove() }
    // What is read-only here must be writable there.
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
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("ObjectFiles depends on CElf, and imports nothing of it"))
  }

  @Test("what is imported and not linked, in the package of the fuzzers") func unlinked() throws {
    let outcome = try Self.checkCopy { copy in
      let package = try Repository.text("Fuzz/Package.swift")
        .replacing(#""BinaryImage", "Threads", "LibC"]"#, with: #""BinaryImage", "LibC"]"#)
      try copy.write(package, as: "Fuzz/Package.swift")
    }
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("PluginFiles imports Threads, and does not depend on it"))
  }

  @Test("more than one folder is a mistake") func usage() throws {
    #expect(try Self.check("one", "two").status == 64)
    #expect(try Self.check("--self-test").status == 64)
  }
}
