import BeeHive
import TestSupport
import Testing
import Threads

@testable import BeeHiveRouting

@Suite("A rule may name a route, and judges the calls that the route answers")
struct RouteRulesTests {
  private let router = Router()

  init() throws {
    try router.answering("app://book/new", "/page/:name", "app://old")
    for pattern in ["app://book/:id?from", "app://item/:id<Int>?page<Int>=1"] {
      try router.register(pattern, exposure: .remote) { describe($0) }
    }
    try router.register("app://item/:name", exposure: .remote) { describe($0) }
    try router.register(aliases: ["seven": "app://book/7"])
  }

  /// Loads a rule for the calls of a route.
  @discardableResult
  private func load(_ route: String, do outcome: String = #"{"block": "closed"}"#) throws -> Handle
  {
    try router.calls.load(table(rule("r", #"{"route": "\#(route)"}"#, do: outcome)))
  }

  @Test(
    "It judges every spelling of a URL that leads to the route, and no other route",
    arguments: [
      ("app://book/:id", ["app://book/7", "APP://book/%37?from=x", "seven"], ["app://book/new"]),
      // The keys of the query are not part of a route's name.
      ("app://book/:id?from", ["app://book/7"], ["app://book/new", "/page/book"]),
      ("/page/:name", ["/page/x", "app://page/x", "other://page/x"], ["app://item/x"]),
      // If several routes match, the one whose parameters fit counts.
      ("app://item/:name", ["app://item/x", "app://item/7?page=x"], ["app://item/7"]),
      ("app://item/:id<Int>", ["app://item/7"], ["app://item/x"]),
    ])
  func identity(_ route: String, _ refused: [String], _ answered: [String]) async throws {
    let handle = try load(route)
    for url in refused { #expect(await router.failure(url) == .refused, "\(url)") }
    for url in answered { #expect(await router.answer(url) != nil, "\(url)") }
    handle.cancel()
    for url in refused + answered { #expect(await router.answer(url) != nil, "\(url)") }
  }

  @Test("A route that is closed to outsiders is not the one that a call from outside comes to")
  func origin() async throws {
    try load("app://book/new")
    #expect(await router.failure("app://book/new") == .refused)
    #expect(await router.answer("app://book/new", origin: .remote) == "app://book/:id?from id=new")
    router.calls.intercept("see") { [router] in .answer(router.route(for: $0)?.pattern.text ?? "") }
    #expect(await router.answer("app://book/new", origin: .remote) == "app://book/:id?from")
    #expect(await router.answer("app://nothing") == "")
  }

  @Test("A redirection is filled in with what the route's pattern takes")
  func redirection() async throws {
    try load("app://book/:id", do: #"{"redirect": "app://item/:id?page=2"}"#)
    #expect(await router.answer("seven") == "app://item/:id<Int>?page<Int>=1 id=7 page=2")
    expectError(.badTable, saying: "place :number") {
      try load("app://book/:id", do: #"{"redirect": "app://item/:number"}"#)
    }
  }

  @Test("A handler is given what the rule of its route gives")
  func replaced() async throws {
    try load("app://book/:id", do: #"{"replace": {"from": "mail"}}"#)
    #expect(await router.answer("seven") == "app://book/:id?from from=mail id=7")
  }

  @Test("A rule for a route or URL that nothing has is a warning with a near name")
  func warnings() throws {
    let near = "did you mean app://book/:id?"
    try router.mediator.register("shop") { ShopTarget() }
    for (match, warnings) in [
      (#"{"route": "app://book/:id"}"#, []),
      (#"{"route": "app://bok/:id"}"#, ["r: no route has the pattern app://bok/:id; \(near)"]),
      (
        #"{"route": "app://item/:id"}"#,
        ["r: no route has the pattern app://item/:id; did you mean app://item/:id<Int>?"]
      ),
      (#"{"route": "mail://inbox"}"#, ["r: no route has the pattern mail://inbox"]),
      (#"{"url": "app://bok/:id"}"#, ["r: no route has the pattern app://bok/:id; \(near)"]),
      // Rules for URLs without a route are allowed; the other URLs lead to a route, an action or an alias.
      (#"{"url": "mail://inbox"}"#, []), (#"{"url": "app://book/:no"}"#, []),
      (#"{"url": "app://page/:nam"}"#, []), (#"{"url": "app://shop/nothing"}"#, []),
      (#"{"url": "seven"}"#, []),
    ] as [(String, [String])] {
      let handle = try router.calls.load(table(rule("r", match, do: #"{"block": "x"}"#)))
      #expect(router.calls.warnings == warnings, "\(match)")
      handle.cancel()
      #expect(router.calls.warnings == [])
    }
    try load("app://bok/:id")
    try router.answering("app://bok/:id")
    #expect(router.calls.warnings == [], "they are as of now")
  }

  @Test("A call looks for its routes once, however many ask for them")
  func looks() async throws {
    let (hive, looks) = (Hive(), Counter())
    // Plugins may be loaded on demand.
    hive.supplier.withLock { $0 = { _ in false } }
    try hive.router.define("Counted") { text in
      looks.next()
      return Int(text)
    }
    try hive.router.register("app://shop/:id<Counted>") { "\(try $0["id"] as Int)" }
    // The URL may name an action of this target.
    try hive.mediator.register("shop") { ShopTarget() }
    for match in [try .url("app://shop/:name"), CallMatch.everything()] {
      try hive.calls.guardCalls("g", match, then: .proceed)
      let before = looks.count
      #expect(await hive.router.answer("app://shop/7") == "7")
      #expect(looks.count - before == 1)
    }
  }

  @Test(
    "Conditions test the values that the receiver is given, its defaults too, whatever the rule matches",
    arguments: [
      (#"{}"#, #"{"parameter": "id", "is": "7"}"#, ["app://item/7", "app://item/07"]),
      (#"{"origin": "local"}"#, #"{"parameter": "id", "given": true}"#, ["app://item/7"]),
      (#"{"url": "app://*all"}"#, #"{"parameter": "page", "is": "7"}"#, ["app://item/1?page=07"]),
      (#"{}"#, #"{"parameter": "page", "is": 1}"#, ["app://item/7", "app://item/7?page=1"]),
      (
        #"{"target": "shop", "action": "price"}"#, #"{"parameter": "currency", "is": "euro"}"#,
        ["app://shop/price?sku=a", "app://shop/price?sku=a&currency=euro"]
      ),
    ])
  func received(_ match: String, _ condition: String, _ urls: [String]) async throws {
    try router.mediator.register("shop") { ShopTarget() }
    for url in urls { #expect(await router.failure(url) == nil, "\(url)") }
    try router.calls.load(table(rule("r", match, when: condition, do: #"{"block": "closed"}"#)))
    for url in urls { #expect(await router.failure(url) == .refused, "\(url)") }
    #expect(await router.failure("app://book/new") == nil)
  }

  @Test("Rules judge a call by the next route too, once the handler of one has refused")
  func refusals() async throws {
    let (router, asked) = (Router(), Counter())
    for pattern in ["app://shop/:number<Int>", "app://shop/:name", "app://*all"] {
      try router.register(pattern) { call -> String in
        if (try? call["from"] as String) == "nobody" || pattern != "app://shop/:name" {
          throw call.refusal("not here")
        }
        return describe(call)
      }
    }
    router.calls.intercept("count") { _ in
      asked.next()
      return .proceed
    }
    let url = "app://shop/7"
    #expect(await router.answer(url) == "app://shop/:name name=7")
    #expect(asked.count == 1, "an interceptor sees the same call")
    await expectError(
      .refused,
      saying: "app://shop/:number<Int>: not here; app://shop/:name: not here; app://*all: "
    ) { try await router.open(url + "?from=nobody") }
    for (match, condition, outcome, answer) in [
      (#"{"route": "app://shop/:name"}"#, "", #"{"block": "x"}"#, nil),
      (#"{"route": "app://shop/:name"}"#, "", #"{"redirect": "app://shop/x"}"#, "name=x"),
      (#"{}"#, #"{"parameter": "name", "is": "7"}"#, #"{"answer": "y"}"#, "y"),
      (#"{}"#, #"{"parameter": "number", "is": "7"}"#, #"{"answer": "z"}"#, "z"),
      (#"{}"#, #"{"parameter": "other", "given": true}"#, #"{"block": "x"}"#, "name=7"),
    ] as [(String, String, String, String?)] {
      let handle = try router.calls.load(table(rule("r", match, when: condition, do: outcome)))
      let answered = await router.answer(url)
      #expect(answered?.split(separator: " ").last.map(String.init) == answer, "\(match)")
      handle.cancel()
    }
  }

  @Test("Rules judge a call by the routes that an interceptor brings")
  func brought() async throws {
    let asked = Counter()
    router.calls.intercept("bring") { [router] _ in
      if asked.next() == 1 { try router.answering("*://late/:name") }
      return .proceed
    }
    try router.calls.load(
      table(rule("r", #"{"url": "app://late/x"}"#, do: #"{"block": "closed"}"#)))
    #expect(await router.failure("other://late/x") == .refused)
    #expect(await router.answer("other://late/y") == "*://late/:name name=y")
    #expect(asked.count == 2, "it has one turn in a call")
  }
}
