import BeeHive
import Foundation
import TestSupport
import Testing

private protocol Lantern: Sendable {}
private struct Candle: Lantern {}
private struct Plain: Module {}

struct NearbyHarbourModule: Module {}

@Suite("Names that nothing has: what may be meant")
struct DidYouMeanTests {
  @Test("a type: the report names those that are nearly called so, wherever they are")
  func types() throws {
    let hive = Hive()
    try hive.register(
      Registrations(
        moduleClasses: [.init(moduleClass: "BeeHiveTests.NearbyHarborModule")],
        services: [.init(service: "Pier", impl: "NearbyHarbourModul")]), file: "hive.json")
    let reasons = hive.report().entries.map(\.reason)
    #expect(reasons.count == 2)
    for reason in reasons {
      #expect(reason?.hasSuffix("; did you mean BeeHiveTests.NearbyHarbourModule?") == true)
    }
  }

  @Test("a module that is required")
  func modules() async throws {
    let hive = Hive()
    try await hive.register(module: Plain.self, name: "storage")
    try await hive.register(module: Plain.self, name: "shop", requires: ["storge"])
    #expect(hive.report().order.first?.hasSuffix("; did you mean storage?") == true)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(error?.description.hasSuffix("; did you mean storage?") == true)
  }

  @Test("a service, by its type's name and by the name in C")
  func services() throws {
    let hive = Hive()
    try hive.register(
      Registrations(services: [
        .init(service: "BeeHiveTests.Lanterns", impl: "X"), .init(service: "Greeter", impl: "Y"),
      ]), file: "hive.json")
    let byType = #expect(throws: ServiceError.self) { try hive.service((any Lantern).self) }
    #expect(byType?.description.hasSuffix("; did you mean BeeHiveTests.Lanterns?") == true)
    #expect(byType?.code == .notFound)
    let byName = #expect(throws: ServiceError.self) {
      _ = unsafe try hive.service("Greter", as: OpaquePointer.self)
    }
    #expect(byName?.description.hasSuffix("; did you mean Greeter?") == true)
  }

  @Test("a name that tells implementations apart")
  func givenNames() throws {
    let hive = Hive()
    try hive.register((any Lantern).self, name: "candle") { _ in Candle() }
    let error = #expect(throws: ServiceError.self) {
      try hive.service((any Lantern).self, name: "candl")
    }
    #expect(error?.description.contains("is named candle; did you mean candle?") == true)
  }

  @Test("nothing near: nothing is guessed")
  func nothing() throws {
    let hive = Hive()
    try hive.register(Registrations(services: [.init(service: "A", impl: "B")]), file: "hive.json")
    let error = #expect(throws: ServiceError.self) { try hive.service((any Lantern).self) }
    #expect(error?.description.contains("did you mean") == false)
  }
}

@Suite("Errors say what is true")
struct TrueWordsTests {
  @Test("a parameter of another type than the factory takes: both are named")
  func wrongParameter() throws {
    let hive = Hive()
    try hive.register((any Lantern).self, taking: Int.self, file: "App/Main.swift", line: 3) {
      _, _ in Candle()
    }
    let error = #expect(throws: ServiceError.self) {
      try hive.service((any Lantern).self, with: "seven")
    }
    #expect(
      error?.message.contains(
        "App/Main.swift:3: its factory takes a Swift.Int, and was given a Swift.String")
        == true)
  }

  @Test("a service of C that was rejected says why, and a Swift one what it is")
  func rejectedService() throws {
    let hive = Hive()
    try hive.register((any Lantern).self, file: "App/Main.swift", line: 3) { _ in Candle() }
    let name = try #require(hive.entries.first?.name)
    let error = #expect(throws: ServiceError.self) {
      _ = unsafe try hive.service(name, as: OpaquePointer.self)
    }
    #expect(error?.message == "App/Main.swift:3: it is written in Swift; look it up by type")
  }
}
