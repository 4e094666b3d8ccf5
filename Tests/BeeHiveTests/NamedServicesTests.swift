import BeeHive
import TestSupport
import Testing

private struct Price: Sendable, Equatable { let cents: Int }

@Suite("Many services of one type, told apart by name", .mayHang)
struct NamedServicesTests {
  /// So many that work over all of them for each would not end in time.
  private static let count = Effort.isFull ? 100_000 : 10_000

  @Test("are registered, found, replaced and removed one by one")
  func many() throws {
    let hive = Hive()
    for number in 0..<Self.count {
      try hive.register(Price.self, name: "\(number)") { _ in Price(cents: number) }
    }
    for number in 0..<Self.count {
      #expect(try hive.service(Price.self, name: "\(number)") == Price(cents: number))
    }
    let refused = #expect(throws: Problem.self) {
      try hive.register(Price.self, name: "7") { _ in Price(cents: 0) }
    }
    #expect(refused?.code == .duplicate)
    #expect(throws: ServiceError.self) { try hive.service(Price.self) }
    #expect(hive.remove(Price.self, name: "7") == 2)
    try hive.register(Price.self, name: "7") { _ in Price(cents: 1) }
    #expect(try hive.service(Price.self, name: "7") == Price(cents: 1))
    #expect(hive.removeServices(named: "BeeHiveTests.Price") == Self.count)
    #expect(hive.entries.isEmpty)
  }

  @Test("A transient service that was found once is found anew when another comes before it")
  func replaced() async throws {
    let hive = Hive()
    try hive.register(Price.self) { _ in Price(cents: 1) }
    for _ in 0..<3 { #expect(try hive.service(Price.self).cents == 1) }
    try hive.register(Price.self, priority: 1) { _ in Price(cents: 2) }
    #expect(try hive.service(Price.self).cents == 2)
    try await hive.overridingInTask(Price.self, with: Price(cents: 3)) { () async throws in
      #expect(try hive.service(Price.self).cents == 3)
    }
    #expect(try hive.service(Price.self).cents == 2)
    hive.remove(Price.self)
    #expect(throws: ServiceError.self) { try hive.service(Price.self) }
  }

  @Test("A list of all is the answer to no other lookup")
  func listed() throws {
    let hive = Hive()
    try hive.register(Price.self) { _ in Price(cents: 1) }
    try hive.register(Price.self, name: "sale", instance: Price(cents: 2))
    #expect(try hive.all(of: Price.self).map(\.cents) == [1, 2])
    #expect(try hive.service(Price.self).cents == 1)
  }
}
