import BeeHive
import Foundation
import Testing

private protocol Lantern: Sendable {}
private struct Candle: Lantern {}
private struct Plain: Module {}

struct NearbyHarbourModule: Module {}
protocol NearbyPier: Sendable {}
struct NearbyHarbourPier: Injectable, NearbyPier { init(hive: Hive) {} }
struct NearbyHarbourPie: Injectable { init(hive: Hive) {} }

@Suite("Names that nothing has: what may be meant")
struct DidYouMeanTests {
  private let hive = Hive()

  @Test("a type: the report names those that are nearly called so and could serve")
  func types() throws {
    try hive.register(
      Registrations(
        moduleClasses: [
          .init(moduleClass: "BeeHiveTests.NearbyHarborModule"), .init(moduleClass: "Shop.Index"),
        ],
        services: [
          .init(service: "NearbyPier", impl: "NearbyHarborPier"),
          .init(service: "NearbyPierr", impl: "NearbyHarbourPier"),
          .init(service: "Other", impl: "NearbyHarbourModul"),
        ]), file: "hive.json")
    let meant = hive.report().entries.map { line in
      line.reason?.range(of: "did you mean ").map { line.reason?[$0.upperBound...] ?? "" }
    }
    let names = ["NearbyHarbourModule", nil, "NearbyHarbourPier", "NearbyPier", nil]
    #expect(meant == names.map { $0.map { "BeeHiveTests.\($0)?" } })
  }

  @Test("a module that is required")
  func modules() async throws {
    try await hive.register(module: Plain.self, name: "storage")
    try await hive.register(module: Plain.self, name: "shop", requires: ["storge"])
    #expect(hive.report().order.first?.hasSuffix("; did you mean storage?") == true)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(error?.description.hasSuffix("; did you mean storage?") == true)
  }

  @Test("but never the module itself that requires another")
  func itself() async throws {
    try await hive.register(module: Plain.self, name: "a", requires: ["b"])
    #expect(hive.report().order.first?.contains("did you mean") == false)
  }

  @Test("a service, by its type's name and by the name in C")
  func services() throws {
    try hive.declare("BeeHiveTests.Lanterns", by: "X")
    try hive.declare("Greeter", by: "Y", in: "other.json")
    expectServiceError(.notFound, saying: "; did you mean BeeHiveTests.Lanterns?") {
      try hive.service((any Lantern).self)
    }
    expectServiceError(saying: "; did you mean Greeter?") {
      _ = unsafe try hive.service("Greter", as: OpaquePointer.self)
    }
  }

  @Test("nothing near: nothing is guessed")
  func nothing() throws {
    try hive.declare("A", by: "B")
    let error = #expect(throws: ServiceError.self) { try hive.service((any Lantern).self) }
    #expect(error?.description.contains("did you mean") == false)
  }

  @Test("a service of Swift that is looked up as one of C: the error says what it is")
  func rejectedService() throws {
    try hive.register((any Lantern).self, file: "App/Main.swift", line: 3) { _ in Candle() }
    let name = try #require(hive.entries.first?.name)
    expectServiceError(saying: "App/Main.swift:3: it is written in Swift; look it up by type") {
      _ = unsafe try hive.service(name, as: OpaquePointer.self)
    }
  }
}
