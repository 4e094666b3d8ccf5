import Testing

@testable import BeeHive

private struct Sale: Sendable { var cents: Int }
private struct Price: Sendable, Equatable { var cents: Int }
private struct PriceQuestion: Sendable { var item: String }

private enum TenantKey: Context.Key { static let defaultValue = "nobody" }

private struct QuietLog: Module {}

private struct ShopModule: Module {
  static var initializesConcurrently: Bool { true }

  func setUp(_ context: Context) async throws {
    try context.hive.register(Int.self, name: "shelves") { _ in 12 }
  }
  func initialize(_ context: Context) async throws {
    #expect(context.environment == Context.Environment.test && context.launchURL == "shop://")
    #expect(context[TenantKey.self] == "Ada" && context.arguments == ["shop"])
  }
  func splash(_ context: Context) async throws {}
  func tearDown(_ context: Context) async throws {}
  func unmount(_ context: Context) async throws { context.hive.removeServices(named: "Swift.Int") }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    if let question = event.value(as: PriceQuestion.self) {
      return .value(Price(cents: question.item.count * 100))
    }
    if event.value(as: Sale.self) != nil { return .stop() }
    switch event.kind {
    case .openURL, .willTerminate: return .handled
    default: return .ignored
    }
  }
}

@Suite("A newcomer, modules and events")
struct NewcomerModulesTests {
  private let hive = Hive()

  @Test("start, tell, ask, stop")
  func lifecycle() async throws {
    try await hive.register(module: QuietLog.self, name: "log", level: .basic)
    try await hive.register(module: ShopModule.self, requires: ["log"], after: ["audio"])
    var context = Context(
      hive: hive, environment: .test, arguments: ["shop"], launchURL: "shop://",
      configuration: Configuration(defaults: ["port": .int(80)]))
    context[TenantKey.self] = "Ada"
    let options = LaunchOptions(
      onFailure: .skip, timeLimit: .seconds(86_400),
      watchdog: .seconds(86_400), disabled: ["video"])
    let report: LaunchReport = try await hive.start(context, options: options)
    #expect(report.started == ["log", "BeeHiveTests.ShopModule"])
    #expect(await hive.runningModules == report.started)
    #expect(report.failures.isEmpty && report.unbound.isEmpty && report.disabled.isEmpty)
    #expect(report.times.map(\.step).filter { $0 == "setUp" }.count == 2)
    let times = report.times
    #expect(times.allSatisfy { $0.took >= .zero && !$0.isSlow && !$0.module.isEmpty })
    #expect(try hive.service(Int.self, name: "shelves") == 12)

    let outcome: EventOutcome = await hive.trigger(.openURL("shop://cart"))
    #expect(outcome.any && !outcome.all && outcome.failures.isEmpty)
    let answers: [(module: String, response: EventResponse)] = outcome.answers
    #expect(answers.map(\.module) == report.started)
    #expect(await hive.trigger(Event(Sale(cents: 3))).any)
    #expect(try await hive.ask(PriceQuestion(item: "tea"), for: Price.self) == Price(cents: 300))
    let collected = await hive.trigger(Event(PriceQuestion(item: "tea")))
    #expect(collected.collect(as: Price.self).count == 1)
    #expect(collected.first(as: Price.self)?.cents == 300)
    if case .value = collected.answers.last?.response {} else { Issue.record("no value") }
    let custom = try #require(Event(number: 1001, name: "sold", payload: 3))
    #expect(custom.number == 1001 && custom.name == "sold" && custom.payload != nil)
    let error = await #expect(throws: Problem.self) { try await hive.ask(custom, for: Price.self) }
    #expect(error?.message == "sold: no module answered with a Price; asked: 2, failed: 0")

    #expect(await hive.unregister(module: "BeeHiveTests.ShopModule"))
    #expect(await hive.startLatecomers().isEmpty)
    let failures: [ModuleFailure] = await hive.stop()
    #expect(failures.isEmpty)
  }

  @Test("where the application runs")
  func environments() {
    let environments: [Context.Environment] = [.development, .test, .stage, .production]
    #expect(environments.map(\.name) == ["development", "test", "stage", "production"])
    #expect(Context.Environment("kiosk").name == "kiosk")
  }

  @Test("the events of BeeHive, by name")
  func events() {
    let lifecycle: [Event.Kind] = [.setUp, .initialize, .tearDown, .splash, .unmount]
    #expect(lifecycle.map(\.rawValue) == [0, 1, 2, 3, 10])
    let told: [Event] = [
      .willResignActive, .didEnterBackground, .willEnterForeground, .didBecomeActive,
      .willTerminate, .openURL("x"), .didReceiveMemoryWarning,
    ]
    #expect(told.map(\.number) == [5, 6, 7, 8, 9, 11, 12])
    #expect(Event.Kind.custom.rawValue == 1000 && Event(1).kind == .typed)
  }

  @Test("a module that fails, and an order that cannot be")
  func failures() async throws {
    struct Flooded: Error {}
    try await hive.register(module: "cellar") { _ -> any Module in throw Flooded() }
    try await hive.register(module: "a", priority: 3, requires: ["b"]) { _ in QuietLog() }
    try await hive.register(module: "b", requires: ["a"]) { _ in QuietLog() }
    try await hive.register(module: "c", requires: ["nobody"]) { _ in QuietLog() }
    try await hive.register(module: "basic", level: ModuleLevel.basic, requires: ["plain"]) { _ in
      QuietLog()
    }
    try await hive.register(module: "plain") { _ in QuietLog() }
    do throws(LaunchError) {
      try await hive.start()
      Issue.record("it cannot start")
    } catch {
      let interruption: LaunchError.Interruption? = error.interruption
      #expect(interruption == nil && error.failures.isEmpty)
      let order: LaunchOrder = error.order
      #expect(order.cycles.map { $0.map(\.name) } == [["a", "b", "a"]])
      #expect("\(order.cycles[0][0].source)".hasPrefix("BeeHiveTests/NewcomerModulesTests.swift:"))
      let missing: LaunchOrder.Missing? = order.missing.first
      #expect(missing?.module.name == "c" && missing?.requirement == "nobody")
      #expect(missing?.reason == nil && missing?.similar.isEmpty != false)
      #expect(order.problems.count == 2 && order.blocked.isEmpty && order.lifts.count == 1)
      #expect(order.modules.map(\.name) == ["plain", "basic", "cellar"])
    }
    let policies: [FailurePolicy] = [.skip, .continue]
    for policy in policies {
      let report = try await hive.start(options: LaunchOptions(onFailure: policy))
      let failure = try #require(report.failures.first)
      #expect("\(failure.source)".hasPrefix("BeeHiveTests/NewcomerModulesTests.swift:"))
      #expect(failure.reason == "could not be made: Flooded()")
      await hive.stop()
    }
  }
}
