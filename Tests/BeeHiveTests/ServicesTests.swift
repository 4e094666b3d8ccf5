import Foundation
import Synchronization
import TestSupport
import Testing
import Threads

@testable import BeeHive

private protocol Greeter: Sendable { func greet() -> String }

private struct English: Greeter { func greet() -> String { "hello" } }
private struct German: Greeter { func greet() -> String { "hallo" } }
private final class Counted: Greeter {
  let number: Int
  init(_ number: Int) { self.number = number }
  func greet() -> String { "number \(number)" }
}

@Suite("Services of a Hive that is filled by hand")
struct ServicesTests {
  @Test("a transient service is made anew for each request")
  func transient() throws {
    let hive = Hive()
    let made = Atomic<Int>(0)
    try hive.register((any Greeter).self) { _ in
      Counted(made.wrappingAdd(1, ordering: .relaxed).newValue)
    }
    #expect(try hive.service((any Greeter).self).greet() == "number 1")
    #expect(try hive.service((any Greeter).self).greet() == "number 2")
  }

  @Test("a singleton is made at the first request and then kept")
  func singleton() throws {
    let hive = Hive()
    let made = Atomic<Int>(0)
    try hive.register((any Greeter).self, scope: .singleton) { _ in
      Counted(made.wrappingAdd(1, ordering: .relaxed).newValue)
    }
    #expect(made.load(ordering: .relaxed) == 0)
    for _ in 0..<3 { #expect(try hive.service((any Greeter).self).greet() == "number 1") }
    #expect(try hive.withService((any Greeter).self) { $0.greet() } == "number 1")
  }

  @Test("an instance is handed out as it is, and services of other types stay apart")
  func instance() throws {
    let hive = Hive()
    let counted = Counted(7)
    try hive.register(Counted.self, instance: counted)
    #expect(try hive.service(Counted.self) === counted)
    #expect(throws: ServiceError.self) { try hive.service((any Greeter).self) }
  }

  @Test("names tell implementations apart; without a name the unnamed one answers")
  func named() throws {
    let hive = Hive()
    try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
    try hive.register((any Greeter).self, name: "de", scope: .singleton) { _ in German() }
    for _ in 0..<2 {
      #expect(try hive.service((any Greeter).self).greet() == "hello")
      #expect(try hive.service((any Greeter).self, name: "de").greet() == "hallo")
    }
    let error = #expect(throws: ServiceError.self) {
      try hive.service((any Greeter).self, name: "fr")
    }
    #expect(error?.code == .unusable)
  }

  @Test("larger priority answers, also when it comes after an answer was given")
  func priority() throws {
    let hive = Hive()
    try hive.register((any Greeter).self, scope: .singleton) { _ in English() }
    #expect(try hive.service((any Greeter).self).greet() == "hello")
    try hive.register((any Greeter).self, scope: .singleton, priority: 1) { _ in German() }
    #expect(try hive.service((any Greeter).self).greet() == "hallo")
  }

  @Test("a duplicate is refused, listed, and named with both places")
  func duplicate() throws {
    let hive = Hive()
    try hive.register((any Greeter).self, file: "Shop/First.swift", line: 1) { _ in English() }
    let problem = #expect(throws: Problem.self) {
      try hive.register((any Greeter).self, file: "Shop/Second.swift", line: 2) { _ in German() }
    }
    #expect(problem?.code == .duplicate)
    #expect(problem?.message.contains("First.swift:1 already provides it") == true)
    #expect(hive.entries.count == 2)
    #expect(hive.entries.last?.description.contains("Second.swift:2") == true)
    #expect(try hive.service((any Greeter).self).greet() == "hello")
  }

  @Test("what was refused as a duplicate gets its turn when the first one goes")
  func duplicateTakesOver() throws {
    let hive = Hive()
    try hive.register(English.self, instance: English())
    #expect(throws: Problem.self) { try hive.register(English.self, instance: English()) }
    #expect(hive.removeServices(named: "English") == 0, "a part of a name is none")
    #expect(hive.removeServices(named: "BeeHiveTests.English") == 2)
    #expect(throws: ServiceError.self) { try hive.service(English.self) }
    #expect(hive.entries.isEmpty)
  }

  @Test("what was refused as a duplicate gets its turn when the first one turns out unfit")
  func duplicateOfUnfit() throws {
    let hive = Hive()
    try hive.register(
      Registrations(services: [
        .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.Desert"),
        .init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.AppleOrchard"),
      ]), file: "hive.json")
    #expect(hive.report().entries.map(\.state) == ["rejected", "bound"])
    #expect(try hive.service((any Orchard).self) is AppleOrchard)
  }

  @Test("nothing registered: the error says what to do")
  func notFound() {
    let error = #expect(throws: ServiceError.self) { try Hive().service((any Greeter).self) }
    #expect(error?.code == .notFound)
    #expect(error?.description.hasPrefix("service Greeter: nothing that is loaded") == true)
  }

  @Test("a factory that throws is reported with its error, and asked again the next time")
  func failingFactory() throws {
    struct Full: Error {}
    let hive = Hive()
    let attempts = Atomic<Int>(0)
    try hive.register((any Greeter).self, scope: .singleton) { _ in
      if attempts.wrappingAdd(1, ordering: .relaxed).newValue == 1 { throw Full() }
      return English()
    }
    let error = #expect(throws: ServiceError.self) { try hive.service((any Greeter).self) }
    #expect(error?.code == .creationFailed)
    #expect(error?.underlying is Full)
    #expect(try hive.service((any Greeter).self).greet() == "hello")
  }

}

private struct Egg: Sendable {}
private struct Hen: Sendable {}

@Suite("Services that need each other")
struct ServiceCycleTests {
  @Test(
    "a service that needs itself is an error with the path",
    arguments: [Scope.transient, .singleton])
  func onOneThread(scope: Scope) throws {
    let hive = Hive()
    try hive.register(Hen.self, scope: scope) { hive in
      _ = try hive.service(Egg.self)
      return Hen()
    }
    try hive.register(Egg.self, scope: scope) { hive in
      _ = try hive.service(Hen.self)
      return Egg()
    }
    let error = #expect(throws: ServiceError.self) { try hive.service(Hen.self) }
    #expect(error?.code == .cycle)
    #expect(error?.message.contains("Hen → ") == true)
    #expect(error?.sources.count == 2)
  }

  @Test(
    "two threads that need each other's singleton get an error, not a deadlock",
    .mayHang)
  func acrossThreads() async throws {
    for _ in 0..<50 {
      let hive = Hive()
      let inside = Atomic<Int>(0)
      @Sendable func meet() {
        inside.wrappingAdd(1, ordering: .sequentiallyConsistent)
        for _ in 0..<100_000 where inside.load(ordering: .sequentiallyConsistent) < 2 {}
      }
      try hive.register(Hen.self, scope: .singleton) { hive in
        meet()
        _ = try hive.service(Egg.self)
        return Hen()
      }
      try hive.register(Egg.self, scope: .singleton) { hive in
        meet()
        _ = try hive.service(Hen.self)
        return Egg()
      }
      async let hen = Result { try hive.service(Hen.self) }
      async let egg = Result { try hive.service(Egg.self) }
      let errors = await [hen.failure, egg.failure].compactMap { $0 as? ServiceError }
      #expect(!errors.isEmpty)
      #expect(errors.allSatisfy { $0.code == .cycle })
    }
  }
}

extension ServiceCycleTests {
  @Test("a cycle through a thread of the factory's own is an error after a while", .mayHang)
  func throughNewThread() throws {
    let hive = Hive()
    try hive.register(Hen.self, scope: .singleton) { hive in
      let error = Lock<(any Error)?>(nil)
      POSIXThread {
        Creation.$patience.withValue(.milliseconds(50)) {
          do { _ = try hive.service(Egg.self) } catch let thrown { error.withLock { $0 = thrown } }
        }
      }?.join()
      if let error = error.withLock(\.self) { throw error }
      return Hen()
    }
    try hive.register(Egg.self, scope: .singleton) { hive in
      _ = try hive.service(Hen.self)
      return Egg()
    }
    let error = #expect(throws: ServiceError.self) { try hive.service(Hen.self) }
    #expect("\(error, default: "")".contains("still being made on another thread"))
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
