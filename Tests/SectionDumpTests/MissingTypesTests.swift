import Foundation
import TestSupport
import Testing

@testable import section_dump

/// Entries that wait for a Swift type, and files that have it or do not.
@Suite("Implementations that no file provides")
struct MissingTypesTests {
  /// Every place in which Swift lets a type stand.
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

  /// Names by which one of these types answers.
  static let there = [
    "Shop.Outer", "Outer", "Shop.Outer.Inner", "Inner", "Shop.Outer.Deep.Deeper", "Deep.Deeper",
    "Shop.Outer.Extended", "Extended", "Shop.Outer.Inner.More.Most", "Swift.Array.Foreign",
    "Foreign", "Swift.String.Kind", "Shop.Cache<Int, String>", "Shop.Cache<Int, [Int]>.Item",
  ]

  /// Names by which none does: private ones and protocols cannot be made by name.
  static let missing = [
    "Shop.Hidden", "Shop.Declared", "Shop.Local", "Other.Outer", "Shop.Nothing", "Deeper.Deep",
    "Shop.",
  ]

  private static let built = Result { try Fixtures.swift(swift, as: "libTypes.so", module: "Shop") }

  /// A library whose entries name these types.
  private static func entries(_ types: [String], as name: String) throws -> String {
    let source = types.enumerated().map { index, type in
      """
      __attribute__((used, retain, aligned(8), section("BeehiveServices")))
      static const char *const entry\(index) = "{\\"Service\(index)\\":\\"\(type)\\"}";
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
    #expect(try Tool.found([present, library]) == [])

    let absent = try Self.entries(Self.missing, as: "missing-\(isStripped).so")
    #expect(
      try Tool.found([library, absent])
        == Self.missing.indices.map {
          "warning missing-implementation \(absent) BeehiveServices[\($0)]"
        })
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
      0, output: "which no file has whose types can be read; those of \(object) cannot")
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
