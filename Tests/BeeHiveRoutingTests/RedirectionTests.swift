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

  @Test("Values of the path go along as query, below what the new URL has itself")
  func carried()
    async throws
  {
    try load(
      rule(#"{"url": "app://detail/:id"}"#, #"{"redirect": "app://old/detail"}"#),
      rule(#"{"url": "app://own/:id"}"#, #"{"redirect": "app://old/detail?id=9"}"#, "s"))
    #expect(await router.answer("app://detail/7?from=mail") == "app://old/detail from=mail id=7")
    #expect(await router.answer("app://detail/7?id=8") == "app://old/detail id=7")
    #expect(await router.answer("app://own/7") == "app://old/detail id=9")
  }

  @Test func `A place in the target is filled in, encoded`() async throws {
    try load(
      rule(#"{"url": "app://detail/:id"}"#, #"{"redirect": "app://page/:id"}"#),
      rule(#"{"url": "app://tab/:id"}"#, #"{"redirect": "app://old/detail?tab=:id#top"}"#, "s"),
      rule(#"{"url": "app://at/:id"}"#, #"{"redirect": "app://old/detail?at=%3Aid&k=a=:ids"}"#, "t")
    )
    #expect(await router.answer("app://detail/a%2Fb%3Fc") == "app://page/:id id=a/b?c")
    #expect(await router.answer("app://detail/7?k=v%26w") == "app://page/:id id=7 k=v&w")
    #expect(await router.answer("app://tab/a%26b") == "app://old/detail tab=a&b")
    #expect(await router.answer("app://at/7") == "app://old/detail at=:id id=7 k=a=:ids")
  }

  @Test func `Values of the path and of the query are an action's arguments`() async throws {
    try load(
      rule(#"{"url": "app://cost/:sku"}"#, #"{"redirect": {"target": "shop", "action": "price"}}"#))
    let price = try await router.object(for: "app://cost/abc?currency=yen", as: Price.self)
    #expect(price == Price(cents: 300, currency: .yen))
  }

  @Test("A place that the match does not have is an error when the table is loaded")
  func unknownPlaces() {
    for (url, place) in [
      ("app://detail/:id", ":other"), ("app://detail(/:id)", ":id"), ("app://detail", ":id"),
    ] {
      expectError(.badTable, saying: "the place \(place)") {
        try load(rule(#"{"url": "\#(url)"}"#, #"{"redirect": "app://page/\#(place)"}"#))
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
    try load(rule(#"{"url": "app://x/1"}"#, #"{"replace": {"id": "abc"}}"#))
    #expect(await router.failure("app://x/1") == .wrongParameter)
    try load(rule(#"{"url": "app://x/1"}"#, #"{"replace": {"id": null}}"#))
    #expect(await router.failure("app://x/1") == .missingParameter)
  }

  @Test("What null takes away does not go along, and may be given anew")
  func takenAway() async throws {
    try load(
      rule(#"{"url": "app://from/:id"}"#, #"{"replace": {"k": null, "id": null}}"#, "a"),
      rule(#"{"url": "app://from/:id"}"#, #"{"redirect": "app://n/1?k=2"}"#, "b"))
    #expect(await router.answer("app://from/7?k=1&l=3") == "app://n/:id?k id=1 k=2 l=3")
  }

  @Test func `What a star took has no name to go along by`() async throws {
    try router.register("app://rest") { describe($0) }
    try load(rule(#"{"url": "app://old2/*"}"#, #"{"redirect": "app://rest"}"#))
    #expect(await router.answer("app://old2/a/b?k=1") == "app://rest k=1")
  }

  @Test("What is left of the path goes where the target has a place for it")
  func rest() async throws {
    try router.answering("app://moved/*tail")
    try load(
      rule(#"{"url": "app://old3/*all"}"#, #"{"redirect": "app://moved/to/*all"}"#),
      rule(#"{"url": "app://old4/*"}"#, #"{"redirect": "app://moved/*"}"#, "star"),
      rule(#"{"url": "app://old5/:p<Path>"}"#, #"{"redirect": "app://moved/:p<Path>"}"#, "path"),
      rule(#"{"url": "app://old6/:p<Path>"}"#, #"{"redirect": "app://moved/:p"}"#, "segment"),
      rule(#"{"url": "app://old7/:p"}"#, #"{"redirect": "app://moved/%2A/:p"}"#, "literal"))
    for (url, answer) in [
      ("app://old3/a/b%2Fc?k=1", "app://moved/*tail k=1 tail=[\"to\", \"a\", \"b/c\"]"),
      ("app://old3", "app://moved/*tail tail=[\"to\"]"),
      ("app://old4/a/b", "app://moved/*tail tail=[\"a\", \"b\"]"),
      ("app://old4", "app://moved/*tail tail=[]"),
      ("app://old5/a/b", "app://moved/*tail tail=[\"a\", \"b\"]"),
      ("app://old6/a/b", "app://moved/*tail tail=[\"a/b\"]"),
      ("app://old7/a", "app://moved/*tail tail=[\"*\", \"a\"]"),
    ] {
      let given = await router.answer(url)
      #expect(given == answer, "\(url)")
    }
    expectError(saying: "the place *rest") {
      try load(rule(#"{"url": "app://detail/:id"}"#, #"{"redirect": "app://page/*rest"}"#))
    }
  }

  @Test("A place where nothing is filled in is an error, and one that is misspelled is asked for")
  func misplaced() {
    for (target, reason) in [
      ("app://page/7#:id", "a fragment"), ("app://page/7?q=pre-:id", "the value of a key"),
      ("app://page/:idd", "did you mean id?"),
    ] {
      expectError(saying: reason) {
        try load(rule(#"{"url": "app://detail/:id"}"#, #"{"redirect": "\#(target)"}"#))
      }
    }
  }

  @Test("A place may be the host")
  func host() async throws {
    try load(rule(#"{"url": "x://:section/:id"}"#, #"{"redirect": "app://:section/:id"}"#))
    #expect(await router.answer("x://page/7") == "app://page/:id id=7")
  }

  @Test("Parentheses of a target stand for themselves")
  func parentheses() async throws {
    try router.answering("app://wiki/:page/:id")
    try load(rule(#"{"url": "app://w/:id"}"#, #"{"redirect": "app://wiki/Foo_(bar)/:id"}"#))
    #expect(await router.answer("app://w/7") == "app://wiki/:page/:id id=7 page=Foo_(bar)")
  }

  @Test("A fragment goes along where the new URL has none")
  func fragments() async throws {
    try router.register("app://frag") { "\($0.url)" }
    try load(
      rule(#"{"url": "app://from"}"#, #"{"redirect": "app://frag"}"#),
      rule(#"{"url": "app://other"}"#, #"{"redirect": "app://frag#own"}"#, "s"))
    #expect(await router.answer("app://from?q=1#sec") == "app://frag?q=1#sec")
    #expect(await router.answer("app://other#sec") == "app://frag#own")
  }

  @Test("A rule that feeds itself is a loop, told in a few words")
  func growing() async throws {
    try load(rule(#"{"url": "/docs/*rest"}"#, #"{"redirect": "/docs/latest/*rest"}"#))
    let url = "/docs/" + String(repeating: "x", count: 8_000)
    let error = await #expect(throws: RoutingError.self) { try await router.open(url) }
    #expect(error?.code == .redirectLoop)
    #expect((error?.message.utf8.count ?? 0) < 1_500, "\(error?.message ?? "")")
  }

  @Test func `A place may have text around it`() async throws {
    try load(rule(#"{"url": "app://v/:id"}"#, #"{"redirect": "app://page/v:id"}"#))
    #expect(await router.answer("app://v/7") == "app://page/:id id=v7")
    #expect(throws: RoutingError.self) {
      try load(rule(#"{"url": "app://v/:id"}"#, #"{"redirect": "app://page/v:nosuch"}"#))
    }
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

  @Test func `A rule that would look at a query is refused`() {
    expectError(saying: "does not look at the query") {
      try load(rule(#"{"url": "app://new?beta=1"}"#, #"{"block": "x"}"#))
    }
  }

  @Test func `The query goes along to a URL with a fragment`() async throws {
    try router.register("app://frag") { "\($0.url)" }
    try load(rule(#"{"url": "app://from"}"#, #"{"redirect": "app://frag#part"}"#))
    #expect(await router.answer("app://from?q=1") == "app://frag?q=1#part")
  }

  @Test func `A redirected call from outside brings no key that the route does not declare`()
    async throws
  {
    try router.register("app://narrow?id", exposure: .remote) { describe($0) }
    try load(
      rule(#"{"url": "app://wide/:id/:admin"}"#, #"{"redirect": "app://narrow"}"#),
      rule(#"{"target": "shop", "action": "url"}"#, #"{"redirect": "app://narrow"}"#, "by name"))
    #expect(
      await router.answer("app://wide/7/1?root=1", origin: .remote) == "app://narrow?id id=7")
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

  @Test func `Each condition of the documentation's second example decides as it reads`()
    async throws
  {
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
    let users = (0..<200).map { "user\($0)" }
    var fresh = 0
    for user in users {
      let answer = await router.answer("app://search?user=\(user)")
      if answer == "app://search engine=new user=\(user)" { fresh += 1 }
    }
    #expect((5..<40).contains(fresh), "\(fresh) of 200, not about 20")
  }
}
