import BeeHive
import Foundation
import TestSupport
import Testing
import Threads

protocol Painter: Sendable {}

struct RedPainter: Painter, Injectable { init(hive: Hive) {} }

struct Brush: Painter {}

private struct NoPainter: Injectable { init(hive: Hive) {} }

@Suite("Ways to register a service by code, and to take it away again")
struct ServiceRegistrationTests {
  private let hive = Hive()

  @Test("a type that does not conform is refused at once, and listed")
  func unfitType() throws {
    expectProblem(.doesNotConform) {
      try hive.register((any Painter).self, as: NoPainter.self)
    }
    #expect(hive.report().entries.map(\.code) == ["does-not-conform"])
  }

  @Test("the implementing type is known without an instance, however it was registered")
  func implementations() throws {
    try hive.register((any Painter).self, as: RedPainter.self, name: "type", priority: 4)
    try hive.register((any Painter).self, name: "instance", priority: 3, instance: Brush())
    try hive.register((any Painter).self, name: "factory", priority: 2) { _ in
      Issue.record("made for a mere question")
      return Brush()
    }
    try hive.declare(
      "BeeHiveTests.Painter", by: "BeeHiveTests.RedPainter", name: "file", priority: 1)
    try hive.register(Brush.self) { _ in Brush() }
    func known<Service: Sendable>(_ type: Service.Type) -> [String] {
      hive.implementations(of: type).map {
        "\($0.entry.attributes.name ?? "–") \($0.type.map { "\($0)" } ?? "–")"
      }
    }
    #expect(
      known((any Painter).self) == [
        "type RedPainter", "instance Brush", "factory –", "file RedPainter",
      ], "what a factory makes, only the factory knows")
    #expect(known(Brush.self) == ["– Brush"])
  }

  @Test("1,000 concurrent lookups of a singleton: one instance", .mayHang)
  func thousandConcurrentLookups() async throws {
    let made = Counter()
    try hive.register(Thing.self, scope: .singleton) { _ in
      usleep(20_000)
      made.next()
      return Thing()
    }
    // Threads, because the tasks of a small pool might run one after another.
    let found = Lock<[Thing?]>([])
    for _ in 0..<50 {
      Thread.detachNewThread {
        let mine = (0..<20).map { _ in try? hive.service(Thing.self) }
        found.withLock { $0 += mine }
      }
    }
    #expect(try await Patience.wait { found.withLock { $0.count } == 1000 })
    #expect(made.count == 1)
    found.withLock { found in
      let first = found[0]
      #expect(first != nil && found.allSatisfy { $0 === first })
    }
  }
}
