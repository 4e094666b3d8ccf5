// The host of Docs/configuration-files.md: it reads its files from a folder.
import BeeHive
import BeeHiveRouting
import Foundation

protocol Cart: Sendable {}
struct PaperCart: Cart, Injectable { init(hive: Hive) {} }

struct LogModule: Module {}

struct ShopModule: Module {
  static let port = Configuration.Key<Int>("server.port", default: 80)
  static let currency = Configuration.Key<String>("currency")

  func setUp(_ context: Context) async throws {
    let port = try context.configuration.value(Self.port)
    let currency = try context.configuration.value(Self.currency)
    print("port \(port), prices in \(currency)")
  }
}

@main enum Program {
  static func main() async throws {
    let folder = URL(filePath: CommandLine.arguments[1])
    let hive = Hive.process

    func data(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }
    let json = JSONDecoder()

    do {
      let registrations = try json.decode(Registrations.self, from: data("modules.json"))
      try hive.register(registrations, file: "modules.json")
    } catch let error as DecodingError {
      return print("modules.json, at \(error.keyPath): \(error)")
    }

    let settings = Configuration(defaults: ["currency": "EUR"], environmentPrefix: "SHOP")
    settings.add(
      file: "settings.json",
      try json.decode([String: ConfigurationValue].self, from: data("settings.json")))

    try hive.router.register("app://shop/home") { _ in "the shop" }
    try hive.router.register(
      aliases: json.decode([String: String].self, from: data("aliases.json")))

    print(hive.report())
    try await hive.start(Context(hive: hive, configuration: settings))
    print(try await hive.router.open("home"), try hive.service((any Cart).self, name: "paper"))
    await hive.stop()
  }
}
