import TestSupport
import Testing

@Suite("Docs/beehive.md and Docs/events.md name what is there")
struct BeeHiveTableTests {
  /// Names of the documents' own examples, and words of paths.
  static let examples: Set = [
    "Shop", "ShopModule", "Home", "HomeModel", "Greeter", "hive", "any", "url", "self", "key", "md",
    "Docs", "RecordLayout", "CSupport",
  ]

  static func document(_ name: String) throws -> Markdown {
    Markdown(text: try Repository.text("Docs/\(name)"))
  }

  @Test("every name is one of the sources", arguments: [("beehive.md", 1), ("events.md", 2)])
  func names(document: String, column: Int) throws {
    let sources =
      try Texts.below(
        "Sources/BeeHive", "Sources/BeeHiveAnnotations", "Sources/BeeHiveRouting",
        "Sources/Registration") + Texts.below("CSupport/CBeeHive/include", ending: ".h")
    let names = try Self.document(document).codeWords(inColumn: column)
    #expect(names.count > 10)
    #expect(names.subtracting(Self.examples).subtracting(sources.flatMap(\.words)) == [])
  }

  @Test("every event of BeeHive has a row")
  func rows() throws {
    let numbers = try Self.document("events.md").rows.compactMap { row in
      row.firstMatch(of: /^\| ([0-9]{1,2}) \|/).flatMap { Int($0.output.1) }
    }
    #expect(numbers == Array(0...23))
  }

  @Test("an event that has a name here has the number of its row")
  func numbers() throws {
    let declared = try Repository.text("Sources/BeeHive/Modules/Event.swift").lines
      .compactMap { $0.firstMatch(of: /^ +case ([a-zA-Z]+) = ([0-9]{1,2})$/) }
      .map { "\($0.output.2) \($0.output.1)" }
    let documented = try Self.document("events.md").rows
      .compactMap { $0.firstMatch(of: /^\| ([0-9]{1,2}) \| [A-Za-z]+ \| `\.?([a-zA-Z]+)/) }
      .map { "\($0.output.1) \($0.output.2)" }
    #expect(!declared.isEmpty)
    #expect(Set(documented) == Set(declared))
  }

  @Test("every test that Docs/beehive.md names is there")
  func tests() throws {
    let titles = try Self.document("beehive.md").rows
      .compactMap { $0.firstMatch(of: #/ \| "(.*)" \|$/#)?.output.1 }.map(String.init)
    let literals = try Texts.ofTests().flatMap { text in
      text.utf8.split(separator: UInt8(ascii: "\"")).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(!titles.isEmpty)
    #expect(Set(titles).subtracting(literals) == [])
  }

  @Test("every switch of the environment is in Docs/beehive.md")
  func switches() throws {
    let read = try Texts.below("Sources/BeeHive").flatMap { source in
      source.matches(of: /getenv\("(BEEHIVE_[A-Z]+)/).map { String($0.output.1) }
    }
    let documented = try Self.document("beehive.md").text.matches(of: /`(BEEHIVE_[A-Z]+)=/)
      .map { String($0.output.1) }
    #expect(!read.isEmpty)
    #expect(Set(documented) == Set(read))
  }
}
