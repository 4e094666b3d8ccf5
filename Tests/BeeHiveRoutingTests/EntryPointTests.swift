import BeeHiveRouting
import Testing

@Suite("Every call passes one point")
struct EntryPointTests {
  let router = Router()

  init() throws {
    try router.mediator.register("shop") { ShopTarget() }
    try router.answering("app://new/:id", "app://old/:id", "/plain")
  }

  @Test("Routes, actions, local and remote: each is told once, with its end")
  func observed() async throws {
    let (notices, continuation) = AsyncStream.makeStream(of: String.self)
    let observation = router.calls.observe { notice in
      switch notice {
      case .began(let call): continuation.yield("\(call.origin) \(call.destination) begins")
      case .ruled(_, let name, let verdict): continuation.yield("\(name): \(verdict)")
      case .ended(let call, let error):
        continuation.yield("\(call.destination) \(error == nil ? "is answered" : "failed")")
      }
    }
    try await router.open("app://new/1")
    try await router.mediator.perform("shop", "nothing")
    _ = await router.failure("aaa://shop/url", origin: .remote)
    _ = await router.failure("app://none", origin: .remote)
    observation.cancel()
    try await router.open("/plain")
    continuation.finish()
    #expect(
      await notices.reduce(into: [String]()) { $0.append($1) } == [
        "local app://new/1 begins", "app://new/1 is answered",
        "local shop.nothing begins", "shop.nothing is answered",
        "remote aaa://shop/url begins", "shop.url is answered",
        "remote app://none begins", "app://none failed",
      ])
  }

  @Test func `A rule is met once, also if two forms of its pattern are alike`() throws {
    try router.calls.guardCalls("once", .url("/a(/:b)(/:c)"), then: .proceed)
    #expect(router.calls.explain("/a/x").steps.count == 1)
  }

  @Test("Interceptors: in order of priority; replace, answer, refuse, redirect")
  func verdicts() async throws {
    let calls = router.calls
    calls.intercept("second") { call in
      await Task.yield()
      return call.arguments.isEmpty ? .proceed : .replace(["more": 2])
    }
    calls.intercept("first", priority: 5, try .url("app://new/1")) { _ in .replace(["some": 1]) }
    #expect(await router.answer("app://new/1") == "app://new/:id id=1 more=2 some=1")
    #expect(await router.answer("app://new/2") == "app://new/:id id=2")
    let answer = calls.intercept("cache", .action("shop", "*")) { _ in .answer(7) }
    #expect(try await router.mediator.perform("shop", "price", as: Int.self) == 7)
    answer.cancel()
    calls.intercept("closed", .everything(from: .remote)) { _ in .refuse("closed") }
    #expect(await router.failure("app://new/1", origin: .remote) == .refused)
    #expect(await router.failure("app://new/1") == nil)
  }

  @Test("An interceptor may bring the route that answers")
  func bringing() async throws {
    try router.calls.guardCalls("other", .url("app://other"), then: .proceed)
    router.calls.intercept("late", try .url("app://late")) { [router] _ in
      try router.answering("app://late")
      return .proceed
    }
    #expect(await router.answer("app://late") == "app://late")
  }

  @Test("Circles are errors that show the way")
  func loops() async throws {
    try router.calls.guardCalls(
      "there", try .url("app://old/1"), then: .redirect(to: .url("app://new/1")))
    try router.calls.guardCalls(
      "back", try .url("app://new/1"), then: .redirect(to: .url("app://old/1")))
    await expectError(.redirectLoop, saying: "app://old/1 → app://new/1 → app://old/1") {
      try await router.open("app://old/1")
    }
  }

  @Test("A guard holds while its condition does: the target is unhealthy, so the old one")
  func guards() async throws {
    let health = Health()
    try router.calls.guardCalls(
      "unhealthy", try .url("app://new/:id"), then: .redirect(to: .url("app://old/1")),
      when: { _ in !health.isGood })
    #expect(await router.answer("app://new/1") == "app://new/:id id=1")
    health.isGood = false
    #expect(await router.answer("app://new/1") == "app://old/:id id=1")
  }

  @Test("An interceptor that throws ends the call")
  func throwing() async {
    router.calls.intercept("broken") { _ in throw Broken() }
    await #expect(throws: Broken.self) { try await router.open("/plain") }
  }
}

/// The state that a guard reads.
final class Health: @unchecked Sendable {
  var isGood = true
}
