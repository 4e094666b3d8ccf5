import BeeHive
import TestSupport
import Testing
import Threads

private final class Session: Disposable {
  let log: Log
  init(_ log: Log) { self.log = log }
  func dispose() { log.add("session") }
}

private final class Basket: Disposable {
  let session: Session
  init(_ session: Session) { self.session = session }
  func dispose() { session.log.add("basket") }
}

private struct Page: Sendable {
  let basket: Basket
  let session: Session
}

private struct Words: Sendable { let text: String }

private final class Log: Sendable {
  private let lines = Lock<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A type that the Hive makes by its initialiser, and that needs a scoped service.
private final class Receipt: Injectable {
  let session: Session
  init(hive: Hive) throws { session = try hive.service(Session.self) }
}

@Suite("Scoped services that need each other")
struct NestedScopesTests {
  private static func shop(_ log: Log) throws -> Hive {
    let hive = Hive()
    try hive.register(Session.self, scope: .scoped) { _ in Session(log) }
    try hive.register(Basket.self, scope: .scoped) { hive in Basket(try hive.service()) }
    try hive.register(Page.self) { hive in
      Page(basket: try hive.service(), session: try hive.service())
    }
    try hive.register(Receipt.self, as: Receipt.self)
    return hive
  }

  @Test("A factory asks through the scope that it was asked through")
  func factories() throws {
    let scope = try Self.shop(Log()).makeScope()
    let page = try scope.service(Page.self)
    #expect(page.basket.session === page.session)
    #expect(try scope.service(Session.self) === page.session)
    #expect(try scope.service(Receipt.self).session === page.session)
  }

  @Test("A scope within another has instances of its own, and ends with it")
  func nested() throws {
    let log = Log()
    let outer = try Self.shop(log).makeScope()
    let inner = outer.makeScope()
    #expect(inner.outer === outer)
    #expect(try inner.service(Session.self) !== outer.service(Session.self))
    outer.end()
    #expect(log.all == ["session", "session"])
    #expect(throws: ServiceError.self) { try inner.service(Session.self) }
    #expect(throws: ServiceError.self) { try outer.makeScope().service(Session.self) }
  }

  @Test("What a scope made is disposed of in reverse, once, when it ends or is let go of")
  func disposed() throws {
    let log = Log()
    let hive = try Self.shop(log)
    let scope = hive.makeScope()
    _ = try scope.service(Basket.self)
    scope.end()
    scope.end()
    #expect(log.all == ["basket", "session"])
    let error = #expect(throws: ServiceError.self) { try scope.service(Session.self) }
    #expect(error?.message.contains("has ended") == true)
    _ = try hive.makeScope().service(Session.self)
    #expect(log.all == ["basket", "session", "session"])
  }

  @Test("A singleton that needs a scoped service is an error that names both")
  func captured() throws {
    let hive = try Self.shop(Log())
    try hive.register(Page.self, name: "front", scope: .singleton) { hive in
      Page(basket: try hive.service(), session: try hive.service())
    }
    let scope = hive.makeScope()
    let error = #expect(throws: ServiceError.self) { try scope.service(Page.self, name: "front") }
    #expect(error.map { "\($0)" }?.contains("outlives every scope") == true)
    // Through a transient one too.
    try hive.register(Words.self, scope: .singleton) { hive in
      _ = try hive.service(Page.self)
      return Words(text: "")
    }
    let other = #expect(throws: ServiceError.self) { try hive.makeScope().service(Words.self) }
    #expect("\(other as Any)".contains("outlives every scope"))
  }

  @Test("A scope answers by name, with a parameter, and with all implementations")
  func ways() throws {
    let hive = Hive()
    try hive.register(Words.self) { _ in Words(text: "plain") }
    try hive.register(Words.self, name: "scoped", scope: .scoped) { _ in Words(text: "scoped") }
    try hive.register(Words.self, taking: String.self, name: "given") { _, text in
      Words(text: text)
    }
    let scope = hive.makeScope()
    #expect(try scope.service(Words.self, name: "scoped").text == "scoped")
    #expect(try scope.service(Words.self, name: "given", with: "so").text == "so")
    #expect(try scope.all(of: Words.self).map(\.text) == ["plain", "scoped"])
    // Without a scope, the others.
    #expect(try hive.all(of: Words.self).map(\.text) == ["plain"])
  }

  @Test("Scoped services that need each other in a cycle are named")
  func cycle() throws {
    let hive = Hive()
    try hive.register(Words.self, name: "a", scope: .scoped) { try $0.service(name: "b") }
    try hive.register(Words.self, name: "b", scope: .scoped) { try $0.service(name: "a") }
    let error = #expect(throws: ServiceError.self) {
      try hive.makeScope().service(Words.self, name: "a")
    }
    #expect(error?.code == .cycle)
  }

  @Test("Tasks that share a scope get one instance of each service")
  func shared() async throws {
    let hive = try Self.shop(Log())
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
    let log = Log()
    let hive = Hive()
    let ending = Lock<ServiceScope?>(nil)
    try hive.register(Session.self, scope: .scoped) { _ in
      ending.withLock { $0 }?.end()
      return Session(log)
    }
    let scope = hive.makeScope()
    ending.withLock { $0 = scope }
    let error = #expect(throws: ServiceError.self) { try scope.service(Session.self) }
    #expect(error?.message.contains("has ended") == true)
    #expect(log.all == ["session"])
    ending.withLock { $0 = nil }
  }
}
