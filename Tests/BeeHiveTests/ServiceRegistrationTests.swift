import BeeHive
import Foundation
import Synchronization
import TestSupport
import Testing
import Threads

protocol Painter: Sendable { var colour: String { get } }
protocol Singer: Sendable { var song: String { get } }

struct RedPainter: Painter, Injectable {
  init(hive: Hive) {}
  var colour: String { "red" }
}

struct Brush: Painter, Singer {
  var colour = "brown"
  var song = "swish"
}

private struct NoPainter: Injectable {
  init(hive: Hive) {}
}

@Suite("Ways to register a service by code, and to take it away again")
struct ServiceRegistrationTests {
  @Test("a type, which is made as its scope says")
  func type() throws {
    let hive = Hive()
    try hive.register((any Painter).self, as: RedPainter.self)
    #expect(try hive.service((any Painter).self).colour == "red")
    #expect(hive.entries.map(\.implementation) == ["BeeHiveTests.RedPainter"])
  }

  @Test("a type that does not conform is refused at once, and listed")
  func unfitType() throws {
    let hive = Hive()
    let problem = #expect(throws: Problem.self) {
      try hive.register((any Painter).self, as: NoPainter.self)
    }
    #expect(problem?.code == .doesNotConform)
    #expect(hive.report().entries.map(\.code) == ["does-not-conform"])
  }

  @Test("the implementing type is known without an instance, however it was registered")
  func implementations() throws {
    let hive = Hive()
    try hive.register((any Painter).self, as: RedPainter.self, name: "type", priority: 4)
    try hive.register((any Painter).self, name: "instance", priority: 3, instance: Brush())
    try hive.register((any Painter).self, name: "factory", priority: 2) { _ in
      Issue.record("made for a mere question")
      return Brush()
    }
    try hive.register(
      Registrations(services: [
        .init(
          service: "BeeHiveTests.Painter", impl: "BeeHiveTests.RedPainter", name: "file",
          priority: 1)
      ]), file: "hive.json")
    let found = hive.implementations(of: (any Painter).self)
    #expect(found.map(\.entry.attributes.name) == ["type", "instance", "factory", "file"])
    #expect(
      found.map { $0.type.map { "\($0)" } } == ["RedPainter", "Brush", nil, "RedPainter"],
      "what a factory makes, only the factory knows")
    try hive.register(Brush.self) { _ in Brush() }
    #expect(hive.implementations(of: Brush.self).map { $0.type.map { "\($0)" } } == ["Brush"])
  }

  @Test("two protocols, one service name: each has its own")
  func twoProtocolsOneName() throws {
    let hive = Hive()
    try hive.register((any Painter).self, name: "main", scope: .singleton) { _ in Brush() }
    try hive.register((any Singer).self, name: "main", scope: .singleton) { _ in
      Brush(colour: "none", song: "la")
    }
    for _ in 0..<2 {
      #expect(try hive.service((any Painter).self, name: "main").colour == "brown")
      #expect(try hive.service((any Singer).self, name: "main").song == "la")
    }
  }

  @Test("remove takes away what code registered for the type, of one name or of none")
  func remove() throws {
    let hive = Hive()
    try hive.register((any Painter).self, scope: .singleton) { _ in Brush() }
    try hive.register((any Painter).self, name: "spare") { _ in Brush(colour: "blue") }
    try hive.register((any Singer).self) { _ in Brush() }
    #expect(try hive.service((any Painter).self).colour == "brown")
    #expect(hive.remove((any Painter).self) == 1)
    #expect(hive.remove((any Painter).self) == 0)
    #expect(try hive.service((any Painter).self).colour == "blue")
    #expect(hive.remove((any Painter).self, name: "spare") == 1)
    #expect(throws: ServiceError.self) { try hive.service((any Painter).self) }
    #expect(try hive.service((any Singer).self).song == "swish")
    #expect(hive.entries.count == 1)
  }

  @Test("1,000 concurrent lookups of a singleton: one instance", .mayHang)
  func thousandConcurrentLookups() async throws {
    final class Counted: Sendable {
      let number: Int
      init(_ number: Int) { self.number = number }
    }
    let hive = Hive()
    let made = Atomic<Int>(0)
    try hive.register(Counted.self, scope: .singleton) { _ in
      usleep(20_000)
      return Counted(made.wrappingAdd(1, ordering: .relaxed).newValue)
    }
    // Threads and no tasks: those of a small pool might come one after another.
    let found = Lock<[Counted?]>([])
    for _ in 0..<50 {
      Thread.detachNewThread {
        let mine = (0..<20).map { _ in try? hive.service(Counted.self) }
        found.withLock { $0 += mine }
      }
    }
    #expect(try await Patience.wait { found.withLock { $0.count } == 1000 })
    #expect(made.load(ordering: .relaxed) == 1)
    found.withLock { found in
      let first = found[0]
      #expect(first != nil && found.allSatisfy { $0 === first })
    }
  }
}
