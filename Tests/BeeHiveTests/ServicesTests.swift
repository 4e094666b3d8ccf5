import TestSupport
import Testing
import Threads

@testable import BeeHive

private struct Price: Sendable, Equatable { let cents: Int }

@Suite("Services of a Hive that is filled by hand", .mayHang)
struct ServicesTests {
  private let hive = Hive()
  private let made = Counter()

  @Test("a transient service is made anew for each request")
  func transient() throws {
    try hive.register(Int.self) { _ in made.next() }
    for number in 1...2 { #expect(try hive.service(Int.self) == number) }
  }

  @Test("a singleton is made at the first request and then kept")
  func singleton() throws {
    try hive.register(Int.self, scope: .singleton) { _ in made.next() }
    #expect(made.count == 0)
    for _ in 0..<3 { #expect(try hive.service(Int.self) == 1) }
    #expect(try hive.withService(Int.self) { $0 } == 1)
  }

  @Test("names tell implementations of each type apart; without a name the unnamed one answers")
  func named() throws {
    try hive.register(String.self, scope: .singleton) { _ in "hello" }
    try hive.register(String.self, name: "de", scope: .singleton) { _ in "hallo" }
    try hive.register(Int.self, name: "de", scope: .singleton) { _ in 49 }
    for _ in 0..<2 {
      #expect(try hive.service(String.self) == "hello")
      #expect(try hive.service(String.self, name: "de") == "hallo")
      #expect(try hive.service(Int.self, name: "de") == 49)
    }
    expectServiceError(.unusable) { try hive.service(String.self, name: "fr") }
  }

  @Test("a list of all is the answer to no other lookup")
  func all() throws {
    #expect(try hive.all(of: Int.self).isEmpty)
    try hive.register(Int.self) { _ in 1 }
    try hive.register(Int.self, name: "sale", instance: 2)
    #expect(try hive.all(of: Int.self) == [1, 2])
    #expect(try hive.service(Int.self) == 1)
  }

  @Test(
    "larger priority answers, also when it comes after an answer was given",
    arguments: [Scope.transient, .singleton])
  func priority(scope: Scope) async throws {
    try hive.register(Int.self, scope: scope) { _ in 1 }
    for _ in 0..<3 { #expect(try hive.service(Int.self) == 1) }
    try hive.register(Int.self, scope: scope, priority: 1) { _ in 2 }
    #expect(try hive.service(Int.self) == 2)
    try await hive.overridingInTask(Int.self, with: 3) { () async throws in
      #expect(try hive.service(Int.self) == 3)
    }
    #expect(try hive.service(Int.self) == 2)
    hive.remove(Int.self)
    #expect(throws: ServiceError.self) { try hive.service(Int.self) }
  }

  @Test("a duplicate is refused, listed, and named with both places")
  func duplicate() throws {
    try hive.register(String.self, file: "Shop/First.swift", line: 1) { _ in "first" }
    // The duplicate is listed once for each place, however often that place tries.
    for _ in 0..<3 {
      expectProblem(.duplicate, saying: "First.swift:1 already provides it") {
        try hive.register(String.self, file: "Shop/Second.swift", line: 2) { _ in "second" }
      }
    }
    #expect(hive.entries.count == 2)
    #expect(hive.entries.last?.description.contains("Second.swift:2") == true)
    #expect(try hive.service(String.self) == "first")
  }

  @Test("what was refused as a duplicate goes with the first one, by the whole name alone")
  func duplicateRemoved() throws {
    try hive.register(Price.self, instance: Price(cents: 1))
    expectProblem { try hive.register(Price.self, instance: Price(cents: 2)) }
    #expect(hive.removeServices(named: "Price") == 0, "a part of a name is none")
    #expect(hive.removeServices(named: "BeeHiveTests.Price") == 2)
    #expect(throws: ServiceError.self) { try hive.service(Price.self) }
    #expect(hive.entries.isEmpty)
  }

  @Test("what was refused as a duplicate gets its turn when the first one turns out unfit")
  func duplicateOfUnfit() throws {
    try hive.register(
      Registrations(services: [
        .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.Desert"),
        .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.AppleOrchard"),
      ]), file: "hive.json")
    #expect(hive.report().entries.map(\.state) == ["rejected", "bound"])
    #expect(try hive.service((any Orchard).self) is AppleOrchard)
  }

  @Test("a factory that throws is reported with its error, and asked again the next time")
  func failingFactory() throws {
    try hive.register(String.self, scope: .singleton) { _ in
      if made.next() == 1 { throw Broken() }
      return "hello"
    }
    let error = #expect(throws: ServiceError.self) { try hive.service(String.self) }
    #expect(error?.code == .creationFailed && error?.underlying is Broken)
    #expect(try hive.service(String.self) == "hello")
  }

  /// The number of services. Quadratic work would not end in time.
  private static let count = Effort.isFull ? 100_000 : 10_000

  @Test("many of one type, told apart by name, are found, replaced and removed one by one")
  func many() throws {
    for number in 0..<Self.count {
      try hive.register(Price.self, name: "\(number)") { _ in Price(cents: number) }
    }
    for number in 0..<Self.count {
      #expect(try hive.service(Price.self, name: "\(number)").cents == number)
    }
    expectProblem(.duplicate) {
      try hive.register(Price.self, name: "7") { _ in Price(cents: 0) }
    }
    #expect(throws: ServiceError.self) { try hive.service(Price.self) }
    #expect(hive.remove(Price.self, name: "7") == 2)
    try hive.register(Price.self, name: "7") { _ in Price(cents: 1) }
    #expect(try hive.service(Price.self, name: "7").cents == 1)
    #expect(hive.removeServices(named: "BeeHiveTests.Price") == Self.count)
    #expect(hive.entries.isEmpty)
  }
}

private struct Egg: Sendable {}
private struct Hen: Sendable {}

extension Hive {
  /// Registers two services that need each other. Each does something before it asks for the other.
  fileprivate func registerCycle(
    _ scope: Scope, _ before: @escaping @Sendable () -> Void = {},
    egg: @escaping @Sendable (Hive) throws -> Void = { _ = try $0.service(Egg.self) }
  ) throws {
    try register(Hen.self, scope: scope) { hive in
      before()
      try egg(hive)
      return Hen()
    }
    try register(Egg.self, scope: scope) { hive in
      before()
      _ = try hive.service(Hen.self)
      return Egg()
    }
  }
}

@Suite("Services that need each other", .mayHang)
struct ServiceCycleTests {
  private let hive = Hive()

  @Test(
    "a service that needs itself is an error with the path",
    arguments: [Scope.transient, .singleton, .scoped])
  func onOneThread(scope: Scope) throws {
    try hive.registerCycle(scope)
    let error = #expect(throws: ServiceError.self) { try hive.makeScope().service(Hen.self) }
    #expect(error?.code == .cycle)
    #expect(error?.message.contains("Hen → ") == true)
    #expect(error?.sources.count == 2)
  }

  @Test("two threads that need each other's singleton get an error, not a deadlock")
  func acrossThreads() async throws {
    for _ in 0..<50 {
      let (hive, inside) = (Hive(), Counter())
      try hive.registerCycle(.singleton) {
        inside.next()
        for _ in 0..<100_000 where inside.count < 2 {}
      }
      async let hen = Result { try hive.service(Hen.self) }
      async let egg = Result { try hive.service(Egg.self) }
      let errors = await [hen.error, egg.error].compactMap { $0 as? ServiceError }
      #expect(!errors.isEmpty)
      #expect(errors.allSatisfy { $0.code == .cycle })
    }
  }

  @Test("a cycle through a thread of the factory's own is an error after a while")
  func throughNewThread() throws {
    try hive.registerCycle(
      .singleton,
      egg: { hive in
        let error = Lock<(any Error)?>(nil)
        POSIXThread {
          Creation.$patience.withValue(.milliseconds(50)) {
            do { _ = try hive.service(Egg.self) } catch let thrown {
              error.withLock { $0 = thrown }
            }
          }
        }?.join()
        if let error = error.withLock(\.self) { throw error }
      })
    expectServiceError(saying: "another thread has not finished") {
      try hive.service(Hen.self)
    }
  }
}
