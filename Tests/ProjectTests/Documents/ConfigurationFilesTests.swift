import BeeHive
import BeeHiveRouting
import Foundation
import TestSupport
import Testing
import Yams

@Suite("The files of Docs/configuration-files.md load as a host loads them")
struct ConfigurationFilesTests {
  /// The format of an example, by the language of its block.
  enum Format: String, CaseIterable {
    case json, xml, yaml

    func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
      switch self {
      case .json: try JSONDecoder().decode(type, from: Data(text.utf8))
      case .xml: try PropertyListDecoder().decode(type, from: Data(text.utf8))
      case .yaml: try YAMLDecoder().decode(type, from: text)
      }
    }
  }

  private static let path = "Docs/configuration-files.md"
  private let page: Document
  private let markdown: Markdown

  init() throws {
    page = try Document(Self.path)
    markdown = Markdown(text: try Repository.text(Self.path))
  }

  /// Reads the example of a format that has a word in it.
  private func load<Value: Decodable>(
    _ type: Value.Type, _ format: Format, _ word: String
  ) throws -> Value {
    try format.decode(type, page.block(format.rawValue, with: word).text)
  }

  /// The code in the cells of rows whose second cell has an example that begins like this.
  private func mistakes(_ starts: String...) -> [[String]] {
    markdown.rows.map { Markdown.cells($0).map { Markdown.code($0).first.map(String.init) ?? "" } }
      .filter { row in row.count > 2 && starts.contains { row[1].hasPrefix($0) } }
  }

  @Test("a registration file is the same in each format", arguments: Format.allCases)
  func registrations(format: Format) throws {
    let file = try load(Registrations.self, format, "moduleClass")
    let shop = Registrations.Module(
      moduleClass: "Host.ShopModule", modulePriority: 7, requires: ["Host.LogModule >=1.2 <2"],
      after: ["Host.StockModule"])
    let log = Registrations.Module(
      moduleClass: "Host.LogModule", version: "1.3", moduleLevel: .basic)
    let cart = Registrations.Service(
      service: "Host.Cart", impl: "Host.PaperCart", name: "paper", scope: .singleton, priority: 1)
    #expect(
      file
        == Registrations(
          moduleClasses: [log, shop], services: [cart], urlGlobalScheme: "shop"))
    let hive = Hive()
    for _ in 0..<2 { try hive.register(file, file: "modules.\(format)") }
    #expect(
      hive.entries.map(\.source.description)
        == ["moduleClasses[0]", "moduleClasses[1]", "services[0]"].map { "modules.\(format) \($0)" }
    )
    for case .accepted(let problem) in hive.entries.map(\.state) {
      #expect(markdown.text.contains("`\(problem.code.rawValue)`"))
      #expect(markdown.text.contains("`\(problem)`"))
    }
  }

  @Test("a wrong registration file has the key path and the message of its row")
  func wrongRegistrations() {
    let rows = mistakes("{\"moduleCl", "[{\"service")
    #expect(rows.count == 5)
    for row in rows {
      let error = #expect(throws: DecodingError.self, "\(row)") {
        try Format.json.decode(Registrations.self, row[1])
      }
      #expect(error?.keyPath == row[2])
      #expect(!row[3].isEmpty && "\(error as Any)".contains(row[3]), "\(error as Any)")
    }
  }

  @Test("entries break the rules of records, and one name means one file")
  func badValues() async throws {
    let hive = Hive()
    let bad: [Registrations.Module] = [
      .init(moduleClass: "A", version: "abc"), .init(moduleClass: "B", requires: ["log >=x"]),
      .init(moduleClass: "C", after: [""]),
    ]
    let file = Registrations(
      moduleClasses: bad + [.init(moduleClass: "D", modulePriority: .max)],
      services: [.init(service: "S", impl: "I", name: "")])
    try hive.register(file, file: "modules.json")
    let problems = hive.entries.map { entry in
      if case .rejected(let problem) = entry.state { problem } else { Problem?.none }
    }
    #expect(
      problems.map { $0?.code.rawValue } == [
        "bad-attribute", "bad-attribute", "bad-attribute", nil, "bad-attribute",
      ])
    #expect(markdown.text.contains("| `\(problems[1].map { $0.message } ?? "")` |"))
    try hive.register(file, file: "modules.json")
    let error = #expect(throws: Problem.self) {
      try hive.register(Registrations(), file: "modules.json")
    }
    #expect(error?.code == .duplicate && hive.entries.count == 5)
    await #expect(throws: Problem.self) {
      try await hive.register(module: "E", requires: ["log >=x"]) { _ in fatalError() }
    }
  }

  @Test("the tables have each key that the reader of a registration file takes, and no other")
  func keys() throws {
    let objects = [#"{"x": 0}"#, #"{"moduleClasses": [{"x": 0}]}"#, #"[{"x": 0}]"#]
    let keys = try objects.flatMap { text in
      let error = try #require(throws: DecodingError.self) {
        try Format.json.decode(Registrations.self, text)
      }
      return try #require("\(error)".firstMatch(of: /the keys are ([\w, ]+)/)).output.1
        .split(separator: ", ").map(String.init)
    }
    #expect(Set(markdown.firstCodes(ofSection: "A registration file")) == Set(keys))
  }

  @Test("a settings file is the same in each format", arguments: Format.allCases)
  func settings(format: Format) throws {
    let file = try load([String: ConfigurationValue].self, format, "currency")
    let server: ConfigurationValue = ["port": 8080, "hosts": ["a.example", "b.example"]]
    #expect(file == ["currency": "CHF", "server": server, "discount": 2.5, "open": true])
    let settings = Configuration(defaults: ["currency": "EUR"], environmentPrefix: "SHOP")
    settings.add(file: "settings.json", file)
    #expect(try settings.value(.init("currency")) == "CHF")
    #expect(try settings.value(.init("server.port")) == 8080)
    let texts = try YAMLDecoder().decode(
      [String: ConfigurationValue].self, from: "a: no\nb: \"no\"")
    #expect(texts == ["a": false, "b": "no"])
    // The messages of what a module cannot read.
    settings.add(file: "settings.json", ["server": ["port": "many"]])
    for name in ["server.port", "server.name"] {
      let problem = #expect(throws: Problem.self) {
        try settings.value(Configuration.Key<Int>(name))
      }
      let row = markdown.rows.first { $0.contains("configuration \(name): ") } ?? ""
      #expect(row == problem.map { "| `\($0.code.rawValue)` | `\($0.message)` |" } ?? "nothing")
    }
  }

  @Test("so are aliases", arguments: Format.allCases)
  func aliases(format: Format) throws {
    let router = Router()
    try router.register("app://shop/home") { _ in "shop" }
    try router.register(aliases: load([String: String].self, format, "app://shop/home"))
    #expect(router.canOpen("home") && router.canOpen("start"))
    let rows = mistakes("{\"a", "{\"home")
    #expect(rows.count == 3)
    for row in rows {
      let aliases = try Format.json.decode([String: String].self, row[1])
      let error = #expect(throws: RoutingError.self) { try router.register(aliases: aliases) }
      #expect(error.map { [$0.code.rawValue, $0.message] } == [row[0], row[2]])
    }
  }

  @Test("a plugin that plugins.json lists is switched off, and a file that is wrong refuses it")
  func plugins() throws {
    let folder = try Folder()
    let source =
      TestSupport.Compiler.module("shop") + "\nBEEHIVE_PLUGIN(\"com.example.shop\", \"1\");\n"
    let plugin = try TestSupport.Compiler.library(source, as: "shop.so", in: folder.url)
    let list = try page.block("json", with: "off").text
    for (text, says) in [
      (list, "The user has switched it off in "), ("{}", "It is no list of plugins."),
    ] {
      #expect(markdown.text.contains("`\(says)"))
      try folder.write(text, as: "true/plugins.json")
      let outcome = try Command.run(
        Repository.sectionDump,
        ["doctor", plugin.path, "--host", "/bin/true", "--any-owner", "--format", "json"],
        environment: ["XDG_CONFIG_HOME": folder.path])
      #expect(
        outcome.output.contains("\"switched-off\"") && outcome.output.contains(says), "\(outcome)")
    }
  }

  @Test("no example is left out")
  func all() {
    let languages = Format.allCases.map(\.rawValue)
    let examples = page.blocks.filter { languages.contains(String($0.language)) }
    #expect(examples.count == 3 * languages.count + 1)
  }
}
