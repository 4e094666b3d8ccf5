import BeeHive
import BeeHiveRouting
import Foundation
import TestSupport
import Testing

/// The schemas that `section-dump schema` prints, as a third-party validator understands them.
@Suite("Schemas of the tool's documents", .serialized, .full, .needs("python3"))
struct OracleDocumentsTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// Returns the documents that a schema refuses, by their numbers. `asFile` takes the schema of the checkout, with the
  /// file that it refers to.
  private func refused(
    _ documents: [Data], by name: String, asFile: Bool = false
  ) throws -> [Int: String] {
    let place = "Sources/section-dump/Schemas/\(name).json"
    let printed = try Command.output(Repository.sectionDump, ["schema", name])
    let schema =
      asFile ? Repository.place(place) : try folder.write(printed, as: "schemas/\(name)")
    let files = try documents.enumerated().map { number, document in
      try folder.write(document, as: "documents/\(number).json").path
    }
    let words = ["-m", "check_jsonschema", "--regex-variant", "python", "-o", "json"]
    do {
      try Python.needed().run(words + ["--schemafile", schema.path] + files)
      return [:]
    } catch let outcome as Outcome {
      let said = try JSONDecoder().decode(Refusals.self, from: Data(outcome.output.utf8))
      let all = (said.errors + said.parse_errors).map { refusal in
        let file = URL(filePath: refusal.filename).deletingPathExtension().lastPathComponent
        return (Int(file) ?? -1, "\(refusal.path ?? ""): \(refusal.message)")
      }
      #expect(!all.isEmpty, "\(outcome)")
      return Dictionary(all) { first, _ in first }
    }
  }

  /// The output of check-jsonschema.
  private struct Refusals: Decodable {
    struct Refusal: Decodable {
      var filename: String
      var path: String?
      var message: String
    }

    var errors: [Refusal]
    var parse_errors: [Refusal]
  }

  /// Expects that documents match their schema, both as printed and as in the checkout.
  private func expectValid(_ outcomes: [Outcome], by name: String) throws {
    let documents = outcomes.map { Data($0.output.utf8) }
    for (asFile, count) in [(false, documents.count), (true, 2)] {
      let refused = try refused(Array(documents.prefix(count)), by: name, asFile: asFile)
      for (number, reason) in refused.sorted(by: { $0.key < $1.key }).prefix(5) {
        Issue.record("\(outcomes[number].command.prefix(300)): \(reason)")
      }
    }
  }

  private func run(_ words: [String]) throws -> Outcome {
    try Command.run(Repository.sectionDump, words + ["--format", "json"], in: folder.url)
  }

  /// Sections with slots of each kind. Python would need minutes to read all sections.
  private static let sections = ["Beehive*", ".init_array", ".comment", ".got"].flatMap {
    ["--section", $0]
  }

  /// The commands that show files, with their further arguments.
  private static let listings = [
    "records": [], "sections": [], "startup": [], "conformances": [], "verify": [], "graph": [],
    "hex": sections, "strings": sections,
  ]

  @Test(
    "what is printed of the fixtures is as its schema says, of whole and of damaged ones",
    arguments: listings.keys.sorted())
  func fixtures(command: String) throws {
    let options = Self.listings[command] ?? []
    let paths = try Linkages.built().map(Linkages.path)
    var outcomes = try stride(from: 0, to: paths.count, by: 20).map {
      try run([command] + options + paths[$0..<min($0 + 20, paths.count)])
    }
    var generator = SeededGenerator(seed: 0x5c)
    for position in stride(from: 0, to: paths.count, by: 4) {
      var bytes = try Data(contentsOf: URL(filePath: paths[position]))
      for _ in 0..<8 {
        bytes[Int.random(in: 16..<min(bytes.count, 4096), using: &generator)] ^= 0xff
      }
      let damaged = try folder.write(bytes, as: "damaged").path
      outcomes.append(try run([command] + options + [damaged]))
    }
    try folder.write("no object file", as: "text")
    outcomes.append(try run([command] + options + ["text", "nowhere"]))
    try expectValid(outcomes, by: command)
  }

  @Test("so is what is printed of the system", arguments: listings.keys.sorted())
  func system(command: String) throws {
    let options = Self.listings[command] ?? []
    let found = try Command.output("find", ["/usr/lib", "-type", "f", "-name", "*.so*"])
      .split(separator: "\n").map(String.init).sorted()
    let paths = stride(from: 0, to: found.count, by: max(1, found.count / 60)).map { found[$0] }
    var outcomes = [try run([command] + options + paths)]
    if command == "records" { outcomes.append(try run(["-r", "/usr/lib"])) }
    try expectValid(outcomes, by: command)
  }

  /// Makes a plugin with an identity, and a plugin that lacks a library.
  private func plugins() throws -> (whole: URL, broken: URL) {
    let source = TestSupport.Compiler.module("shop", "BEEHIVE_REQUIRES(\"log\")")
    let identity =
      "\nBEEHIVE_PLUGIN(\"com.example.shop\", \"1.4.2\", BEEHIVE_NAME_IN(\"de\", \"Laden\"));\n"
    try TestSupport.Compiler.library("int away;", as: "plugins/libaway.so", in: folder.url)
    let whole = try TestSupport.Compiler.library(
      source + identity, as: "plugins/shop.so", in: folder.url)
    let broken = try TestSupport.Compiler.library(
      "extern int away;\nint *address = &away;\n" + TestSupport.Compiler.module("till"),
      as: "plugins/till.so", in: folder.url, ["-Lplugins", "-laway"])
    try FileManager.default.removeItem(at: folder.place("plugins/libaway.so"))
    try folder.write("#", as: "plugins/notes.txt")
    return (whole, broken)
  }

  @Test("so are the documents on plugins: doctor, why, probe, diff")
  func judged() throws {
    let (whole, broken) = try plugins()
    let host = ["--host", "/bin/true"]
    try expectValid(
      [run(["doctor", "plugins", "nowhere"] + host), run(["doctor", "/usr/lib"] + host)],
      by: "doctor")
    try expectValid(
      [
        run(["why", "module:shop", "plugins"] + host), run(["why", "module:none", "plugins"]),
        run(["why", "module:till", "plugins", "nowhere"] + host),
      ], by: "why")
    try expectValid(
      [run(["probe", whole.path] + host), run(["probe", broken.path] + host)], by: "probe")
    try expectValid(
      [
        run(["diff", whole.path, broken.path]), run(["diff", "-r", "plugins", "plugins"]),
        run(["diff", whole.path, "nowhere"]),
      ] + changed().map { try run(["diff", whole.path, $0.path]) }, by: "diff")
  }

  /// Makes a build with a module that has changed.
  private func changed() throws -> [URL] {
    [
      try TestSupport.Compiler.library(
        TestSupport.Compiler.module("shop"), as: "new.so", in: folder.url)
    ]
  }

  @Test("so is what is printed of processes and cores", .opensLibrary)
  func live() throws {
    let headers = ["-I", Repository.place("Tests/Fixtures/Live").path]
    try TestSupport.Compiler.compile(
      Repository.fixture("Live/host.c"), as: "live-host", in: folder.url,
      ["-O1", "-ldl", "-I", Repository.headers] + headers)
    let (whole, _) = try plugins()
    let library = Repository.products.appendingPathComponent("libBeeHive.so").path
    var outcomes = [
      try run(["live", "--core", whole.path]), try run(["live", "--pid", "2147483647"]),
    ]
    for steps in [["open=\(whole.path)"], ["hive=\(library)", "open=\(whole.path)", "entries"]] {
      try Command.whileRunning(folder.place("live-host").path, steps, in: folder.url) { pid, _ in
        outcomes.append(try run(["live", "--pid", "\(pid)"]))
        guard Needs.has("gcore") else { return }
        try Command.output("gcore", ["-o", "core", "\(pid)"], in: folder.url)
        outcomes.append(try run(["live", "--core", "core.\(pid)"]))
      }
    }
    #expect(
      outcomes.contains {
        $0.output.contains(#""state":"accepted""#) || $0.output.contains(#""state":"bound""#)
      })
    try expectValid(outcomes, by: "live")
  }

  // MARK: - What people write

  /// Returns variants of a document with at most one mistake each: another value at one place, a key less, a key more.
  private static func variants(of value: Any) -> [Any] {
    let others: [Any] = [
      NSNull(), true, 7, -0.5, 1e30, "", "text", [Any](), ["text"], [String: Any](), ["x": 1],
    ]
    var variants = others
    if let array = value as? [Any] {
      for (index, element) in array.enumerated() {
        for variant in Self.variants(of: element) {
          var copy = array
          copy[index] = variant
          variants.append(copy)
        }
      }
      variants.append(Array(array.dropLast()))
    } else if let object = value as? [String: Any] {
      for (key, element) in object {
        for variant in Self.variants(of: element) {
          variants.append(object.merging([key: variant]) { $1 })
        }
        variants.append(object.filter { $0.key != key })
      }
      variants.append(object.merging(["unknown": 1]) { $1 })
    }
    return variants
  }

  /// Expects that a schema and a reader take some documents, refuse others, and agree on the variants of the first. A
  /// variant that only the reader refuses must have one of the `known` texts.
  private func expectAgreement(
    of name: String, on documents: [String], refusing mistakes: [String] = [],
    except known: [String] = [], _ read: (Data) throws -> Void
  ) throws {
    let values = try documents.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) }
    let variants = try Set(
      values.flatMap(Self.variants).map {
        try JSONSerialization.data(withJSONObject: $0, options: [.fragmentsAllowed, .sortedKeys])
      })
    let given = (documents + mistakes).map { Data($0.utf8) }
    let all = given + variants.sorted { $0.lexicographicallyPrecedes($1) }
    let refused = try refused(all, by: name)
    #expect(
      refused.keys.filter { $0 < given.count }.sorted() == Array(documents.count..<given.count))
    #expect(refused.count > all.count / 4)
    for (number, document) in all.enumerated() {
      var said: String?
      do { try read(document) } catch { said = "\(error)" }
      let isKnown = said.map { said in known.contains { said.contains($0) } } ?? false
      if (said == nil) == (refused[number] == nil) || refused[number] == nil && isKnown { continue }
      Issue.record(
        """
        \(String(decoding: document, as: UTF8.self)): the schema says \(refused[number] ?? "nothing"), the reader \
        \(said ?? "nothing")
        """)
    }
  }

  @Test("a decision table is one for the schema if it is one for the reader")
  func decisionTables() throws {
    let page = try Document("Docs/decision-table.md").blocks.filter { $0.language == "json" }
    #expect(page.count == 2)
    let files = try ["decision-table", "every-form"].map {
      try Repository.fixture("Routing/\($0).json")
    }
    let decoder = JSONDecoder()
    func table(_ rule: String) -> String { #"{"version": 1, "rules": [{"name": "a", \#(rule)}]}"# }
    let mistakes =
      [
        #""match": {"url": "/", "target": "t"}, "do": {"answer": 1}"#,
        #""match": {"route": "/", "action": "a"}, "do": {"answer": 1}"#,
        #""match": {"url": "/", "route": "/"}, "do": {"answer": 1}"#,
        #""match": {}, "do": {"answer": 1, "block": "b"}"#, #""match": {}, "do": {}"#,
        #""match": {}, "do": {"split": {"by": {"context": "u"}, "variants": []}}"#,
        #""match": {}, "do": {"split": {"by": {"context": "u"}, "variants": [{"weight": 1, "answer": 1, "block": "b"}]}}"#,
        #""match": {}, "do": {"split": {"by": {"context": "u", "parameter": "p"}, "variants": [{"weight": 1, "answer": 1}]}}"#,
      ]
      + [
        #"{"parameter": "p", "is": 1, "isNot": 2}"#,
        #"{"parameter": "p", "context": "c", "is": 1}"#,
        #"{"parameter": "p", "context": "c"}"#, #"{"guard": "g", "not": {"guard": "h"}}"#,
        #"{"guard": "g", "in": [1]}"#, #"{"percent": 5}"#,
        #"{"percent": 101, "by": {"context": "u"}}"#,
        #"{"parameter": "p", "in": [{"x": 1}]}"#,
      ].map { #""match": {}, "when": [\#($0)], "do": {"answer": 1}"# }
    try expectAgreement(
      of: "decision-table", on: page.map(\.text) + files, refusing: mistakes.map(table),
      // No schema knows that the pattern's parameters fill in a redirection.
      except: ["app://calendar/:day has the place :day"]
    ) {
      _ = try decoder.decode(DecisionTable.self, from: $0)
    }
    // Each key of the schema is in one of these documents.
    let schema = try Repository.text("Sources/section-dump/Schemas/decision-table.json")
    let known = try keys(
      under: "properties", in: JSONSerialization.jsonObject(with: Data(schema.utf8)))
    let used = (page.map(\.text) + files).joined()
    #expect(known.filter { !used.contains("\"\($0)\"") } == [])
  }

  /// Returns the keys of the objects that a schema has under a key.
  private func keys(under name: String, in value: Any) -> Set<String> {
    if let array = value as? [Any] {
      return array.reduce(into: []) { $0.formUnion(keys(under: name, in: $1)) }
    }
    guard let object = value as? [String: Any] else { return [] }
    return object.reduce(into: Set((object[name] as? [String: Any] ?? [:]).keys)) {
      $0.formUnion(keys(under: name, in: $1.value))
    }
  }

  @Test("a registration file is one for the schema if it is one for the reader")
  func registrations() throws {
    let services = #"[{"service": "A", "impl": "B", "name": "c", "scope": "weak", "priority": -1}]"#
    let modules = """
      [{"moduleClass": "A", "version": "1.2", "moduleLevel": 0, "modulePriority": 7, "requires": ["b >=1"], "after": []},
       {"moduleClass": "B", "level": "basic", "priority": null}]
      """
    let whole = #"{"moduleClasses": \#(modules), "services": \#(services), "URLGlobalScheme": "a"}"#
    let decoder = JSONDecoder()
    try expectAgreement(
      of: "registrations", on: [whole, services, "{}", "[]"],
      refusing: [#""level": 1, "moduleLevel": 1"#, #""priority": null, "modulePriority": 1"#].map {
        #"{"moduleClasses": [{"moduleClass": "A", \#($0)}]}"#
      }
    ) { _ = try decoder.decode(Registrations.self, from: $0) }
  }

  @Test("a list of plugins that are switched off is one for the schema if it is one for doctor")
  func switches() throws {
    let (whole, _) = try plugins()
    let list = #"{"off": ["com.example.shop", "a-b._9"]}"#
    try expectAgreement(of: "switches", on: [list, #"{"off": []}"#]) { document in
      try folder.write(document, as: "true/plugins.json")
      let outcome = try Command.run(
        Repository.sectionDump, ["doctor", whole.path, "--host", "/bin/true", "--format", "json"],
        environment: ["XDG_CONFIG_HOME": folder.path])
      if outcome.output.contains("no list of plugins") { throw outcome }
    }
  }

  @Test("the settings of editors lead each document of the examples to a schema that takes it")
  func settings() throws {
    let settings = try JSONSerialization.jsonObject(
      with: Data(Repository.text("Examples/.vscode/settings.json").utf8))
    let entries = (settings as? [String: Any])?["json.schemas"] as? [[String: Any]]
    for entry in try #require(entries) {
      let name = try URL(filePath: #require(entry["url"] as? String)).deletingPathExtension()
        .lastPathComponent
      for pattern in entry["fileMatch"] as? [String] ?? [] {
        let files = try Command.output(
          "sh", ["-c", "ls -d .\(pattern)"], in: Repository.place("Examples"))
        let documents = try files.split(separator: "\n").map {
          try Data(Repository.text("Examples/\($0)").utf8)
        }
        #expect(try !documents.isEmpty && refused(documents, by: name, asFile: true) == [:])
      }
    }
  }
}
