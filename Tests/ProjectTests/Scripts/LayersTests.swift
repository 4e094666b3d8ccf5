import Foundation
import TestSupport
import Testing

@Suite("Scripts/check-layers sees each violation")
struct LayersTests {
  /// A line at the end of a file of the package, which may be a new one.
  struct Plant: Sendable, CustomTestStringConvertible {
    var file: String
    var line: String
    var isAllowed = false

    var testDescription: String { "\(file): \(line.replacing("\n", with: " "))" }
  }

  static let plants = [
    Plant(file: "Sources/BinaryImage/Planted.swift", line: "internal import CElf", isAllowed: true),
    Plant(file: "Sources/BeeHive/Planted.swift", line: "// import Foundation", isAllowed: true),
    Plant(file: "CSupport/CImageList/planted.c", line: "#include <link.h>", isAllowed: true),
    // Up.
    Plant(file: "Sources/BinaryImage/Planted.swift", line: "internal import Registration"),
    Plant(file: "Sources/Registration/Planted.swift", line: "public import BeeHive"),
    Plant(file: "Sources/BeeHive/Deep/Planted.swift", line: "@_exported import BeeHiveRouting"),
    // Sideways.
    Plant(file: "Sources/section-dump/Planted.swift", line: "import BeeHive"),
    Plant(file: "Sources/Registration/Planted.swift", line: "  private import struct CElf.Elf"),
    Plant(file: "Sources/BinaryImage/Planted.swift", line: "internal import CBeeHive"),
    Plant(file: "Sources/BeeHive/Planted.swift", line: "internal import CImageList"),
    Plant(
      file: "Package.swift",
      line: #".target(name: "BinaryImage", dependencies: ["CElf", "BeeHive"])"#),
    Plant(
      file: "Package.swift",
      line: ".executableTarget(\n name: \"section-dump\",\n dependencies: [\n \"CElf\"])"),
    // Out.
    Plant(file: "Sources/BeeHive/Planted.swift", line: "import Foundation"),
    Plant(file: "Sources/section-dump/Planted.swift", line: "import Foundation"),
    // C.
    Plant(file: "CSupport/CBeeHive/include/beehive/planted.h", line: "#include <string.h>"),
    Plant(file: "CSupport/CImageList/planted.c", line: "#include <BeeHive.h>"),
    Plant(file: "CSupport/CImageList/planted.c", line: #"#include "CImageEvents.h""#),
    Plant(
      file: "CSupport/CSwiftRuntime/planted.c",
      line: ##"  #  include "../CImageList/include/CImageList.h""##),
    // Beside libelf.
    Plant(
      file: "Sources/BinaryImage/ELF/Planted.swift",
      line: "let size: UInt32? = bytes.span.integer(at: 4, order: order)"),
    Plant(
      file: "Sources/PluginFiles/Planted.swift", line: "let type = order.number(of: bytes[4..<8])"),
    Plant(
      file: "Sources/BinaryImage/ELF/Planted.swift", line: "elf_begin(file, ELF_C_READ_MMAP, nil)"),
    Plant(
      file: "Sources/BinaryImage/Planted.swift",
      line: "let size: UInt32? = bytes.span.integer(at: 4, order: order)", isAllowed: true),
    // Names, and targets that nobody thought of.
    Plant(file: "Sources/BeeHive/StringUtils.swift", line: "enum Planted {}"),
    Plant(file: "Sources/BeeHive/Helpers/Planted.swift", line: "enum Planted {}"),
    Plant(file: "Sources/BinaryImage/CommonTypes.swift", line: "enum Planted {}"),
    Plant(file: "CSupport/CImageList/image_manager.c", line: "int planted;"),
    Plant(file: "Sources/Planted/Planted.swift", line: "enum Planted {}"),
  ]

  /// What the script says of a package, this one if none is given.
  static func check(_ package: String...) throws -> Outcome {
    try Command.run(Repository.place("Scripts/check-layers").path, package)
  }

  @Test("this package has none") func thisPackage() throws {
    let outcome = try Self.check()
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.lines.last?.hasSuffix(" passed, 0 failed, 0 skipped") == true)
  }

  @Test("planted in a copy", arguments: plants) func planted(plant: Plant) throws {
    let copy = try Folder()
    defer { copy.remove() }
    // What is read-only here must be writable there.
    try Command.output(
      "sh", ["-c", #"cp -R Sources CSupport Package.swift "$0" && chmod -R u+w "$0""#, copy.path],
      in: Repository.root)
    let before = FileManager.default.contents(atPath: copy.place(plant.file).path) ?? Data()
    try copy.write(before + Data("\(plant.line)\n".utf8), as: plant.file)

    let outcome = try Self.check(copy.path)
    #expect(outcome.status == (plant.isAllowed ? 0 : 1), "\(outcome)")
    #expect(outcome.output.contains("FAIL \(plant.file)") != plant.isAllowed, "\(outcome)")
  }

  /// What the script says of a copy that `change` makes in the folder `$0`.
  private static func checkCopy(_ change: String) throws -> Outcome {
    let copy = try Folder()
    defer { copy.remove() }
    try Command.output(
      "sh",
      [
        "-c", #"cp -R Sources CSupport Package.swift "$0" && chmod -R u+w "$0" && "# + change,
        copy.path,
      ], in: Repository.root)
    return try check(copy.path)
  }

  @Test("what is declared and never imported") func unused() throws {
    let outcome = try Self.checkCopy(
      #"""
      find "$0/Sources/ObjectFiles" -name '*.swift' -exec sed -i.before '/import CElf/d' {} + &&
        find "$0" -name '*.before' -exec rm {} +
      """#)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("ObjectFiles depends on CElf, and imports nothing of it"))
  }

  @Test("what is imported and not linked, in the package of the fuzzers") func unlinked() throws {
    let outcome = try Self.checkCopy(
      #"""
      mkdir "$0/Fuzz" &&
        sed 's/"BinaryImage", "Threads", "LibC"\]/"BinaryImage", "LibC"]/' Fuzz/Package.swift > "$0/Fuzz/Package.swift"
      """#)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("PluginFiles imports Threads, and does not depend on it"))
  }

  @Test("more than one folder is a mistake") func usage() throws {
    #expect(try Self.check("one", "two").status == 64)
    #expect(try Self.check("--self-test").status == 64)
  }
}
