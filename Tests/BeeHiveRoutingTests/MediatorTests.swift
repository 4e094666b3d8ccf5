import BeeHiveRouting
import Testing

enum Currency: String, URLConvertible { case euro, yen }

struct Price: Hashable, Sendable {
  var cents: Int
  var currency: Currency
}

struct Broken: Error {}

/// A target that is written by hand.
final class ShopTarget: Target {
  static let actions: [Action<ShopTarget>] = [
    Action(
      "price",
      [
        Parameter("sku", String.self), Parameter("currency", default: Currency.euro),
        Parameter("count", Int?.self),
      ], exposure: .remote
    ) { shop, arguments in
      try await shop.price(
        sku: arguments["sku"], currency: arguments["currency"], count: arguments["count"])
    },
    Action("buy", [Parameter("done", (@Sendable (Int) -> Void).self)]) { _, arguments in
      let done: @Sendable (Int) -> Void = try arguments["done"]
      done(7)
    },
    Action("nothing") { _, _ -> Price? in nil },
    Action("broken", exposure: .remote) { _, _ -> Int in throw Broken() },
    Action("url", exposure: .remote) { _, _ in Call.current?.originalURL?.text ?? "none" },
    Action("identity") { shop, _ in shop },
  ]

  func price(sku: String, currency: Currency, count: Int?) async throws -> Price {
    await Task.yield()
    guard sku != "none" else { throw Broken() }
    return Price(cents: sku.utf8.count * 100 * (count ?? 1), currency: currency)
  }
}

/// A target whose fallback answers calls of actions that it does not have.
struct GuestTarget: Target {
  static let actions: [Action<GuestTarget>] = []
  static let fallback: (@Sendable (GuestTarget, Call) async throws -> any Sendable)? = {
    _, call in "guest instead of \(call.destination)"
  }
}

@Suite("A mediator calls actions by name")
struct MediatorTests {
  let router = Router()
  var mediator: Mediator { router.mediator }

  init() throws { try mediator.register("shop") { ShopTarget() } }

  private func code(
    _ action: String, _ arguments: Arguments = [:], target: String = "shop"
  ) async -> RoutingError.Code? {
    do {
      try await mediator.perform(target, action, arguments)
      return nil
    } catch {
      return (error as? RoutingError)?.code
    }
  }

  @Test("Values in, a value out: typed, async, with defaults and optionals")
  func values() async throws {
    let price: Price = try await mediator.perform("shop", "price", ["sku": "a1"])
    #expect(price == Price(cents: 200, currency: .euro))
    let yen: Price = try await mediator.perform(
      "shop", "price", ["sku": "abc", "currency": Currency.yen, "count": 2])
    #expect(yen == Price(cents: 600, currency: .yen))
  }

  @Test("Closures and objects pass as they are")
  func closures() async throws {
    let (got, given) = AsyncStream.makeStream(of: Int.self)
    let done: @Sendable (Int) -> Void = { given.yield($0) }
    try await mediator.perform("shop", "buy", ["done": done])
    #expect(await got.first { _ in true } == 7)
  }

  @Test(
    "A missing, a wrong and an undeclared parameter: the key, the expected and the given type",
    arguments: [
      (Arguments(), RoutingError.Code.missingParameter, "sku", ["String"]),
      (["sku": 7] as Arguments, .wrongParameter, "sku", ["String", "Int"]),
      (
        ["sku": "a", "currency": "dollar"] as Arguments, .wrongParameter, "currency",
        ["Currency", "\"dollar\""]
      ),
      (["sku": "a", "count": "2.5"] as Arguments, .wrongParameter, "count", ["Int", "\"2.5\""]),
      (["sku": "a", "count": 2.5] as Arguments, .wrongParameter, "count", ["Int", "Double"]),
      (["sku": "a", "skew": 1] as Arguments, .undeclaredParameter, "skew", ["price(sku: String"]),
    ])
  func parameters(
    _ arguments: Arguments, _ code: RoutingError.Code, _ key: String, _ words: [String]
  ) async {
    let error = await #expect(throws: RoutingError.self) {
      try await mediator.perform("shop", "price", arguments)
    }
    #expect(error?.code == code)
    #expect(error?.key == key)
    for word in words + [key] { #expect(error?.message.contains(word) == true) }
  }

  @Test("A missing target, a missing action, a wrong result and an error of the action all differ")
  func errors() async throws {
    #expect(await code("price", target: "shopp") == .noTarget)
    #expect(await code("prize") == .noAction)
    await expectError(.wrongResult, saying: "Price", "String") {
      let _: String = try await mediator.perform("shop", "price", ["sku": "a"])
    }
    await #expect(throws: Broken.self) { try await mediator.perform("shop", "broken") }
    #expect(await code("", target: "") == .noTarget)
    #expect(await code("") == .noAction)
  }

  @Test("No value is a result, and no miss")
  func nilResult() async throws {
    let price: Price? = try await mediator.perform("shop", "nothing")
    #expect(price == nil)
    #expect(try await mediator.perform("shop", "buy", ["done": { @Sendable (_: Int) in }]) is Void)
  }

  @Test("One instance for all calls; another without caching, and after a release")
  func instances() async throws {
    let first: ShopTarget = try await mediator.perform("shop", "identity")
    #expect(await code("none") == .noAction)
    let second: ShopTarget = try await mediator.perform("shop", "identity")
    #expect(second === first)
    let fresh: ShopTarget = try await mediator.perform("shop", "identity", caching: false)
    #expect(fresh !== first)
    #expect(mediator.release("shop"))
    #expect(!mediator.release("shop"))
    let next: ShopTarget = try await mediator.perform("shop", "identity")
    #expect(next !== first)
  }

  @Test("Nothing is made for a call that cannot be answered")
  func lazily() async throws {
    try mediator.register("lonely") { () -> ShopTarget in
      Issue.record("made")
      return ShopTarget()
    }
    #expect(mediator.declarations["lonely"]?.map(\.name).contains("nothing") == true)
    #expect(router.canOpen("app://lonely/nothing"))
    #expect(!router.canOpen("app://lonely/none"))
    for action in ["none", "price"] {
      await #expect(throws: RoutingError.self) { try await mediator.perform("lonely", action) }
    }
  }

  @Test("Fallbacks: the target's own, then the host's for it, then the one for all")
  func fallbacks() async throws {
    try mediator.register("guest") { GuestTarget() }
    mediator.fallback { "all: \($0.destination)" }
    mediator.fallback(for: "shop") { "shop: \($0.destination)" }
    for (target, action, answer) in [
      ("guest", "x", "guest instead of guest.x"), ("shop", "x", "shop: shop.x"),
      ("nobody", "x", "all: nobody.x"),
    ] {
      let text: String = try await mediator.perform(target, action)
      #expect(text == answer)
    }
    await expectError(.noTarget) {
      try await router.calls.send(.action(target: "nobody", action: "x"), origin: .remote)
    }
  }

  @Test("A name can be taken once, and deregistered")
  func names() async throws {
    expectError(.duplicate) { try mediator.register("shop") { ShopTarget() } }
    #expect(mediator.deregister("shop") && !mediator.deregister("shop"))
    #expect(await code("nothing") == .noTarget)
  }

  @Test("What is offered is listed, and its text reads back")
  func declarations() throws {
    let actions = mediator.declarations["shop"] ?? []
    #expect(
      actions.map(\.description) == [
        "remote broken() async throws -> Int",
        "buy(done: @Sendable (Int) -> ()) async throws",
        "identity() async throws -> ShopTarget",
        "nothing() async throws -> Optional<Price>",
        "remote price(sku: String, currency: Currency = euro, count: Int?) async throws -> Price",
        "remote url() async throws -> String",
      ])
    for action in actions {
      #expect(try ActionDeclaration(parsing: action.description) == action)
    }
  }

  @Test func `A type of a module that is named Optional is not optional`() {
    enum Shelf { struct Optional<Content>: Sendable {} }
    #expect(Parameter("a", Shelf.Optional<Int>.self).declaration.description == "a: Optional<Int>")
    #expect(Parameter("a", Int?.self).declaration.description == "a: Int?")
  }

  @Test("What is no declaration is refused with the place and what is there")
  func badDeclarations() {
    for text in [
      "", "price", "price(", "price(sku)", "price(sku:)", "price(sku: String", "price() ->",
      "price() x", "remote", "(a: Int)", "a Int", "f(a Int)",
    ] { expectError(.badPattern, saying: "byte") { try ActionDeclaration(parsing: text) } }
    for (text, reason) in [
      ("remote elevated x()", #"at byte 16: ( is missing; there is "x()" in its place"#),
      ("price(a: Int; b: Int", "at byte 20: ) is missing"), ("price(a: Int, a: Int)", "same name"),
    ] { expectError(.badPattern, saying: reason) { try ActionDeclaration(parsing: text) } }
  }
}
