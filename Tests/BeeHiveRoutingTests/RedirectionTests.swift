import Foundation
import TestSupport
import Testing
import Threads

@testable import BeeHiveRouting

@Suite("A redirection carries what was matched")
struct RedirectionTests {
  let router = Router()

  init() throws {
    try router.mediator.register("shop") { ShopTarget() }
    try router.answering(
      "app://new/:id<Int>", "app://old/detail", "app://page/:id", "app://x/:id<Int>",
      "app://n/:id?k")
  }

  private func load(_ rules: String...) throws {
    try router.calls.load(table(of: rules))
  }

  private func rule(_ match: String, _ outcome: String, _ name: String = "r") -> String {
    BeeHiveRoutingTests.rule(name, match, do: outcome)
  }

  @Test("Values of the path fill in the places of the target, and the others go along as query")
  func carried() async throws {
    try router.answering("app://moved/*tail", "app://rest", "app://wiki/:page/:id")
    try router.register("app://frag") { "\($0.url)" }
    for (pattern, target, url, answer) in [
      // Values that the new URL has itself win.
      ("x://:id", "app://old/detail", "x://7?from=mail", "app://old/detail from=mail id=7"),
      ("x://:id", "app://old/detail", "x://7?id=8", "app://old/detail id=7"),
      ("x://:id", "app://old/detail?id=9", "x://7", "app://old/detail id=9"),
      // Values are encoded.
      ("x://a/:id", "app://page/:id", "x://a/a%2Fb%3Fc", "app://page/:id id=a/b?c"),
      ("x://a/:id", "app://page/:id", "x://a/7?k=v%26w", "app://page/:id id=7 k=v&w"),
      ("x://a/:id", "app://old/detail?tab=:id#top", "x://a/a%26b", "app://old/detail tab=a&b"),
      (
        "x://:id", "app://old/detail?at=%3Aid&k=a=:ids", "x://7",
        "app://old/detail at=:id id=7 k=a=:ids"
      ),
      // The host is a place, and a place may have text around it.
      ("x://:section/:id", "app://:section/:id", "x://page/7", "app://page/:id id=7"),
      ("x://:id", "app://page/v:id", "x://7", "app://page/:id id=v7"),
      // Parentheses stand for themselves.
      ("x://:id", "app://wiki/(b)/:id", "x://7", "app://wiki/:page/:id id=7 page=(b)"),
      // The segments of a star have no name. They go along only if the target has a place for them.
      ("x://a/*", "app://rest", "x://a/b?k=1", "app://rest k=1"),
      (
        "x://a/*all", "app://moved/to/*all", "x://a/b/c%2Fd?k=1",
        #"app://moved/*tail k=1 tail=["to", "b", "c/d"]"#
      ),
      ("x://a/*all", "app://moved/to/*all", "x://a", #"app://moved/*tail tail=["to"]"#),
      ("x://a/*", "app://moved/*", "x://a/b/c", #"app://moved/*tail tail=["b", "c"]"#),
      ("x://a/*", "app://moved/*", "x://a", "app://moved/*tail tail=[]"),
      (
        "x://a/:p<Path>", "app://moved/:p<Path>", "x://a/b/c",
        #"app://moved/*tail tail=["b", "c"]"#
      ),
      ("x://a/:p<Path>", "app://moved/:p", "x://a/b/c", #"app://moved/*tail tail=["b/c"]"#),
      ("x://a/:p", "app://moved/%2A/:p", "x://a/b", #"app://moved/*tail tail=["*", "b"]"#),
      // A fragment goes along if the new URL has none.
      ("x://a", "app://frag", "x://a?q=1#sec", "app://frag?q=1#sec"),
      ("x://a", "app://frag#own", "x://a#sec", "app://frag#own"),
      ("x://a", "app://frag#part", "x://a?q=1", "app://frag?q=1#part"),
    ] {
      try load(rule(#"{"url": "\#(pattern)"}"#, #"{"redirect": "\#(target)"}"#))
      let given = await router.answer(url)
      #expect(given == answer, "\(pattern) to \(target)")
    }
  }

  @Test func `Values of the path and of the query are an action's arguments`() async throws {
    try load(
      rule(#"{"url": "app://cost/:sku"}"#, #"{"redirect": {"target": "shop", "action": "price"}}"#))
    let price = try await router.object(for: "app://cost/abc?currency=yen", as: Price.self)
    #expect(price == Price(cents: 300, currency: .yen))
  }

  @Test("A place that the match does not have, or that is not filled in, is an error of the table")
  func unknownPlaces() {
    for (url, target, reason) in [
      ("app://detail/:id", "app://page/:other", "the place :other"),
      ("app://detail(/:id)", "app://page/:id", "the place :id"),
      ("app://detail", "app://page/:id", "the place :id"),
      ("app://detail/:id", "app://page/*rest", "the place *rest"),
      ("app://detail/:id", "app://page/v:nosuch", "the place :nosuch"),
      ("app://detail/:id", "app://page/:idd", "did you mean id?"),
      ("app://detail/:id", "app://page/7#:id", "a fragment"),
      ("app://detail/:id", "app://page/7?q=pre-:id", "the value of a key"),
      ("app://new?beta=1", "app://page/7", "does not look at the query"),
    ] {
      expectError(.badTable, saying: reason) {
        try load(rule(#"{"url": "\#(url)"}"#, #"{"redirect": "\#(target)"}"#))
      }
    }
    expectError(key: "sku") {
      try router.calls.guardCalls(
        "g", .action("shop", "price"), then: .redirect(to: .url("app://page/:sku")))
    }
  }

  @Test func `A replacement counts for values of the path too, and for their types`() async throws {
    try load(rule(#"{"url": "app://x/1"}"#, #"{"replace": {"id": 2}}"#))
    #expect(await router.answer("app://x/1") == "app://x/:id<Int> id=2")
    for (value, code) in [
      (#""abc""#, RoutingError.Code.wrongParameter), ("null", .missingParameter),
    ] {
      try load(rule(#"{"url": "app://x/1"}"#, #"{"replace": {"id": \#(value)}}"#))
      #expect(await router.failure("app://x/1") == code)
    }
  }

  @Test("What null takes away does not go along, and may be given anew")
  func takenAway() async throws {
    try load(
      rule(#"{"url": "app://from/:id"}"#, #"{"replace": {"k": null, "id": null}}"#, "a"),
      rule(#"{"url": "app://from/:id"}"#, #"{"redirect": "app://n/1?k=2"}"#, "b"))
    #expect(await router.answer("app://from/7?k=1&l=3") == "app://n/:id?k id=1 k=2 l=3")
  }

  @Test("A rule that feeds itself is a loop, told in a few words")
  func growing() async throws {
    try load(rule(#"{"url": "/docs/*rest"}"#, #"{"redirect": "/docs/latest/*rest"}"#))
    let url = "/docs/" + String(repeating: "x", count: 8_000)
    let error = await #expect(throws: RoutingError.self) { try await router.open(url) }
    #expect(error?.code == .redirectLoop)
    #expect((error?.message.utf8.count ?? 0) < 1_500, "\(error?.message ?? "")")
  }

  @Test func `What null takes away no handler of unmatched URLs gets`() async throws {
    router.unmatched { describe($0) }
    try load(rule(#"{"url": "app://none"}"#, #"{"replace": {"token": null}}"#))
    #expect(await router.answer("app://none?token=1&k=2") == "* k=2")
  }

  @Test func `Everything may be sent to one page, which it does not leave`() async throws {
    try load(rule("{}", #"{"redirect": "app://old/detail"}"#))
    #expect(await router.answer("app://page/7") == "app://old/detail")
    #expect(await router.answer("app://old/detail?k=1") == "app://old/detail k=1")
  }

  @Test func `Rules that end a way are no loop, and loops of one origin are found`() throws {
    try load(
      #"{"name": "end", "match": {"url": "app://b"}, "do": {"answer": 1}, "priority": 10}"#,
      rule(#"{"url": "app://a"}"#, #"{"redirect": "app://b"}"#, "there"),
      rule(#"{"url": "app://b"}"#, #"{"redirect": "app://a"}"#, "back"))
    expectError(saying: "redirects for ever") {
      try load(
        rule(#"{"url": "app://a", "origin": "remote"}"#, #"{"redirect": "app://b"}"#, "there"),
        rule(#"{"url": "app://b", "origin": "remote"}"#, #"{"redirect": "app://a"}"#, "back"))
    }
  }

  @Test("A redirected call from outside brings no key that the route does not declare")
  func declaredKeys() async throws {
    try router.register("app://narrow?id", exposure: .remote) { describe($0) }
    try load(
      rule(#"{"url": "app://wide/:id/:admin"}"#, #"{"redirect": "app://narrow"}"#),
      rule(#"{"target": "shop", "action": "url"}"#, #"{"redirect": "app://narrow"}"#, "by name"))
    #expect(await router.answer("app://wide/7/1?root=1", origin: .remote) == "app://narrow?id id=7")
    #expect(
      await router.answer("aaa://shop/url?id=8&root=1", origin: .remote) == "app://narrow?id id=8")
  }

  @Test func `The first example of the documentation works as it reads`() async throws {
    let json = try Document("Docs/decision-table.md").block("json", with: "november").text
    let router = Router()
    try router.answering("app://detail/:id", "app://old/detail")
    try router.mediator.register("shop") { ShopTarget() }
    let health = Health()
    router.calls.define(guard: "detail-is-healthy") { _ in health.isGood }
    try router.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
    #expect(await router.answer("app://detail/7") == "app://detail/:id id=7")
    health.isGood = false
    #expect(await router.answer("app://detail/7") == "app://old/detail id=7")
    let yen = "app://shop/price?sku=a&currency=yen"
    #expect(await router.failure(yen, origin: .remote) == .refused)
    #expect(await router.failure(yen) == nil)
  }

  @Test("Each condition of the documentation's second example decides as it reads")
  func secondExample() async throws {
    let json = try Document("Docs/decision-table.md").block("json", with: "advent").text
    let begin = try #require(secondsSince1970(at: "2026-12-01T00:00:00+01:00"))
    let now = Lock(begin)
    let router = Router(core: RoutingCore(now: { now.withLock { $0 } }))
    try router.answering("app://offer", "app://calendar/:day", "app://update", "app://search")
    try router.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
    let calendar = "app://calendar/:day country=de day=7"
    #expect(await router.answer("app://advent/7?country=de") == calendar)
    #expect(await router.failure("app://advent/7?country=us") == .noRoute)
    #expect(await router.failure("app://advent/25?country=de") == .noRoute)
    now.withLock { $0 = begin - 1 }
    #expect(await router.failure("app://advent/7?country=de") == .noRoute)
    #expect(await router.answer("app://offer?app=2.0.9") == "app://update app=2.0.9")
    #expect(await router.answer("app://offer?app=2.1") == "app://offer app=2.1")
    #expect(await router.answer("app://offer?app=1.0&beta=true") == "app://offer app=1.0 beta=true")
    let user = Lock("")
    router.calls.context { _ in ["user": user.withLock { $0 }] }
    var fresh = 0
    for number in 0..<200 {
      user.withLock { $0 = "user\(number)" }
      if await router.answer("app://search") == "app://search engine=new" { fresh += 1 }
    }
    #expect((5..<40).contains(fresh), "\(fresh) of 200, not about 20")
    #expect(
      router.calls.explain("app://button").steps[0].hasPrefix("table three buttons, variant "))
  }

  @Test(
    "Everything may be sent to one page, however its URL is written",
    arguments: ["app://item/1", "one", "app://shop/price?sku=z"])
  func onePage(_ page: String) async throws {
    let router = try Router().answering("app://item/:id", "app://other")
    try router.mediator.register("shop") { ShopTarget() }
    try router.register(aliases: ["one": "app://item/1"])
    try router.calls.load(table(rule("{}", #"{"redirect": "\#(page)"}"#)))
    for url in ["app://other", "app://item/1", "one", page] {
      #expect(await router.failure(url) == nil, "\(url)")
    }
    let steps = router.calls.explain(page).steps
    #expect(steps == ["table r: has no say: the call is there already"])
  }
}
