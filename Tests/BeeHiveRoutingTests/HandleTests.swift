import BeeHiveRouting
import Testing

/// A kind of registration with a router: how to add one, and how to see which one is there.
private struct Given: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// Adds a registration with a number.
  var give: @Sendable (Router, Int) throws -> Handle
  /// The number of the registration that is there; nil if there is none.
  var present: @Sendable (Router) async -> Int?
  /// Whether a second registration replaces the first. Otherwise the router refuses it.
  var replaces = true

  static let all = [
    Given(testDescription: "unmatched") { router, number in
      router.unmatched { _ in number }
    } present: { router in
      try? await router.object(for: "app://none")
    },
    Given(testDescription: "fallback") { router, number in
      router.mediator.fallback { _ in number }
    } present: { router in
      try? await router.mediator.perform("none", "none")
    },
    Given(testDescription: "fallback of a target") { router, number in
      router.mediator.fallback(for: "none") { _ in number }
    } present: { router in
      try? await router.mediator.perform("none", "none")
    },
    Given(testDescription: "table") { router, number in
      try router.calls.load(table(name: "\(number)"))
    } present: { router in
      router.calls.table.flatMap { Int($0.name) }
    },
    Given(testDescription: "guard") { router, number in
      router.calls.define(guard: "open") { _ in number == 1 }
    } present: { router in
      let answer = rule("r", "{}", when: #"{"guard": "open"}"#, do: #"{"answer": null}"#)
      guard let loaded = try? router.calls.load(table(answer)) else { return nil }
      defer { loaded.cancel() }
      return router.canOpen("app://x") ? 1 : 2
    },
    Given(
      testDescription: "type",
      give: { router, number in try router.define("Moon") { _ in number } },
      present: { router in
        guard let route = try? router.register("app://m/:m<Moon>", { try $0["m"] as Int }) else {
          return nil
        }
        defer { route.cancel() }
        return try? await router.object(for: "app://m/x")
      }, replaces: false),
    Given(
      testDescription: "target",
      give: { router, number in
        try router.mediator.register("t") { Numbered(number: number) }
      }, present: { router in try? await router.mediator.perform("t", "number") }, replaces: false),
    Given(
      testDescription: "aliases",
      give: { router, number in try router.register(aliases: ["n": "app://\(number)"]) },
      present: { router in router.aliases["n"].flatMap { Int($0.dropFirst(6)) } },
      replaces: false),
  ]

  private struct Numbered: Target {
    static let actions = [Action<Numbered>("number") { target, _ in target.number }]
    let number: Int
  }
}

@Suite("What is given to a router is taken back by the handle that it returns")
struct HandleTests {
  @Test(
    "Once and twice; and the handle of one that is gone leaves its successor", arguments: Given.all)
  private func cancelled(_ given: Given) async throws {
    let router = Router()
    let first = try given.give(router, 1)
    #expect(await given.present(router) == 1)
    first.cancel()
    #expect(await given.present(router) == nil)
    first.cancel()
    let second = try given.give(router, 2)
    first.cancel()
    #expect(await given.present(router) == 2)
    second.cancel()
    #expect(await given.present(router) == nil)
  }

  @Test("Replaced: the first one's handle does nothing, and the second's does not bring it back")
  func replaced() async throws {
    for given in Given.all {
      let router = Router()
      let first = try given.give(router, 1)
      guard given.replaces else {
        #expect(throws: RoutingError.self, "\(given)") { try given.give(router, 2) }
        continue
      }
      let second = try given.give(router, 2)
      first.cancel()
      #expect(await given.present(router) == 2, "\(given)")
      second.cancel()
      #expect(await given.present(router) == nil, "\(given)")
    }
  }
}
