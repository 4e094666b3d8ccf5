import BeeHiveRouting
import Testing

@Suite("What a handler opens is opened for its caller")
struct NestedCallsTests {
  let router = Router()

  init() throws {
    try router.mediator.register("shop") { ShopTarget() }
    try router.register("app://new/secret") { _ in "the secret" }
    try router.register("app://open", exposure: .remote) { _ in "open" }
  }

  private static func secret(_ router: Router) async throws -> String {
    try await router.object(for: "app://new/secret", as: String.self, origin: .local)
  }

  /// Expects that a URL leads to the secret, but only for local calls.
  private func expectSecret(_ url: String) async {
    #expect(await router.failure(url, origin: .remote) == .notRemote)
    #expect(await router.answer(url) == "the secret")
  }

  @Test("A remote caller reaches no local route through a remote one, whatever that says")
  func remoteThroughRemote() async throws {
    try router.register("app://door", exposure: .remote) { _ in
      try await Self.secret(router)
    }
    await expectSecret("app://door")
  }

  @Test("An elevated route reaches what is local, and the catalogue shows it")
  func elevated() async throws {
    let hive = Hive()
    try hive.router.register("app://new/secret") { _ in "the secret" }
    try hive.router.register("app://door", exposure: .elevated) { _ in
      try await Self.secret(hive.router)
    }
    #expect(await hive.router.answer("app://door", origin: .remote) == "the secret")
    #expect("\(hive.catalogue())".contains("route  elevated app://door"))
  }

  private struct Clerk: Target {
    let router: Router
    static let actions: [Action<Clerk>] = [
      Action("url", exposure: .remote) { clerk, _ in
        try await NestedCallsTests.secret(clerk.router)
      },
      Action("name", exposure: .remote) { clerk, _ in
        try await clerk.router.mediator.perform("shop", "nothing")
        return Call.current?.origin == .local ? "the secret" : ""
      },
    ]
  }

  @Test(
    "An action's calls, by name too, come from where the action's call comes from",
    arguments: ["app://clerk/url", "app://clerk/name"])
  func actions(url: String) async throws {
    try router.mediator.register("clerk") { Clerk(router: router) }
    await expectSecret(url)
  }

  @Test func `An interceptor's calls for a remote caller are remote`() async throws {
    router.calls.intercept("spy", try .url("app://open")) { _ in
      .answer(try await Self.secret(router))
    }
    await expectSecret("app://open")
  }

  @Test func `A handler of unmatched URLs answers remote calls only if it is remote`() async throws
  {
    router.unmatched { "nothing at \($0.url)" }
    #expect(await router.answer("app://none") == "nothing at app://none")
    #expect(await router.failure("app://none", origin: .remote) == .noRoute)
    router.unmatched(exposure: .remote) { _ in try await Self.secret(router) }
    await expectSecret("app://old/secret")
  }

  @Test func `A fallback answers remote calls only if it is remote`() async throws {
    router.mediator.fallback { "instead of \($0.destination)" }
    #expect(await router.answer("app://shop/none") == "instead of shop.none")
    #expect(await router.failure("app://shop/none", origin: .remote) == .noAction)
    router.mediator.fallback(exposure: .remote) { "remote, instead of \($0.destination)" }
    #expect(
      await router.answer("app://shop/none", origin: .remote) == "remote, instead of shop.none")
    try router.mediator.register("guest") { GuestTarget() }
    #expect(await router.answer("app://guest/none") == "guest instead of guest.none")
    #expect(
      await router.answer("app://guest/none", origin: .remote) == "remote, instead of guest.none",
      "a target's own fallback is for this process")
  }

  @Test("A handler of unmatched URLs hides no error of a route that the URL meets")
  func nothingHidden() async throws {
    router.unmatched(exposure: .remote) { _ in "hidden" }
    try router.register("app://find?q<String>", exposure: .remote) { _ in "found" }
    try router.register("app://shy", exposure: .remote) { throw $0.refusal("not now") as any Error }
    #expect(await router.failure("app://find") == .missingParameter)
    #expect(await router.failure("app://shy") == .refused)
    #expect(await router.failure("app://new/secret", origin: .remote) == .notRemote)
    #expect(await router.answer("app://none") == "hidden")
  }

  @Test("A route for a whole scheme leaves the actions that exist alone")
  func wholeScheme() async throws {
    try router.register("mgj://*", exposure: .remote) { "mgj: \($0.url)" }
    #expect(await router.answer("mgj://shop/url", origin: .remote) == "mgj://shop/url")
    #expect(await router.failure("mgj://shop/nothing", origin: .remote) == .notRemote)
    #expect(await router.answer("mgj://shop/none", origin: .remote) == "mgj: mgj://shop/none")
    #expect(await router.answer("mgj://elsewhere") == "mgj: mgj://elsewhere")
  }

  private final class Nosy: Target {
    static let actions: [Action<Nosy>] = [Action("ask", exposure: .remote) { _, _ in 1 }]
  }

  @Test("What observers, guards and the making of a target call for a remote caller is remote")
  func askedBeside() async throws {
    let (tasks, continuation) = AsyncStream.makeStream(of: Task<RoutingError.Code?, Never>.self)
    let look: @Sendable () -> Void = {
      continuation.yield(Task { await router.failure("app://new/secret") })
    }
    let observation = router.calls.observe { notice in
      if case .began(let call) = notice, "\(call.destination)" == "app://nosy/ask" { look() }
    }
    try router.calls.guardCalls("nosy", .action("nosy", "ask"), then: .refuse("never")) { _ in
      look()
      return false
    }
    try router.mediator.register("nosy") {
      look()
      return Nosy()
    }
    #expect(await router.failure("app://nosy/ask", origin: .remote) == nil)
    observation.cancel()
    continuation.finish()
    var met: [RoutingError.Code?] = []
    for await task in tasks { met.append(await task.value) }
    #expect(met == [.notRemote, .notRemote, .notRemote])
  }

  @Test func `A dry run inside a handler says what a call there would come to`() async throws {
    try router.register("app://ask", exposure: .remote) { _ in
      "\(router.canOpen("app://new/secret")) \(router.calls.explain("app://new/secret").error == nil)"
    }
    #expect(await router.answer("app://ask", origin: .remote) == "false false")
    #expect(await router.answer("app://ask") == "true true")
  }

  @Test(
    "A refusal is of the call whose handler refuses, not of the one around it",
    arguments: [
      ("app://outer", "app://:any", "app://nothing", "x://nothing/at/all"),
      ("app://deep/outer", "app://deep/:any", "x://nothing/at/all", "app://deep/outer"),
    ])
  func refusals(outer: String, other: String, inner: String, refused: String) async throws {
    router.unmatched { throw $0.refusal("not mine") as any Error }
    try router.register(outer, priority: 5) { _ in
      try await router.object(for: inner, as: String.self)
    }
    try router.register(other) { _ in "another route" }
    #expect(await router.failure(refused) == .refused)
  }

  @Test("A refusal that an interceptor has kept is none of the handler around its call")
  func keptRefusal() async throws {
    try router.register("app://kept") { $0.refusal("kept") as? RoutingError }
    let kept = try await router.object(for: "app://kept", as: RoutingError.self)
    router.calls.intercept("late", try .url("app://open")) { _ in throw kept }
    try router.register("app://outer", priority: 5) { _ in
      try await router.object(for: "app://open", as: String.self)
    }
    try router.register("app://:any") { _ in "another route" }
    #expect(await router.failure("app://outer") == .refused)
  }

  @Test func `Calls that call themselves without end are an error`() async throws {
    router.mediator.fallback { _ in try await router.mediator.perform("missing", "any") }
    await #expect(throws: RoutingError.self) { try await router.mediator.perform("missing", "any") }
    router.calls.intercept("again", try .url("app://open")) { _ in
      .answer(try await router.open("app://open"))
    }
    #expect(await router.failure("app://open") == .redirectLoop)
  }

  @TaskLocal private static var way: [String] = []

  @Test
  func `What answers a call has what observers set for it, inside of what the call around it has`()
    async throws
  {
    let observation = router.calls.observe(setting: Self.$way) { notice in
      if case .began(let call) = notice { Self.way + ["\(call.destination)"] } else { nil }
    }
    router.calls.intercept("asked", try .url("app://asked")) { _ in .answer(Self.way) }
    try router.register("app://door") { _ in
      [Self.way, try await router.object(for: "app://asked", as: [String].self)]
    }
    let ways = try await router.object(for: "app://door", as: [[String]].self)
    #expect(ways == [["app://door"], ["app://door", "app://asked"]])
    observation.cancel()
    #expect(try await router.object(for: "app://asked", as: [String].self) == [])
  }

  @Test func `A detached task has no caller`() async throws {
    try router.register("app://later", exposure: .remote) { _ in
      await Task.detached { "\(Call.current.map { "\($0)" } ?? "none")" }.value
    }
    #expect(await router.answer("app://later", origin: .remote) == "none")
  }
}
