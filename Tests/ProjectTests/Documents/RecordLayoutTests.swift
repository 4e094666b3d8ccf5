import TestSupport
import Testing

@Suite("RecordLayout.md gives structures the fields that the headers give them, in order")
struct RecordLayoutTests {
  /// The name that each declaration of a C structure ends with.
  static func fields(_ declarations: String) -> [String] {
    declarations.split(separator: ";").compactMap { declaration in
      // A pointer to a function has its name before the parameters, in parentheses.
      if let name = declaration.firstMatch(of: /\(\*([a-z_]+)\)\(/) {
        return String(name.output.1)
      }
      return declaration.words.last
    }
  }

  /// The fields of a structure, as a header declares them.
  static func declared(_ structure: String) throws -> [String] {
    let headers = try Texts.below("CSupport/CBeeHive/include/beehive", ending: ".h")
    let start = "typedef struct \(structure) {"
    var isInside = false
    var body = ""
    for line in headers.flatMap(\.lines) {
      if line.hasPrefix("}") { isInside = false }
      if isInside { body += line.replacing(#//\*.*/#, with: "") }
      if line == start { isInside = true }
    }
    return fields(body)
  }

  static let structures = [
    "beehive_context", "beehive_event", "beehive_module_table", "beehive_service_table",
    "beehive_service_factory", "beehive_target_table", "beehive_route_table",
  ]

  @Test("fields", arguments: structures)
  func fields(of structure: String) throws {
    let layout = try Repository.text("CSupport/RecordLayout.md")
    let texts = layout.lines.filter { $0.contains("`\(structure)`") }
      .compactMap { $0.firstMatch(of: /\{([^}]*)\}/)?.output.1 }
    let text = try #require(texts.first)
    let documented = Self.fields(String(text).replacing(#/ = [0-9]+/#, with: ""))
    let declared = try Self.declared(structure)
    #expect(!declared.isEmpty)
    #expect(documented == declared)
  }

  @Test("operations of a module")
  func operations() throws {
    let layout = try Repository.text("CSupport/RecordLayout.md")
    let sentence = try #require(
      layout.firstMatch(of: /`beehive_module_operations` is [^;]*order:([^;]*);/)?.output.1)
    let declared = try Self.declared("beehive_module_operations")
    #expect(!declared.isEmpty)
    #expect(Markdown.code(sentence).map(String.init) == declared)
  }
}
