import Adapters
import BeeHive
import BeeHiveRouting
import Metrics
import MetricsTestKit
import Testing

@Suite("Counters and timers of steps and calls", .timeLimit(.minutes(1)))
struct MetricsTests {
  private let hive = Hive()
  private let metrics = TestMetrics()

  /// Returns the counters of a label, as `name=value … : total`.
  private func totals(_ label: String) -> [String] {
    metrics.counters(label: label).map { counter in
      let dimensions = counter.dimensions.map { "\($0.0)=\($0.1)" }
      return "\(dimensions.joined(separator: " ")): \(counter.totalValue)"
    }.sorted()
  }

  @Test("each step and event is counted and timed, a failure with its type")
  func steps() async throws {
    hive.measure(to: metrics)
    try await hive.register(module: "till") { _ in
      Acting { step, _ in if step == "setUp" { try await Task.sleep(for: .milliseconds(20)) } }
    }
    try await hive.register(module: "shop") { _ in
      Acting { step, _ in if step == "initialize" { throw Empty() } }
    }
    try await hive.start(options: LaunchOptions(onFailure: .skip))
    await hive.trigger(.openURL("app://x"))
    await hive.trigger(.openURL("app://y"))
    await hive.stop()
    func line(_ module: String, _ step: String, _ count: Int = 1) -> String {
      "beehive.module.name=\(module) beehive.module.step=\(step): \(count)"
    }
    #expect(
      totals("beehive.module.steps") == [
        line("shop", "initialize error.type=AdaptersTests.Empty"), line("shop", "setUp"),
        line("shop", "unmount"), line("till", "initialize"), line("till", "openURL", 2),
        line("till", "setUp"), line("till", "splash"), line("till", "tearDown"),
        line("till", "unmount"),
      ])
    let timer = try metrics.expectTimer(
      "beehive.module.step.duration",
      [("beehive.module.name", "till"), ("beehive.module.step", "setUp")])
    #expect(timer.values.count == 1 && timer.displayUnit == .seconds)
    #expect((0.02..<60).contains(timer.valueInPreferredUnit(atIndex: 0)))
    let events = try metrics.expectTimer(
      "beehive.module.step.duration",
      [("beehive.module.name", "till"), ("beehive.module.step", "openURL")])
    #expect(events.values.count == 2)
  }

  @Test("each call is counted and timed by where it came to, a failure with its type")
  func calls() async throws {
    let router = hive.router
    try hive.mediator.register("shop") { Prices() }
    try router.register("app://shop/:id<Int>", exposure: .remote) { _ in
      try await Task.sleep(for: .milliseconds(20))
      return try await router.mediator.perform("shop", "price", as: Int.self)
    }
    try hive.calls.guardCalls(
      "moved", .url("app://old/:id"), then: .redirect(to: .url("app://shop/:id")))
    router.measure(to: metrics)
    try await router.open("app://shop/1")
    try await router.open("app://shop/2")
    try await router.open("app://old/3", origin: .remote)
    for url in ["app://shop/fail", "x://shop/invented", "app://invented"] {
      _ = try? await router.open(url, origin: .remote)
    }
    let named = "beehive.call.name="
    #expect(
      totals("beehive.calls") == [
        "\(named)app://shop/:id<Int> beehive.call.origin=local: 2",
        "\(named)app://shop/:id<Int> beehive.call.origin=remote: 1",
        "\(named)shop.fail beehive.call.origin=remote error.type=AdaptersTests.Empty: 1",
        "\(named)shop.price beehive.call.origin=local: 2",
        "\(named)shop.price beehive.call.origin=remote: 1",
        "beehive.call.origin=remote error.type=no-action: 1",
        "beehive.call.origin=remote error.type=no-route: 1",
      ])
    let timer = try metrics.expectTimer(
      "beehive.call.duration",
      [("beehive.call.name", "app://shop/:id<Int>"), ("beehive.call.origin", "local")])
    #expect(timer.values.count == 2 && timer.displayUnit == .seconds)
    #expect((0.02..<60).contains(timer.valueInPreferredUnit(atIndex: 1)))
    let inner = try metrics.expectTimer(
      "beehive.call.duration",
      [("beehive.call.name", "shop.price"), ("beehive.call.origin", "local")])
    for (inner, outer) in zip(inner.values, timer.values) {
      #expect(inner + 20_000_000 <= outer, "each has its own time")
    }
  }

  @Test("calls at the same time are all counted, and the time of each is its own")
  func concurrency() async throws {
    let router = hive.router
    try router.register("app://wait/:n<Int>") { call in
      try await Task.sleep(for: .milliseconds(call["n"] as Int))
    }
    router.measure(to: metrics)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for n in 0..<50 { group.addTask { try await router.open("app://wait/\(n)") } }
      try await group.waitForAll()
    }
    #expect(metrics.counterTotal(label: "beehive.calls") == 50)
    let timers = metrics.timers(label: "beehive.call.duration")
    let values = timers.flatMap(\.values).sorted()
    #expect(values.count == 50)
    for (n, value) in values.enumerated() { #expect(value >= n * 1_000_000) }
  }

  @Test("there is an end to it")
  func cancelled() async throws {
    let handles = [hive.measure(to: metrics), hive.router.measure(to: metrics)]
    for handle in handles { handle.cancel() }
    try hive.router.register("app://x") { _ in 1 }
    try await hive.router.open("app://x")
    try await hive.register(module: "till") { _ in Acting() }
    try await hive.start()
    await hive.stop()
    #expect(metrics.counters.isEmpty && metrics.timers.isEmpty)
  }
}
