import Foundation
import TestSupport
import Testing

@Suite("The schemas of documents")
struct SchemaTests {
  private static let folder = "Sources/section-dump/Schemas"
  private static let shared = "common.json"
  /// The documents, named like the files of their schemas.
  static let names = ((try? files(in: folder)) ?? []).filter { $0 != shared }
    .map { ($0 as NSString).deletingPathExtension }

  /// Returns the JSON files in a folder and below, without hidden ones.
  private static func files(in folder: String) throws -> [String] {
    let place = Repository.place(folder)
    let found = FileManager.default.enumerator(
      at: place, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    return try #require(found).compactMap { ($0 as? URL)?.path }.sorted()
      .filter { $0.hasSuffix(".json") }.map { String($0.dropFirst(place.path.count + 1)) }
  }

  /// Returns the locations that a schema refers to.
  private static func references(in value: Any) -> [String] {
    if let array = value as? [Any] { return array.flatMap(references) }
    guard let object = value as? [String: Any] else { return [] }
    return object.flatMap { key, value in
      (value as? String).map { key == "$ref" ? [$0] : [] } ?? references(in: value)
    }
  }

  @Test("each document has one, and the list says what each is for")
  func list() throws {
    let listed = try Tool.run(["schema"]).expect(0).lines
      .map { $0.split(separator: " ", maxSplits: 1).map(String.init) }
    #expect(listed.map { $0[0] }.sorted() == Self.names)
    for line in listed {
      let title = try Tool.object(Tool.run(["schema", line[0]]).output)["title"] as? String
      #expect(line[1].trimmingCharacters(in: .whitespaces) == title)
    }
    let commands = CompletionsTests.commandNames.filter { $0 != "schema" }
    #expect(commands.filter { !Self.names.contains($0) } == [])
  }

  @Test("each is printed byte by byte, with the parts that it shares with others", arguments: names)
  func printed(name: String) throws {
    let file = try Repository.text("\(Self.folder)/\(name).json")
    let printed = try Tool.run(["schema", name]).expect(0)
    let schema = try Tool.object(printed.output)
    #expect((schema["title"] as? String)?.isEmpty == false)
    #expect(schema["$schema"] as? String == "http://json-schema.org/draft-07/schema#")
    let definitions = schema["definitions"] as? [String: Any] ?? [:]
    for reference in Self.references(in: schema) {
      #expect(reference.hasPrefix("#/definitions/"), "nothing else is read with it")
      #expect(
        definitions[String(reference.dropFirst("#/definitions/".count))] != nil, "\(reference)")
    }
    guard file.contains(Self.shared) else { return #expect(printed.output == file) }
    let parts = try Repository.text("\(Self.folder)/\(Self.shared)")
    let start = try #require(parts.range(of: "  \"definitions\""))
    #expect(
      printed.output == file.dropLast(3).replacing("\(Self.shared)#", with: "#") + ",\n"
        + parts[start.lowerBound...])
  }

  @Test("a name that is none says which there are")
  func wrong() throws {
    let outcome = try Tool.run(["schema", "record"]).expect(
      64, errors: "There is no schema record; there are records, ", "; did you mean records?")
    for name in Self.names { #expect(outcome.errors.contains(name)) }
    try Tool.run(["schema", "records", "verify"]).expect(64)
  }

  @Test("the settings of editors lead to one for each JSON document of the examples")
  func settings() throws {
    let settings = try Tool.object(Repository.text("Examples/.vscode/settings.json"))
    let entries = try #require(settings["json.schemas"] as? [[String: Any]])
    var documents = try Self.files(in: "Examples")
    for entry in entries {
      let path = Repository.place("Examples").appending(path: try #require(entry["url"] as? String))
      let schema = try Tool.object(String(contentsOf: path, encoding: .utf8))
      #expect(schema["title"] != nil)
      for pattern in try #require(entry["fileMatch"] as? [String]) {
        let matched = documents.filter { unsafe fnmatch(pattern, "/\($0)", FNM_PATHNAME) == 0 }
        #expect(!matched.isEmpty, "\(pattern)")
        documents.removeAll(where: matched.contains)
      }
    }
    #expect(documents == [])
  }
}
