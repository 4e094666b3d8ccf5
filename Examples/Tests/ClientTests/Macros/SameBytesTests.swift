import Foundation
import Testing

/// The same one entry in Swift and in C, as files.
@Suite struct SameBytesTests {
  private static let swift = Result {
    try SwiftCompiler.plugin(
      """
      import BeeHiveAnnotations
      protocol Greeter {}
      @BeeHiveService((any Greeter).self, name: "en", scope: .singleton, priority: -5)
      struct English: Greeter {}
      """, .release)
  }

  private static let c = Result {
    try SwiftCompiler.library(
      ofC: """
        #include <BeeHive.h>
        static const struct greeter { int dummy; } table = { 1 };
        BEEHIVE_SERVICE(Greeter, Shop.English, &table,
                        BEEHIVE_NAME("en") BEEHIVE_SCOPE("singleton") BEEHIVE_PRIORITY(-5));
        """)
  }

  /// A person who reads a file need not know which language wrote it.
  @Test func recordsOfSwiftAndCSayTheSame() throws {
    let swift = try SectionDump.read(try Self.swift.get()).records.map(\.line)
    let c = try SectionDump.read(try Self.c.get()).records.map(\.line)
    #expect(swift == ["service Greeter → Shop.English -5 scope=singleton name=en"])
    #expect(swift == c)
  }

  /// A program need not know either. Only the pointers differ, which lead to a function here and to a table there, and
  /// the attribute that names the kind of table.
  @Test func recordsOfSwiftAndCAreTheSameBytes() throws {
    var expected = try Self.section(of: try Self.c.get())
    let text = expected[32...].split(separator: 0).filter { !$0.starts(with: "abi=".utf8) }
    expected[32...] = ArraySlice(text.flatMap { $0 + [0] })
    expected += Array(repeating: 0, count: (8 - expected.count % 8) % 8)
    expected[0] = UInt8(expected.count)
    var written = try Self.section(of: try Self.swift.get())
    for position in 16..<32 { (written[position], expected[position]) = (0, 0) }
    #expect(written == expected)
    #expect(
      Array(written[..<16]) == [UInt8(written.count), 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 32, 0, 0, 0])
  }

  /// The identity of a plugin is the same, too.
  @Test func identitiesOfSwiftAndCSayTheSame() throws {
    let swift = try SwiftCompiler.plugin(
      """
      import BeeHiveAnnotations
      @BeeHivePlugin("com.example.greet", "1.4.2", name: "Greetings", names: ["de": "Gruss"], licence: "MIT")
      enum Greet {}
      """, .release)
    let c = try SwiftCompiler.library(
      ofC: """
        #include <BeeHive.h>
        BEEHIVE_PLUGIN("com.example.greet", "1.4.2", BEEHIVE_NAME("Greetings") BEEHIVE_LICENCE("MIT")
                       BEEHIVE_NAME_IN("de", "Gruss"));
        """)
    let lines = try SectionDump.read(swift).records.map(\.line)
    #expect(lines.count == 1 && lines[0].hasPrefix("plugin com.example.greet"))
    #expect(try SectionDump.read(c).records.map(\.line) == lines)
  }

  /// Returns the bytes of the section, as they are in the file.
  private static func section(of file: String) throws -> [UInt8] {
    let output = try Folder().place("section")
    try Command.output(
      "objcopy", ["-O", "binary", "--only-section=BeehiveRecords", file, output.path])
    return try [UInt8](Data(contentsOf: output))
  }
}
