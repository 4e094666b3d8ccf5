import BeeHive
import Synchronization
import Testing

private protocol Store: Sendable { var number: Int { get } }

private final class Disk: Store {
  private static let made = Atomic<Int>(0)
  let number = Disk.made.wrappingAdd(1, ordering: .relaxed).newValue
}

private struct Memory: Store { let number = -1 }
private struct Query: Sendable { let text: String }
private struct Answer: Sendable { let text: String }

@Suite("How long services live, and which of several answers")
struct ServiceScopesTests {
  @Test("a weak service lives as long as somebody holds it")
  func weak() throws {
    let hive = Hive()
    try hive.register((any Store).self, scope: .weak) { _ in Disk() }
    var first: (any Store)? = try hive.service((any Store).self)
    let number = first?.number
    #expect(try hive.service((any Store).self).number == number)
    first = nil
    #expect(try hive.service((any Store).self).number != number)
  }

  @Test("a weak service that is no class is an error")
  func weakStruct() throws {
    let hive = Hive()
    try hive.register((any Store).self, scope: .weak) { _ in Memory() }
    let error = #expect(throws: ServiceError.self) { try hive.service((any Store).self) }
    #expect(error?.message.contains("makes no class") == true)
  }

  @Test("a scoped service is one within a scope, another in the next, and none without")
  func scoped() throws {
    let hive = Hive()
    try hive.register((any Store).self, scope: .scoped) { _ in Disk() }
    let (one, two) = (hive.makeScope(), hive.makeScope())
    let number = try one.service((any Store).self).number
    #expect(try one.service((any Store).self).number == number)
    #expect(try two.service((any Store).self).number != number)
    let error = #expect(throws: ServiceError.self) { try hive.service((any Store).self) }
    #expect(error?.message.contains("makeScope") == true)
  }

  @Test("a scope gives the Hive's own singletons")
  func scopeOfSingleton() throws {
    let hive = Hive()
    try hive.register(Disk.self, scope: .singleton) { _ in Disk() }
    #expect(try hive.makeScope().service(Disk.self) === hive.service(Disk.self))
  }

  @Test("all implementations come with the larger priority first, named ones too")
  func all() throws {
    let hive = Hive()
    try hive.register((any Store).self, scope: .singleton) { _ in Disk() }
    try hive.register((any Store).self, name: "fast", scope: .singleton, priority: 5) { _ in
      Memory()
    }
    #expect(try hive.all(of: (any Store).self).map { $0 is Memory } == [true, false])
    #expect(try Hive().all(of: (any Store).self).isEmpty)
  }

  @Test("a factory takes a parameter; asking without one is an error that says so")
  func parameter() throws {
    let hive = Hive()
    try hive.register(Answer.self, taking: Query.self) { _, query in Answer(text: query.text + "!")
    }
    #expect(try hive.service(Answer.self, with: Query(text: "why")).text == "why!")
    let error = #expect(throws: ServiceError.self) { try hive.service(Answer.self) }
    #expect(error?.message.contains("needs a Query") == true)
    #expect(throws: ServiceError.self) { try hive.service(Answer.self, with: 3) }
  }
}
