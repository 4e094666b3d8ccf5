import BeeHive
import BeeHiveRouting
import Testing
import Threads

/// A module that registers one thing of each kind with its Hive.
private struct Everything: Module {
  static func november() throws -> DecisionTable {
    try table(
      rule(
        "closed", #"{"url": "app://old/:page"}"#, when: #"{"guard": "open"}"#,
        do: #"{"block": "x"}"#), name: "november")
  }
  var heard: @Sendable () -> Void = {}

  init() {}

  func setUp(_ context: Context) async throws {
    let (router, mediator, calls) = (context.hive.router, context.hive.mediator, context.hive.calls)
    try router.define("Month") { text in Int(text) }
    try router.register("app://shop/:month<Month>") { _ in "route" }
    try router.register("web://cart") { _ in "cart" }
    try router.register(aliases: ["home": "app://shop/7"])
    router.unmatched { _ in "unmatched" }
    try mediator.register("till") { ShopTarget() }
    mediator.fallback { _ in "fallback" }
    calls.define(guard: "open") { _ in true }
    try calls.load(Self.november())
    calls.intercept("watch", .action("*", "*")) { _ in .proceed }
    try calls.guardCalls("hidden", try .url("app://hidden"), then: .refuse("hidden"))
    calls.observe { [heard] notice in if case .began = notice { heard() } }
  }
}

@Suite("Routes, targets, rules and tables that a module registers belong to it")
struct ModuleBelongingsTests {
  private let hive = Hive()

  private func answer(_ url: String) async throws -> String? {
    try await hive.calls.send(.url(url)) as? String
  }

  @Test("three starts in a row: all is there each time, and nothing but the host's own after it")
  func startAgain() async throws {
    try hive.router.register("app://outside") { _ in "outside" }
    let heard = Lock(0)
    try await hive.register(module: "everything") { _ in
      var module = Everything()
      module.heard = { heard.withLock { $0 += 1 } }
      return module
    }
    for round in 1...3 {
      try await hive.start()
      #expect(try await answer("app://shop/7") == "route")
      #expect(heard.withLock { $0 } == round, "one observer in each life")
      #expect(hive.calls.explain("app://old/1").steps == ["table closed: refuse: x"])
      #expect(hive.calls.explain("app://hidden").steps == ["guard hidden: refuse: hidden"])
      #expect(hive.calls.explain("home").error == nil)
      #expect(hive.calls.explain("web://cart").error == nil)
      #expect(hive.calls.explain("app://nothing").end == "the handler of unmatched URLs")
      #expect(hive.mediator.declarations.keys.sorted() == ["till"])
      #expect(try hive.calls.table == Everything.november())
      await hive.stop()
      #expect(hive.router.routes.map(\.pattern.text) == ["app://outside"])
      #expect(hive.router.aliases.isEmpty)
      #expect(hive.mediator.declarations.isEmpty)
      #expect(hive.calls.table == nil)
      for url in ["app://old/1", "app://hidden", "app://nothing"] {
        let explanation = hive.calls.explain(url)
        #expect(explanation.steps.isEmpty && explanation.error?.code == .noRoute)
      }
      await #expect(throws: RoutingError.self) { try await hive.mediator.perform("till", "gone") }
      // The module's guard and its type of segments are gone as well.
      #expect(throws: RoutingError.self) { try hive.calls.load(Everything.november()) }
      #expect(throws: RoutingError.self) {
        try hive.router.register("app://shop/:month<Month>") { _ in }
      }
      #expect(try await answer("app://outside") == "outside")
    }
  }

  @Test("what another has put in the place of a module's own stays")
  func replaced() async throws {
    try await hive.register(module: "everything") { _ in Everything() }
    try await hive.start()
    hive.router.unmatched { _ in "host" }
    hive.mediator.fallback { _ in "host" }
    let own = try table(name: "host")
    try hive.calls.load(own)
    #expect(hive.mediator.deregister("till"))
    try hive.mediator.register("till") { ShopTarget() }
    await hive.stop()
    #expect(try await answer("app://nothing") == "host")
    #expect(try await hive.mediator.perform("none", "at all") as? String == "host")
    #expect(hive.calls.table == own)
    #expect(hive.mediator.declarations.keys.sorted() == ["till"])
  }
}
