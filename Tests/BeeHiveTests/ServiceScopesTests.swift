import BeeHive
import TestSupport
import Testing
import Threads

private final class Session: Disposable {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func dispose() { journal.write("session") }
}

private final class Basket: Disposable {
  let session: Session
  init(_ session: Session) { self.session = session }
  func dispose() { session.journal.write("basket") }
}

private struct Page: Sendable {
  let basket: Basket
  let session: Session
}

/// A type that the Hive makes with its initialiser. It needs a scoped service.
private final class Receipt: Injectable {
  let session: Session
  init(hive: Hive) throws { session = try hive.service(Session.self) }
}

@Suite("How long services live")
struct ServiceScopesTests {
  private let hive = Hive()

  @Test("a weak service lives as long as somebody holds it")
  func weak() throws {
    let made = Counter()
    try hive.register(Box.self, scope: .weak) { _ in Box(made.next()) }
    var first: Box? = try hive.service(Box.self)
    #expect(try hive.service(Box.self).number == first?.number)
    first = nil
    #expect(try hive.service(Box.self).number == 2)
  }

  private final class Box: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  @Test("a weak service that is no class is an error")
  func weakStruct() throws {
    try hive.register(Int.self, scope: .weak) { _ in 1 }
    expectServiceError(saying: "makes no class") { try hive.service(Int.self) }
  }

  @Test("a scoped service is one within a scope, another in the next, and none without")
  func scoped() throws {
    try hive.register(Thing.self, scope: .scoped) { _ in Thing() }
    let (one, two) = (hive.makeScope(), hive.makeScope())
    let thing = try one.service(Thing.self)
    #expect(try one.service(Thing.self) === thing)
    #expect(try two.service(Thing.self) !== thing)
    expectServiceError(saying: "makeScope") { try hive.service(Thing.self) }
  }

  @Test("a factory takes a parameter; asking with none or with another is an error that says so")
  func parameter() throws {
    try hive.register(String.self, taking: Int.self, file: "App/Main.swift", line: 3) { "\($1)!" }
    #expect(try hive.service(String.self, with: 7) == "7!")
    expectServiceError(saying: "needs a Int; ask with one") { try hive.service(String.self) }
    expectServiceError(
      saying: "App/Main.swift:3: its factory takes a Swift.Int, and was given a Swift.String"
    ) { try hive.service(String.self, with: "seven") }
  }
}

@Suite("Scoped services that need each other")
struct NestedScopesTests {
  private let hive = Hive()
  private let journal = Journal()

  init() throws {
    try hive.register(Session.self, scope: .scoped) { [journal] _ in Session(journal) }
    try hive.register(Basket.self, scope: .scoped) { hive in Basket(try hive.service()) }
    try hive.register(Page.self) { hive in
      Page(basket: try hive.service(), session: try hive.service())
    }
    try hive.register(Receipt.self, as: Receipt.self)
  }

  @Test("A factory asks through the scope that it was asked through")
  func factories() throws {
    let scope = hive.makeScope()
    let page = try scope.service(Page.self)
    #expect(page.basket.session === page.session)
    #expect(try scope.service(Session.self) === page.session)
    #expect(try scope.service(Receipt.self).session === page.session)
  }

  @Test("A scope within another has instances of its own, and ends with it, in reverse and once")
  func nested() throws {
    let outer = hive.makeScope()
    let inner = outer.makeScope()
    #expect(inner.outer === outer)
    _ = try inner.service(Basket.self)
    #expect(try inner.service(Session.self) !== outer.service(Session.self))
    for _ in 0..<2 { outer.end() }
    #expect(journal.take() == ["basket", "session", "session"])
    expectServiceError(saying: "has ended") { try inner.service(Session.self) }
    #expect(throws: ServiceError.self) { try outer.makeScope().service(Session.self) }
    _ = try hive.makeScope().service(Session.self)
    #expect(journal.lines == ["session"], "one that is let go ends too")
  }

  @Test("A singleton that needs a scoped service is an error that names both")
  func captured() throws {
    try hive.register(Page.self, name: "front", scope: .singleton) { hive in
      Page(basket: try hive.service(), session: try hive.service())
    }
    // The same holds through a transient service.
    try hive.register(String.self, scope: .singleton) { hive in "\(try hive.service(Page.self))" }
    let scope = hive.makeScope()
    expectServiceError(saying: "outlives every scope") {
      try scope.service(Page.self, name: "front")
    }
    expectServiceError(saying: "outlives every scope") {
      try scope.service(String.self)
    }
  }

  @Test("A scope answers by name, with a parameter, and with all implementations")
  func ways() throws {
    try hive.register(String.self) { _ in "plain" }
    try hive.register(String.self, name: "scoped", scope: .scoped) { _ in "scoped" }
    try hive.register(String.self, taking: String.self, name: "given") { $1 }
    let scope = hive.makeScope()
    #expect(try scope.service(String.self, name: "scoped") == "scoped")
    #expect(try scope.service(String.self, name: "given", with: "so") == "so")
    #expect(try scope.all(of: String.self) == ["plain", "scoped"])
    // Without a scope, only the other services answer.
    #expect(try hive.all(of: String.self) == ["plain"])
  }

  @Test("Tasks that share a scope get one instance of each service")
  func shared() async throws {
    let scope = hive.makeScope()
    let sessions = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
      for number in 0..<200 {
        group.addTask {
          number % 2 == 0
            ? ObjectIdentifier(try scope.service(Page.self).basket.session)
            : ObjectIdentifier(try scope.service(Session.self))
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(sessions.count == 1)
  }

  @Test("A scope that ends while its factory runs: what that makes is disposed of, and refused")
  func endedMeanwhile() throws {
    let ending = Lock<ServiceScope?>(nil)
    try hive.register(Session.self, name: "late", scope: .scoped) { [journal] _ in
      ending.withLock { $0 }?.end()
      return Session(journal)
    }
    let scope = hive.makeScope()
    ending.withLock { $0 = scope }
    expectServiceError(saying: "has ended") { try scope.service(Session.self, name: "late") }
    #expect(journal.lines == ["session"])
    ending.withLock { $0 = nil }
  }
}
