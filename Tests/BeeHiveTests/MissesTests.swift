import Testing

@testable import BeeHive

private struct Price: Sendable, Equatable { let cents: Int }
private struct Prise: Sendable {}
private struct Box<Item: Sendable>: Sendable { let item: Item }
private protocol Weighed: Sendable {}
private protocol Priced: Sendable {}
private struct Barrow: Weighed, Priced {}
private protocol Tap<Item>: Sendable { associatedtype Item }
private struct IntTap: Tap { typealias Item = Int }

@Suite("A lookup that finds nothing is answered from memory the next time")
struct MissesTests {
  private let hive = Hive()

  /// Asks twice. The second answer comes from the memory of the first one.
  private func ask(_ name: String? = nil) -> [String] {
    (0..<2).map { _ in
      do {
        return
          "\(try name.map { try hive.service(Price.self, name: $0) } ?? hive.service(Price.self))"
      } catch { return "\(error)" }
    }
  }

  @Test("The second error says what the first did, with what may have been meant")
  func same() throws {
    try hive.register(Prise.self) { _ in Prise() }
    let said = ask()
    #expect(said[0] == said[1])
    #expect(said[1].contains("did you mean") && said[1].contains("Prise"))
    try hive.register(Price.self, name: "tea") { _ in Price(cents: 1) }
    let named = ask("te")
    #expect(named[0] == named[1])
    #expect(named[1].hasSuffix("is named tea; did you mean tea?"))
  }

  @Test("What is registered, overridden or removed meanwhile is seen")
  func changed() async throws {
    for name in [nil, "tea"] {
      let first = ask(name)
      try hive.register(Price.self, name: name) { _ in Price(cents: 1) }
      #expect(ask(name) == ["Price(cents: 1)", "Price(cents: 1)"])
      hive.remove(Price.self, name: name)
      #expect(ask(name) == first)
    }
    await hive.overridingInTask(Price.self, with: Price(cents: 3)) {
      #expect(ask() == ["Price(cents: 3)", "Price(cents: 3)"])
    }
    #expect(ask()[1].contains("nothing that is loaded provides it"))
  }

  @Test("A name that a record writes in another way is seen: generic types, compositions")
  func spelledOtherwise() throws {
    func asked<Service: Sendable>(_ type: Service.Type, _ written: String, _ made: Service) throws {
      let hive = Hive()
      for _ in 0..<2 { #expect(throws: ServiceError.self) { try hive.service(type) } }
      try hive.declare(written, by: "Shop.Made", scope: .singleton)
      hive.bind("Shop.Made") { _ in made }
      for _ in 0..<2 { _ = try hive.service(type) }
      // A service that was found is not remembered for ever either: an entry that comes before it is seen.
      try hive.declare(written, by: "Shop.Made", priority: 9, in: "better.json")
      _ = try hive.service(type)
      #expect(hive.cache.object(at: LookupCache.key(of: type), name: nil) == nil)
    }
    try asked(Box<Price>.self, "Box<Price>", Box(item: Price(cents: 1)))
    try asked((any Weighed & Priced).self, "Priced & Weighed", Barrow())
    try asked((any Tap<Int>).self, "Tap<Int>", IntTap())
  }

  @Test("What comes while the error is put together is seen")
  func meanwhile() throws {
    var lookup = ServiceLookup(type: Price.self, name: "tea", hive: hive)
    #expect(try lookup.run() == nil)
    try hive.register(Price.self, name: "tea") { _ in Price(cents: 1) }
    _ = lookup.failure()
    #expect(try hive.service(Price.self, name: "tea") == Price(cents: 1))
  }

  @Test("Names without end that nothing has do not fill memory")
  func endless() throws {
    for number in 0..<2_000 {
      #expect(throws: ServiceError.self) { try hive.service(Price.self, name: "\(number)") }
    }
    #expect(hive.cache.capacity <= 2_048)
    try hive.register(Price.self, name: "1999") { _ in Price(cents: 1) }
    #expect(try hive.service(Price.self, name: "1999") == Price(cents: 1))
  }
}
