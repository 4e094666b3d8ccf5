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

  @Test("A remote caller reaches no local route through a remote one, whatever that says")
  func remoteThroughRemote() async throws {
    try router.register("app://door", exposure: .remote) { _ in
      try await router.object(for: "app://new/secret", as: String.self, origin: .local)
    }
    #expect(await router.failure("app://door", origin: .remote) == .notRemote)
    #expect(await router.answer("app://door") == "the secret")
  }

  @Test("An elevated route reaches what is local, and the catalogue shows it")
  func elevated() async throws {
    let hive = Hive()
    try hive.router.register("app://new/secret") { _ in "the secret" }
    try hive.router.register("app://door", exposure: .elevated) { _ in
      try await hive.router.object(for: "app://new/secret", as: String.self)
    }
    #expect(await hive.router.answer("app://door", origin: .remote) == "the secret")
    #expect("\(hive.catalogue())".contains("route  elevated app://door"))
  }

  @Test func `An action's calls, by name too, come from where the action's call comes from`()
    async throws
  {
    struct Clerk: Target {
      static let actions: [Action<Clerk>] = [
        Action("fetch", [Parameter("by", String.self)], exposure: .remote) { _, arguments in
          let by: String = try arguments["by"]
          guard let call = Call.current else { return "no call" }
          let router = Clerk.router
          if by == "url" {
            return try await router.object(for: "app://new/secret", as: String.self)
          }
          _ = try await router.mediator.perform("shop", "nothing")
          return "\(call.origin)"
        }
      ]
      static let router = Router()
    }
    try Clerk.router.register("app://new/secret") { _ in "the secret" }
    try Clerk.router.mediator.register("shop") { ShopTarget() }
    try Clerk.router.mediator.register("clerk") { Clerk() }
    for by in ["url", "name"] {
      #expect(
        await Clerk.router.failure("app://clerk/fetch?by=\(by)", origin: .remote) == .notRemote)
    }
    #expect(await Clerk.router.answer("app://clerk/fetch?by=url") == "the secret")
    #expect(await Clerk.router.answer("app://clerk/fetch?by=name") == "local")
  }

  @Test func `An interceptor's calls for a remote caller are remote`() async throws {
    router.calls.intercept("spy", try .url("app://open")) { _ in
      .answer(try await router.object(for: "app://new/secret", as: String.self))
    }
    #expect(await router.failure("app://open", origin: .remote) == .notRemote)
    #expect(await router.answer("app://open") == "the secret")
  }

  @Test func `A handler of unmatched URLs answers remote calls only if it is remote`() async throws
  {
    router.unmatched { "nothing at \($0.url)" }
    #expect(await router.answer("app://none") == "nothing at app://none")
    #expect(await router.failure("app://none", origin: .remote) == .noRoute)
    router.unmatched(exposure: .remote) { call in
      try await router.object(for: "app://new/\(call.url.path.last ?? "")", as: String.self)
    }
    #expect(await router.answer("app://old/secret") == "the secret")
    #expect(await router.failure("app://old/secret", origin: .remote) == .notRemote)
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
  func nothingHidden()
    async throws
  {
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

  @Test
  func `What observers, guards and the making of a target call for a remote caller is remote`()
    async throws
  {
    final class Nosy: Target {
      static let actions: [Action<Nosy>] = [Action("ask", exposure: .remote) { _, _ in 1 }]
    }
    let (router, log) = (self.router, Log())
    let look: @Sendable () -> Task<Void, Never> = {
      Task { await log.add(await router.failure("app://new/secret")?.rawValue ?? "the secret") }
    }
    let (tasks, continuation) = AsyncStream.makeStream(of: Task<Void, Never>.self)
    let observation = router.calls.observe { notice in
      if case .began(let call) = notice, "\(call.destination)" == "app://nosy/ask" {
        continuation.yield(look())
      }
    }
    try router.calls.guardCalls("nosy", .action("nosy", "ask"), then: .refuse("never")) { _ in
      continuation.yield(look())
      return false
    }
    try router.mediator.register("nosy") {
      continuation.yield(look())
      return Nosy()
    }
    #expect(await router.failure("app://nosy/ask", origin: .remote) == nil)
    observation.cancel()
    continuation.finish()
    for await task in tasks { await task.value }
    #expect(await log.lines == ["not-remote", "not-remote", "not-remote"])
  }

  @Test func `A dry run inside a handler says what a call there would come to`() async throws {
    try router.register("app://ask", exposure: .remote) { _ in
      "\(router.canOpen("app://new/secret")) \(router.calls.explain("app://new/secret").error == nil)"
    }
    #expect(await router.answer("app://ask", origin: .remote) == "false false")
    #expect(await router.answer("app://ask") == "true true")
  }

  @Test func `A refusal is of the call whose handler refuses, not of the one around it`()
    async throws
  {
    router.unmatched { throw $0.refusal("not mine") as any Error }
    try router.register("app://outer", priority: 5) { _ in
      try await router.object(for: "app://nothing", as: String.self)
    }
    try router.register("app://:any") { _ in "another route" }
    #expect(await router.failure("x://nothing/at/all") == .refused)
    try router.register("app://deep/outer", priority: 5) { _ in
      try await router.object(for: "x://nothing/at/all", as: String.self)
    }
    try router.register("app://deep/:any") { _ in "another route" }
    #expect(await router.failure("app://deep/outer") == .refused)
  }

  @Test func `Calls that call themselves without end are an error`() async throws {
    router.mediator.fallback { _ in try await router.mediator.perform("missing", "any") }
    await #expect(throws: RoutingError.self) { try await router.mediator.perform("missing", "any") }
    router.calls.intercept("again", try .url("app://open")) { _ in
      .answer(try await router.open("app://open"))
    }
    #expect(await router.failure("app://open") == .redirectLoop)
  }

  @Test func `A detached task has no caller`() async throws {
    try router.register("app://later", exposure: .remote) { _ in
      await Task.detached { "\(Call.current.map { "\($0)" } ?? "none")" }.value
    }
    #expect(await router.answer("app://later", origin: .remote) == "none")
  }
}
