import BeeHive
import Foundation
import Testing

struct StorageModule: Module {}
struct LogModule: Module {}

@Suite("The report of a Hive")
struct ReportTests {
  private func hive() async throws -> Hive {
    let hive = Hive()
    try hive.register(Int.self, file: "App/Main.swift", line: 4) { _ in 4 }
    #expect(throws: Problem.self) {
      try hive.register(Int.self, file: "App/Other.swift", line: 5) { _ in 5 }
    }
    hive.register(
      Registrations(services: [.init(service: "Shop.Cart", impl: "Shop.CartView")]),
      file: "hive.json")
    return hive
  }

  @Test("as a table: one aligned line for each entry, with its place and its reason")
  func table() async throws {
    #expect(
      try await hive().report().description == """
        bound     service  Swift.Int                  Main.swift:4
        rejected  service  Swift.Int                  Other.swift:5          Main.swift:4 already provides it; give one of them a name or a priority
        unbound   service  Shop.Cart → Shop.CartView  hive.json services[0]  no type of this name yet; bind it or link its module
        """)
  }

  @Test("as JSON: the same, by the host's encoder")
  func json() async throws {
    let data = try JSONEncoder().encode(await hive().report())
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let entries = try #require(object["entries"] as? [[String: Any]])
    #expect(entries.map { $0["state"] as? String } == ["bound", "rejected", "accepted"])
    #expect(entries.map { $0["code"] as? String } == [nil, "duplicate", "no-such-type"])
  }

  @Test("validate names every cause at once, the order of modules included")
  func validate() async throws {
    let hive = try await hive()
    try await hive.register(module: StorageModule.self, name: "storage", requires: ["log", "net"])
    try await hive.register(module: LogModule.self, name: "log", requires: ["storage"])
    let error = #expect(throws: ValidationError.self) { try hive.validate() }
    let lines = error?.description.split(separator: "\n").map(String.init) ?? []
    #expect(lines.count == 4)
    #expect(lines.contains { $0.contains("requires net, which no module is called") })
    #expect(lines.contains { $0.hasPrefix("cycle: ") && $0.contains("storage → ") })
  }

  @Test("a Hive that is whole passes")
  func clean() async throws {
    let hive = Hive()
    try hive.register(Int.self) { _ in 4 }
    try hive.validate()
    try hive.expecting(atLeast: 1)
  }

  @Test("too few bound entries are an error that says how many")
  func expecting() async throws {
    let hive = try await hive()
    let error = #expect(throws: ValidationError.self) { try hive.expecting(atLeast: 2) }
    #expect(error?.description.hasPrefix("bound entries: 1, expected: at least 2;") == true)
  }
}
