import TestSupport
import Testing

@Suite("Documents have the names that the sources have")
struct SourcesTests {
  private static func document(_ name: String) throws -> Markdown {
    Markdown(text: try Repository.text("Docs/\(name)"))
  }

  /// Names in the documents' own examples, and words of paths.
  private static let examples: Set = [
    "Shop", "ShopModule", "Home", "HomeModel", "Greeter", "hive", "any", "url", "self", "key", "md",
    "Docs", "RecordLayout", "CSupport",
  ]

  @Test("each name is one of the sources", arguments: [("beehive.md", 1), ("events.md", 2)])
  func names(document: String, column: Int) throws {
    let sources =
      try Texts.below(
        "Sources/BeeHive", "Sources/BeeHiveAnnotations", "Sources/BeeHiveRouting",
        "Sources/Registration") + Texts.below("CSupport/CBeeHive/include", ending: ".h")
    let names = try Self.document(document).codeWords(inColumn: column)
    #expect(names.count > 10)
    #expect(names.subtracting(Self.examples).subtracting(sources.flatMap(\.words)) == [])
  }

  @Test("each event has a row of Docs/events.md, one with a name here that of its number")
  func events() throws {
    let rows = try Self.document("events.md").rows
    let numbers = rows.compactMap { $0.firstMatch(of: /^\| (-?[0-9]+) \|/) }
      .compactMap { Int($0.output.1) }
    #expect(numbers == Array(0...23) + [1000, -1])
    let declared = try Repository.text("Sources/BeeHive/Lifecycle/Event.swift").lines
      .compactMap { $0.firstMatch(of: /^ +case ([a-zA-Z]+) = ([0-9]{1,2})$/) }
      .map { "\($0.output.2) \($0.output.1)" }
    let documented =
      rows.compactMap { $0.firstMatch(of: /^\| ([0-9]{1,2}) \| [A-Za-z]+ \| `\.?([a-zA-Z]+)/) }
      .map { "\($0.output.1) \($0.output.2)" }
    #expect(!declared.isEmpty)
    #expect(Set(documented) == Set(declared))
  }

  @Test("each switch of the environment is in Docs/beehive.md")
  func switches() throws {
    let read = try Texts.below("Sources/BeeHive").flatMap { source in
      source.matches(of: /getenv\("(BEEHIVE_[A-Z]+)/).map { String($0.output.1) }
    }
    let documented = try Self.document("beehive.md").text.matches(of: /`(BEEHIVE_[A-Z]+)=/)
      .map { String($0.output.1) }
    #expect(!read.isEmpty)
    #expect(Set(documented) == Set(read))
  }

  @Test("each macro that authors write has a row of Docs/header.md, and each row a macro")
  func macros() throws {
    let header = try Repository.text("CSupport/CBeeHive/include/beehive/macros.h")
    let defined = header.matches(of: #/(?m)^#define (B\w*[A-Za-z])\b/#).map { String($0.output.1) }
    // Macros that authors do not write.
    let parts: Set = ["BEEHIVE_EXPANDED_TEXT", "BEEHIVE_MACROS_H"]
    let rows = try Self.document("header.md").rows
      .compactMap { $0.firstMatch(of: #/^\| `(\w+)/#) }.map { String($0.output.1) }
    #expect(!rows.isEmpty)
    #expect(Set(rows) == Set(defined).subtracting(parts))
  }

  @Test(
    "contracts that Swift plugins are compiled against have the package's minor version",
    arguments: ["BeeHive/Module", "BeeHiveRouting/Targets/Target"])
  func contracts(file: String) throws {
    let tool = try Repository.text("Sources/section-dump/Commands/SectionDump.swift")
    let version = try #require(tool.firstMatch(of: /version = "([0-9]+)\.([0-9]+)\./)?.output)
    let source = try Repository.text("Sources/\(file).swift")
    let names = Set(source.matches(of: /beehiveContract_[0-9_]+/).map { String($0.output) })
    #expect(names == ["beehiveContract_\(version.1)_\(version.2)"])
  }

  @Test("each walk of CONTRIBUTING.md leads through functions that are there, at most fifteen")
  func walks() throws {
    let parts = try Repository.text("CONTRIBUTING.md").split(separator: "## Four walks")
    let walks = try #require(parts.last).split(separator: "### ").dropFirst()
    #expect(parts.count == 2 && walks.count == 4)
    for walk in walks {
      let hops = walk.matches(of: #/(?m)^\d+\. `(\w+)` in `([^`]+)` /#)
      #expect((5...15).contains(hops.count))
      #expect(hops.count == walk.matches(of: #/(?m)^\d+\. /#).count, "a hop is written otherwise")
      for hop in hops {
        let (name, file) = (hop.output.1, hop.output.2)
        let isC = file.hasSuffix(".c")
        let source = try Repository.text(isC ? String(file) : "Sources/\(file)")
        let pattern = isC || name == "init" ? "\(name)(" : "func \(name)"
        #expect(source.contains(pattern), "\(name) is not in \(file)")
      }
    }
  }

  /// Returns every public type, function and constant of BeeHive.
  private static func publicNames() throws -> [String] {
    try Texts.below("Sources/BeeHive").flatMap(\.lines).compactMap { line -> String? in
      let declaration = line.drop { $0 == " " }
      let starts = ["public ", "@discardableResult public "]
      guard starts.contains(where: declaration.hasPrefix) else { return nil }
      let matches = declaration.matches(
        of: #/ (?:func|var|let|struct|class|enum|protocol) ([A-Za-z0-9]+)/#)
      return matches.last.map { String($0.output.1) }
    }
  }

  @Test("the newcomer's tests type every public name of BeeHive")
  func newcomer() throws {
    // The C runtime exposes the first, and protocols of the standard library require the others.
    let others: Set = ["beehive", "description", "encode"]
    // The codes of a problem are compared, not typed.
    let codes = try Repository.text("Sources/BeeHive/Entries/Problem.swift")
      .matches(of: /(?m)public static let ([a-zA-Z]+) = Self\(rawValue: "[^"]*"\)$/)
      .map { String($0.output.1) }
    let names = Set(try Self.publicNames()).subtracting(others).subtracting(codes)
    #expect(names.count > 50)
    let typed = try Texts.below("Tests/BeeHiveTests/Newcomer").flatMap(\.words)
    #expect(names.subtracting(typed) == [])
  }

  /// Returns the fields of a structure, as a header declares them.
  private static func declared(_ structure: String) throws -> [String] {
    let headers = try Texts.below("CSupport/CBeeHive/include/beehive", ending: ".h").joined()
    let start = try #require(headers.firstRange(of: "\ntypedef struct \(structure) {"))
    let body = try #require(headers[start.upperBound...].split(separator: "\n}").first)
    return fields(body.replacing(#//\*.*/#, with: ""))
  }

  /// Returns the name at the end of each declaration of a C structure.
  private static func fields(_ declarations: Substring) -> [String] {
    declarations.split(separator: ";").compactMap { declaration in
      // A pointer to a function has its name before the parameters, in parentheses.
      if let name = declaration.firstMatch(of: /\(\*([a-z_]+)\)\(/) {
        return String(name.output.1)
      }
      return declaration.words.last
    }
  }

  @Test(
    "structures have the fields of the headers in RecordLayout.md, in order",
    arguments: [
      "beehive_context", "beehive_event", "beehive_module_table", "beehive_service_table",
      "beehive_service_factory", "beehive_target_table", "beehive_route_table",
    ])
  func layout(structure: String) throws {
    let layout = try Repository.text("CSupport/RecordLayout.md")
    let texts = layout.lines.filter { $0.contains("`\(structure)`") }
      .compactMap { $0.firstMatch(of: /\{([^}]*)\}/)?.output.1 }
    let documented = try #require(texts.first).replacing(#/ = [0-9]+/#, with: "")
    #expect(try Self.fields(documented) == Self.declared(structure))
  }

  @Test("operations of a module are those of the header in RecordLayout.md")
  func operations() throws {
    let layout = try Repository.text("CSupport/RecordLayout.md")
    let sentence = try #require(
      layout.firstMatch(of: /`beehive_module_operations` is [^;]*order:([^;]*);/)?.output.1)
    let names = Markdown.code(sentence).map(String.init)
    #expect(try !names.isEmpty && names == Self.declared("beehive_module_operations"))
  }
}
