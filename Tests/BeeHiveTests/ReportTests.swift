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
    try hive.declare("Shop.Cart", by: "Shop.CartView")
    return hive
  }

  @Test("as a table: one aligned line for each entry, with its place and its reason")
  func table() async throws {
    #expect(
      try await hive().report().description == """
        bound     service  Swift.Int                  App/Main.swift:4
        rejected  service  Swift.Int                  App/Other.swift:5      App/Main.swift:4 already provides it; give one of them a name or a priority
        unbound   service  Shop.Cart → Shop.CartView  hive.json services[0]  no type of this name yet; bind it or link its module
        """)
  }

  @Test("as JSON text: what the host's encoder makes of it, for hosts that have none")
  func jsonText() async throws {
    let hive = try await hive()
    hive.bind("say \"hi\"\n\u{1}\u{2028}\\") { _ in 1 }
    try hive.declare("Böse\t\"", by: "\\ \u{1}\u{7f}\u{2028}é", in: "weird\n.json")
    try await hive.register(module: StorageModule.self, name: "storage", requires: ["log", "net"])
    for report in [hive.report(), Hive().report()] {
      let written = try JSONSerialization.jsonObject(with: Data(report.json.utf8))
      let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report))
      #expect(written as? NSDictionary == encoded as? NSDictionary)
    }
    #expect(hive.report().entries.count == 5)
    #expect(hive.report().json.split(separator: "\n").count == 13, "a line for each entry")
  }

  @Test("a rejected entry stops no start", arguments: [FailurePolicy.stop, .skip, .continue])
  func rejectedEntry(policy: FailurePolicy) async throws {
    let hive = Hive()
    try hive.register(Int.self, instance: 1)
    try? hive.register(Int.self, instance: 2)
    try await hive.register(module: "a") { _ in Probe() }
    #expect(try await hive.start(policy).started == ["a"])
  }

  @Test("types, conformances, requirements, duplicates, cycles: in one report")
  func everything() async throws {
    let hive = try await hive()
    try hive.register(
      Registrations(
        moduleClasses: [.init(moduleClass: "BeeHiveTests.Desert")],
        services: [.init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.Desert")]),
      file: "more.json")
    try await hive.register(module: StorageModule.self, name: "storage", requires: ["net"])
    try await hive.register(module: LogModule.self, name: "log", after: ["log"])
    let report = hive.report()
    #expect(
      report.entries.compactMap(\.code) == [
        "duplicate", "no-such-type", "does-not-conform", "does-not-conform",
      ])
    #expect(report.order.count == 2)
    let error = #expect(throws: ValidationError.self) { try hive.validate() }
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(lines.count == 6)
    #expect(lines.contains { $0.contains("requires net, which nothing in this process declares") })
    #expect(lines.contains { $0.contains("module log waits for itself") })
    #expect(try await hive.start(.skip).started.isEmpty)
  }

  @Test("a normal module that a basic one requires is lifted, and the report says so")
  func lifted() async throws {
    let hive = Hive()
    try await hive.register(module: StorageModule.self, name: "storage")
    try await hive.register(
      module: LogModule.self, name: "log", level: .basic, requires: ["storage"])
    let sentence = "storage starts among the basic modules: log requires it"
    #expect(hive.report().lifts == [sentence])
    #expect(hive.report().description.split(separator: "\n").last.map(String.init) == sentence)
    #expect(try await hive.start().description.contains("lifted: \(sentence)"))
  }

  @Test("and why an entry is not there: the step at which it is lost")
  func why() async throws {
    let hive = try await hive()
    try await hive.register(module: StorageModule.self, name: "storage", requires: ["net"])
    try await hive.register(module: "good") { _ in Probe() }
    let before = ["good": "is not lost here", "storage": "is lost: requirements"]
    for (name, verdict) in before {
      #expect(hive.why("module:\(name)").description.hasPrefix("module \(name) \(verdict)"))
    }
    #expect(
      hive.why("service:Shop.Cart").description == """
        service Shop.Cart is lost: binding
          loaded file  here       hive.json services[0]
          rules        here       it is well formed
          duplicates   here       no entry before it has its name
          binding      lost here  no type of this name yet; bind it or link its module
        """)
    let two = hive.why("service:Swift.Int")
    #expect(
      !two.isLost && two.description.contains("duplicates   lost here  App/Main.swift:4 already"))
    let absent = hive.why("module:storag")
    #expect(absent.isLost && absent.json.contains("no loaded file has it; did you mean storage?"))
    #expect(hive.why("service:good").json.contains("; a module of that name is in "))
    try await hive.register(module: "bad") { _ in throw CancellationError() }
    _ = try await hive.start(.skip)
    #expect(hive.why("module:good").description.hasSuffix("start         here  it runs"))
    #expect(hive.why("module:bad").description.contains("start         lost here  "))
    await hive.stop()
  }
}
