import BeeHiveRouting
import Foundation
import Testing
import Threads

/// What MTRouter does: pages under names that a file gives them; and what its users ran into.
@Suite("MTRouter")
struct MTRouterTests {
  @Test("A name opens the URL that it means; the query goes along")
  func aliases() async throws {
    let router = try Router().answering("app://shop/:id", "app://shop/home")
    let json = Data(#"{"home": "app://shop/home", "first": "app://shop/1?from=alias"}"#.utf8)
    try router.register(JSONDecoder().decode(Aliases.self, from: json))
    try router.register(
      PropertyListDecoder().decode(
        Aliases.self, from: PropertyListEncoder().encode(["start": "home"])))
    #expect(await router.answer("home") == "app://shop/home")
    #expect(await router.answer("start?from=x") == "app://shop/home from=x")
    #expect(await router.answer("first") == "app://shop/:id from=alias id=1")
    #expect(await router.failure("first", origin: .remote) == .notRemote)
    #expect(router.canOpen("start") && router.removeAlias("start") && !router.canOpen("start"))
  }

  @Test("Circles, second meanings and names that are none are refused, and nothing is taken")
  func refusals() throws {
    let router = Router()
    try router.register(["a": "b"])
    for (aliases, code) in [
      (["b": "c", "c": "a"], RoutingError.Code.redirectLoop), (["a": "x"], .duplicate),
      (["x/y": "z"], .badPattern), (["": "z"], .badPattern), (["x": "%"], .malformedURL),
    ] {
      let error = #expect(throws: RoutingError.self) { try router.register(Aliases(aliases)) }
      #expect(error?.code == code)
    }
    #expect(router.aliases == ["a": "b"])
  }

  @Test("An error page stands in for what is missing, and knows for what")
  func errorController() async throws {
    let router = Router()
    try router.register(["VC1": "app://one", "VC2": "app://two"])
    try router.answering("app://one")
    router.unmatched { "error page for \($0.originalURL?.text ?? "") at \($0.url)" }
    #expect(await router.answer("VC1") == "app://one")
    #expect(await router.answer("VC2") == "error page for VC2 at app://two")
    #expect(await router.answer("VC4") == "error page for VC4 at VC4")
  }

  /// There, the error page is asked for by the alias VC3, and where that is missing without an end.
  @Test("An error page that is missing itself is one error of one call")
  func missingErrorController() async throws {
    let router = Router()
    try router.register(["VC3": "app://error"])
    let calls = Lock(0)
    router.calls.observe { notice in if case .began = notice { calls.withLock { $0 += 1 } } }
    #expect(await router.failure("VC4") == .noRoute)
    #expect(await router.failure("VC3") == .noRoute)
    #expect(calls.withLock { $0 } == 2)
  }

  /// There, it is made twice where no parameters are given, and an immutable dictionary raises.
  @Test("A page is made once, with parameters or none")
  func initOnce() async throws {
    let log = Log()
    let router = Router()
    try router.register("app://page") { call -> String in
      await log.add("made \(call.parameters.keys.sorted())")
      return call.url.text
    }
    try router.register(["VC1": "app://page"])
    #expect(await router.answer("VC1") == "app://page")
    let parameters: Arguments = ["title": "x"]
    _ = try await router.object(for: "VC1", as: String.self, with: parameters)
    #expect(await log.lines == ["made []", #"made ["title"]"#])
  }

  @Test("Blocks go along in the parameters, and are called back")
  func blocks() async throws {
    let router = Router()
    try router.register("app://page") { call in
      let done: @Sendable (Int) async -> Void = try call["done"]
      await done(7)
    }
    try router.register(["VC1": "app://page"])
    let log = Log()
    let done: @Sendable (Int) async -> Void = { await log.add("\($0)") }
    try await router.open("VC1", with: ["done": done])
    #expect(await log.lines == ["7"])
  }
}
