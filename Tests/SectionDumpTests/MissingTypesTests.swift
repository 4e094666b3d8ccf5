import Foundation
import TestSupport
import Testing

@testable import section_dump

/// Entries that wait for a Swift type, and files that have it or do not.
@Suite("Implementations that no file provides")
struct MissingTypesTests {
  /// Types in every place that Swift allows.
  private static let swift = """
    public class Outer { struct Inner {}; enum Deep { final class Deeper {} } }
    extension Outer { struct Extended {} }
    extension Outer.Inner { struct More { actor Most {} } }
    extension Array { struct Foreign {} }
    extension String { enum Kind { case a } }
    private struct Hidden {}
    struct Cache<Key, Value> { struct Item {} }
    protocol Declared {}
    func make() { struct Local {}; print(Local.self) }
    """

  /// Names that lead to one of these types.
  static let there = [
    "Shop.Outer", "Outer", "Shop.Outer.Inner", "Inner", "Shop.Outer.Deep.Deeper", "Deep.Deeper",
    "Shop.Outer.Extended", "Extended", "Shop.Outer.Inner.More.Most", "Swift.Array.Foreign",
    "Foreign", "Swift.String.Kind", "Shop.Cache<Int, String>", "Shop.Cache<Int, [Int]>.Item",
  ]

  /// Names that lead to no type: private types and protocols cannot be made by name.
  static let missing = [
    "Shop.Hidden", "Shop.Declared", "Shop.Local", "Other.Outer", "Shop.Nothing", "Deeper.Deep",
    "Shop.",
  ]

  private static let built = Result { try Fixtures.swift(swift, as: "libTypes.so", module: "Shop") }

  /// Builds a library whose entries name these types, each for a service of its own.
  private static func entries(_ types: [String], as name: String) throws -> String {
    try entries(for: types.enumerated().map { ("Service\($0)", $1) }, as: name)
  }

  /// Builds a library whose entries name types for services.
  private static func entries(for pairs: [(String, String)], as name: String) throws -> String {
    let source = pairs.enumerated().map { index, pair in
      """
      __attribute__((used, retain, aligned(8), section("BeehiveServices")))
      static const char *const entry\(index) = "{\\"\(pair.0)\\":\\"\(pair.1)\\"}";
      """
    }
    return try Fixtures.build(source.joined(separator: "\n"), as: name)
  }

  @Test(
    "are those whose type no linked file has, stripped or not", .needs("swiftc"),
    arguments: [false, true])
  func types(isStripped: Bool) throws {
    var library = try Self.built.get()
    if isStripped {
      library = "libStrippedTypes.so"
      try Fixtures.tool("strip", ["-o", library, try Self.built.get()])
    }
    let present = try Self.entries(Self.there, as: "there-\(isStripped).so")
    let found = try Tool.found([present, library])
    #expect(!found.isEmpty && !found.contains { $0.contains("missing-implementation") })

    let absent = try Self.entries(Self.missing, as: "missing-\(isStripped).so")
    #expect(
      try Tool.found([library, absent])
        == Self.missing.indices.map {
          "warning missing-implementation \(absent) BeehiveServices[\($0)]"
        })
    let findings = try Tool.findings([library, absent])
    let hidden = findings.filter {
      ($0["message"] as? String ?? "").hasSuffix("private or local one")
    }
    #expect(hidden.map { $0["index"] as? Int } == [0, 2])
  }

  @Test(
    "Types that are there serve as a Hive would have them", .needs("swiftc"),
    arguments: [false, true])
  func fitting(isStripped: Bool) throws {
    let library = "libFitting-\(isStripped).so"
    try Compiler.swift(
      "public protocol Module {}; public protocol Injectable {}", module: "BeeHive",
      as: "libHiveOf-\(isStripped).so", in: Fixtures.directory,
      ["-emit-module", "-emit-module-path", "BeeHive.swiftmodule"])
    try Compiler.swift(
      """
      import BeeHive
      public protocol Greeter {}; public protocol Louder: Greeter {}; public protocol Bare {}
      open class Base: Injectable, Louder {}
      final class Polite: Base {}
      class List<Item>: Greeter {}
      final class Names: List<String>, Injectable {}
      struct Silent: Injectable {}
      struct Stubborn: Greeter, Bare {}
      final class Till: Module {}
      struct Drawer {}
      """, module: "Shop", as: library, in: Fixtures.directory,
      ["-I", Fixtures.directory.path, "-Xlinker", "--unresolved-symbols=ignore-all"])
    if isStripped { try Fixtures.tool("strip", [library]) }
    let services = [
      ("Shop.Greeter", "Shop.Polite", nil), ("Louder", "Polite", nil), ("Polite", "Base", nil),
      ("any Shop.Bare", "Shop.Polite", "does-not-conform"),
      ("Greeter & Bare", "Base", "does-not-conform"),
      ("Shop.Greeter ", "Shop.Names", nil), ("Bare", "Silent", "does-not-conform"),
      ("Bare", "Stubborn", "no-initializer"), ("Shop.Grater", "Shop.Base", "missing-protocol"),
    ]
    let entries = try Self.entries(
      for: services.map { ($0.0, $0.1) }, as: "fitting-\(isStripped).so")
    let found = try Tool.found([entries, library], status: nil)
      .filter { !$0.contains("duplicate-service") }
    #expect(
      found
        == services.indices.compactMap { index in
          services[index].2.map { "warning \($0) \(entries) BeehiveServices[\(index)]" }
        })
    let modules = try Fixtures.build(
      "#include <BeeHive.h>\nBeeHiveMod(Shop.Till);\nBeeHiveMod(Shop.Drawer);",
      as: "fitting-modules-\(isStripped).so")
    #expect(
      try Tool.found([modules, library])
        == ["warning does-not-conform \(modules) BeehiveMods[1]"])
    try Tool.run(["verify", "--strict", modules, library]).expect(
      1,
      output:
        "module Shop.Drawer does not conform to BeeHive.Module, so no Hive can start it")
  }

  @Test(
    "are a remark where an object may have the type, which only a linker can tell",
    .needs("swiftc"))
  func objects() throws {
    let object = try Fixtures.swift(Self.swift, as: "Types.o", module: "Shop", emit: "-emit-object")
    let entries = try Self.entries(["Shop.Nothing"], as: "with-object.so")
    let findings = try Tool.found([entries, object])
    #expect(findings.count == 1 && findings[0].hasPrefix("remark missing-implementation "))
    try Tool.run(["verify", "--strict", entries, object]).expect(
      0, output: "which no file has; the types of \(object) cannot be read")
    #expect(try Tool.found([entries]).count == 1)
  }

  @Test(
    "A library whose type tables are overwritten is read to the end, or not believed",
    .needs("swiftc"))
  func damaged() throws {
    let library = try Self.built.get()
    var positions: [Int] = []
    for section in try Tool.sections(["sections", library]) {
      let name = section["name"] as? String ?? ""
      guard ["swift5_type_metadata", ".rodata"].contains(name) else { continue }
      let offset = try #require(Int((section["offset"] as? String ?? "").dropFirst(2), radix: 16))
      let size = try #require(section["size"] as? Int)
      let all = stride(from: offset, to: offset + min(size, 1024), by: 3)
      positions += Effort.sample(60, of: Array(all))
    }
    #expect(positions.count > 60)
    let folder = try Folder()
    defer { folder.remove() }
    let list = try Fixtures.overwritten(
      Fixtures.bytes(library), at: positions, by: [0, 0x7f, 0xff], in: folder)
    try Tool.run(["verify", "--stdin0"], input: list).expect(0)
  }
}
