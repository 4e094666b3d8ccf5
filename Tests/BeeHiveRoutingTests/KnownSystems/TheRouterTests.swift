import BeeHiveRouting
import CRoutes
import Testing
import Threads

/// What TheRouter does; it has no tests of its own but a template.
@Suite("TheRouter")
struct TheRouterTests {
  let router = Router()

  @Test("lazyRegister: routes of an image are there at the first URL, and no code runs before")
  func lazyRegister() async throws {
    c_routes_link()
    let hive = Hive.process
    #expect("\(try await hive.router.open("croutes://stock/abc?count=1"))" == "3")
    let isMade = Lock(false)
    try router.mediator.register("shop") { () -> ShopTarget in
      isMade.withLock { $0 = true }
      return ShopTarget()
    }
    #expect(router.canOpen("app://shop/nothing") && !isMade.withLock { $0 })
    try await router.open("app://shop/nothing")
    #expect(isMade.withLock { $0 })
  }

  @Test("Batch: one after the other; the first that cannot be names both places, the rest can go")
  func batch() throws {
    var registrations: [RouteRegistration] = []
    let error = #expect(throws: RoutingError.self) {
      for (line, pattern) in ["/a", "/b/:id", "/b/:name", "/c"].enumerated() {
        registrations.append(
          try router.register(pattern, file: "M/Batch.swift", line: UInt(line)) { _ in })
      }
    }
    #expect(error?.code == .duplicate && error?.sources.count == 2)
    #expect(error?.message.contains("Batch.swift:2") == true)
    #expect(router.routes.map(\.pattern.text) == ["/a", "/b/:id"])
    for registration in registrations { registration.cancel() }
    #expect(router.routes.isEmpty)
  }

  @Test("Batch: names that stand for URLs are taken all or not at all")
  func batchOfNames() throws {
    #expect(throws: RoutingError.self) {
      try router.register(["a": "app://a", "b": "app://b", "c/d": "app://c"])
    }
    #expect(router.aliases == [:])
    try router.register(["a": "app://a", "b": "app://b"])
    #expect(router.aliases.urls.count == 2)
  }

  @Test("Builder: parameters one by one, of any type, then the call; a wrong one is no URL")
  func builder() async throws {
    try router.register("app://demo/:id<Int>?name") { call in
      let (id, name): (Int, String) = (try call["id"], try call["name"])
      let model: Price = try call["model"]
      return "\(id) \(name) \(model.cents)"
    }
    let url = try RoutePattern("app://demo/:id<Int>?name").url(with: ["id": 7, "name": "a&b=c"])
    #expect(url == "app://demo/7?name=a%26b%3Dc")
    var arguments = Arguments()
    arguments.set(Price(cents: 5, currency: .yen), for: "model")
    #expect(try await router.object(for: url, as: String.self, with: arguments) == "7 a&b=c 5")
    let error = #expect(throws: RoutingError.self) {
      try RoutePattern("app://demo/:id<Int>?name").url(with: ["id": "seven"])
    }
    #expect(error?.key == "id")
  }

  @Test("removeRouter takes one route; what is registered next is asked at once")
  func removeRouter() async throws {
    try router.answering("app://demo", "app://demo/:id")
    #expect(router.deregister("app://demo") && !router.canOpen("app://demo"))
    #expect(await router.answer("app://demo/7") == "app://demo/:id id=7")
    // There, a service is written by another queue, and may be missing when it is read.
    for index in 0..<100 {
      try router.mediator.register("t\(index)") { ShopTarget() }
      #expect(router.canOpen("app://t\(index)/nothing"))
    }
  }

  @Test("Relocation: every rule has its effect, and matches whole URLs")
  func relocation() async throws {
    try router.answering("app://new", "app://old", "app://older", "app://newer")
    try router.calls.load(
      DecisionTable(rules: [
        .init("first", .init(.url("app://old")), do: .redirectToURL("app://new")),
        .init("second", .init(.url("app://olde")), do: .redirectToURL("app://new")),
        .init("third", .init(.url("app://older")), do: .redirectToURL("app://newer")),
      ]))
    #expect(await router.answer("app://old") == "app://new")
    #expect(await router.answer("app://older") == "app://newer")
    #expect(await router.answer("app://newer") == "app://newer")
  }

  @Test("Interceptors by priority, with URLs that they leave alone")
  func interceptors() async throws {
    try router.answering("app://login", "app://cart", "app://orders")
    let log = Log()
    router.calls.intercept("login", priority: 1) { call in
      await log.add("login")
      let isOpen = call.url?.host == "login" || call.url?.host == "cart"
      return isOpen ? .proceed : .redirect(to: .url("app://login"))
    }
    router.calls.intercept("count", priority: 2) { _ in
      await log.add("count")
      return .proceed
    }
    #expect(await router.answer("app://orders") == "app://login")
    #expect(await router.answer("app://cart") == "app://cart")
    #expect(await log.lines == ["count", "login", "count", "login", "count", "login"])
  }

  /// There, canOpenURL runs the interceptors and the failure handler.
  @Test("canOpen calls nobody; a failure handler is told of each failure once")
  func openFailed() async throws {
    let failures = Lock<[String]>([])
    router.calls.observe { notice in
      if case .ended(let call, _?) = notice {
        failures.withLock { $0.append("\(call.destination)") }
      }
    }
    let interceptor = router.calls.intercept("guard") { _ in
      Issue.record("asked")
      return .proceed
    }
    #expect(!router.canOpen("app://none") && failures.withLock { $0.isEmpty })
    interceptor.cancel()
    #expect(await router.failure("app://none") == .noRoute)
    #expect(failures.withLock { $0 } == ["app://none"])
  }
}
