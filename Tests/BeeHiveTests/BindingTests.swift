import BeeHive
import Foundation
import TestSupport
import Testing

struct Tug: Injectable {
  init(hive: Hive) {}
}

struct HarbourModule: Module {
  init() {}
}

@Suite("When entries find their types")
struct BindingTests {
  /// Returns a Hive with a file of services. A type of this process implements them.
  private func hive(_ count: Int) throws -> Hive {
    let (hive, tug) = (Hive(), "BeeHiveTests.Tug")
    let services = (0..<count).map {
      Registrations.Service(service: tug, impl: tug, name: "berth \($0)")
    }
    try hive.register(Registrations(services: services), file: "harbour.json")
    return hive
  }

  private func unboundCount(_ hive: Hive) -> Int {
    hive.entries.count { $0.state != .bound }
  }

  @Test("whoever is told of the first and asks for all finds all of them bound")
  func observer() throws {
    let hive = try hive(3)
    let unbound = Journal()
    let observation = hive.observe { notice in
      if case .entryBound = notice { unbound.write("\(unboundCount(hive))") }
    }
    defer { observation.cancel() }
    #expect(unboundCount(hive) == 0)
    #expect(unbound.lines == ["0", "0", "0"])
  }

  @Test("threads that ask at the same time all find all of them bound")
  func threads() throws {
    let unbound = Counter()
    for _ in 0..<50 {
      let hive = try hive(100)
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        if unboundCount(hive) > 0 { unbound.next() }
      }
    }
    #expect(unbound.count == 0)
  }

  @Test("one that comes beside one that has no type finds its own, though no image came")
  func late() async throws {
    let hive = Hive()
    try hive.declare(modules: "BeeHiveTests.Nowhere", in: "first.json")
    #expect(unboundCount(hive) == 1)
    try hive.declare(modules: "BeeHiveTests.HarbourModule", in: "second.json")
    #expect(unboundCount(hive) == 1)
    #expect(try await hive.start().started == ["BeeHiveTests.HarbourModule"])
  }

  @Test("a binding is taken back by its handle: once, twice, and not its successor's")
  func takenBack() throws {
    let hive = Hive()
    try hive.declare("Swift.Int", by: "Tollhouse")
    let first = hive.bind("Tollhouse") { _ in 1 }
    #expect(unboundCount(hive) == 0)
    first.cancel()
    #expect(unboundCount(hive) == 1)
    first.cancel()
    let second = hive.bind("Tollhouse") { _ in 2 }
    first.cancel()
    #expect(unboundCount(hive) == 0)
    let third = hive.bind("Tollhouse") { _ in 3 }
    third.cancel()
    #expect(unboundCount(hive) == 0, "what the second has bound stays its own")
    second.cancel()
    #expect(unboundCount(hive) == 1)
  }
}
