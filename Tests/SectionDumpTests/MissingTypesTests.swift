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
    "Shop.", "",
  ]

  private static func library(_ name: String) throws -> String {
    let source = Fixtures.place("\(name).swift")
    try Data(swift.utf8).write(to: source)
    let emits = name.hasSuffix(".o") ? "-emit-object" : "-emit-library"
    try Fixtures.tool(
      "swiftc", ["-parse-as-library", emits, "-module-name", "Shop", source.path, "-o", name])
    return name
  }

  private static let built = Result { try library("libTypes.so") }

  /// A library whose entries name these types.
  private static func entries(_ types: [String], as name: String) throws -> String {
    let source = types.enumerated().map { index, type in
      """
      __attribute__((used, retain, aligned(8), section("BeehiveServices")))
      static const char *const entry\(index) = "{\\"Service\(index)\\":\\"\(type)\\"}";
      """
    }
    return try Fixtures.build(
      source.joined(separator: "\n"), as: name, ["-shared", "-fPIC", "-O0"])
  }

  /// What `verify` finds in these files, as `place code level`.
  private static func findings(_ files: [String]) throws -> [String] {
    let outcome = try Tool.run(["verify", "--format", "csv"] + files)
    return outcome.output.split(separator: "\n").dropFirst().map { line in
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      return "\(fields[2]) \(fields[4])[\(fields[5])] \(fields[1]) \(fields[0])"
    }
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
    #expect(try Self.findings([present, library]) == [])

    let missing = Self.missing.filter { !$0.isEmpty }
    let absent = try Self.entries(missing, as: "missing-\(isStripped).so")
    #expect(
      try Self.findings([library, absent])
        == missing.indices.map { "\(absent) BeehiveServices[\($0)] missing-implementation warning" }
    )
  }

  @Test(
    "are a remark where an object may have the type, which only a linker can tell",
    .needs("swiftc"))
  func objects() throws {
    let object = try Self.library("Types.o")
    let entries = try Self.entries(["Shop.Nothing"], as: "with-object.so")
    let findings = try Self.findings([entries, object])
    #expect(findings.count == 1 && findings[0].hasSuffix(" missing-implementation remark"))
    let said = try Tool.run(["verify", "--strict", entries, object])
    #expect(said.status == 0)
    #expect(
      said.output.contains("which no file has whose types can be read; those of \(object) cannot"))
    #expect(try Self.findings([entries]).count == 1)
  }

  @Test(
    "A library whose type tables are overwritten is read to the end, or not believed",
    .needs("swiftc"))
  func damaged() throws {
    let library = try Self.built.get()
    let bytes = try Fixtures.bytes(library)
    var list = Data()
    let folder = try Fixtures.folder("overwritten-types")
    for section in try Tool.sections(["sections", library]) {
      let name = section["name"] as? String ?? ""
      guard ["swift5_type_metadata", ".rodata"].contains(name) else { continue }
      let offset = try #require(Int((section["offset"] as? String ?? "").dropFirst(2), radix: 16))
      let size = try #require(section["size"] as? Int)
      let positions = Array(stride(from: offset, to: offset + min(size, 1024), by: 3))
      for position in Effort.sample(60, of: positions) {
        for value: UInt8 in [0, 0x7f, 0xff] {
          var copy = bytes
          copy[position] = value
          let file = folder.appendingPathComponent("\(position)-\(value)")
          try copy.write(to: file)
          list += Data(file.path.utf8) + [0]
        }
      }
    }
    #expect(list.count > 1000)
    let outcome = try Tool.run(["verify", "--stdin0"], input: list)
    #expect(outcome.status == 0, "\(outcome.errors)")
    try FileManager.default.removeItem(at: folder)
  }
}
