import Adapters
import BeeHive
import BeeHiveRouting
import InMemoryTracing
import Synchronization
import Testing
import Tracing

/// A module that runs `act` in each step and at an event.
struct Acting: Module {
  var act: @Sendable (_ step: String, Hive) async throws -> Void = { _, _ in }

  init() {}
  init(_ act: @escaping @Sendable (_ step: String, Hive) async throws -> Void) { self.act = act }

  func setUp(_ context: Context) async throws { try await act("setUp", context.hive) }
  func initialize(_ context: Context) async throws { try await act("initialize", context.hive) }
  func splash(_ context: Context) async throws { try await act("splash", context.hive) }
  func tearDown(_ context: Context) async throws { try await act("tearDown", context.hive) }
  func unmount(_ context: Context) async throws { try await act("unmount", context.hive) }
  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    try await act(event.name, context.hive)
    return .handled
  }
}

/// A target with two remote actions. The second throws.
struct Prices: Target {
  static let actions: [Action<Prices>] = [
    Action("price", exposure: .remote) { _, _ in 7 },
    Action("fail", exposure: .remote) { _, _ in throw Empty() as any Error },
  ]
}

struct Empty: Error {}

extension InMemoryTracer {
  /// The span names from the outermost span to each ended span, in the order of their ends.
  fileprivate var paths: [String] {
    let spans = finishedSpans
    let known = Dictionary(uniqueKeysWithValues: spans.map { ($0.spanID, $0) })
    return spans.map { span in
      var (path, next) = (span.operationName, span.parentSpanID)
      while let id = next {
        path = "\(known[id]?.operationName ?? "?") > \(path)"
        next = known[id]?.parentSpanID
      }
      return path
    }
  }

  /// Returns the only ended span of a name.
  fileprivate func span(_ name: String) throws -> FinishedInMemorySpan {
    let spans = finishedSpans.filter { $0.operationName == name }
    try #require(spans.count == 1, "\(finishedSpans.map(\.operationName))")
    return spans[0]
  }
}

extension FinishedInMemorySpan {
  fileprivate func text(_ attribute: String) -> String? {
    guard case .string(let text)? = attributes.get(attribute) else { return nil }
    return text
  }
}

@Suite("Spans of steps and calls", .timeLimit(.minutes(1)))
struct TracingTests {
  private let hive = Hive()
  private let tracer = InMemoryTracer()

  private func prices() throws {
    try hive.mediator.register("shop") { Prices() }
    try hive.router.register("app://shop/:id<Int>", exposure: .remote) { [hive] _ in
      try await hive.mediator.perform("shop", "price", as: Int.self)
    }
  }

  @Test("each step and event is a span, in that of the caller, and calls are in that of the step")
  func nesting() async throws {
    try prices()
    hive.trace(to: tracer)
    hive.router.trace(to: tracer)
    try await hive.register(module: "till") { _ in
      Acting { step, hive in
        if step == "splash" { try await hive.router.open("app://shop/1") }
      }
    }
    try await tracer.withSpan("main") { _ in
      try await hive.start()
      await hive.trigger(.openURL("app://x"))
    }
    await hive.stop()
    #expect(
      tracer.paths == [
        "main > setUp till", "main > initialize till",
        "main > splash till > app://shop/:id<Int> > shop.price",
        "main > splash till > app://shop/:id<Int>", "main > splash till", "main > openURL till",
        "main", "tearDown till", "unmount till",
      ])
    #expect(tracer.activeSpans.isEmpty)
    let step = try tracer.span("setUp till")
    #expect(
      step.text("beehive.module.name") == "till" && step.text("beehive.module.step") == "setUp")
    #expect(step.kind == .internal && step.status == nil && step.errors.isEmpty)
    let call = try tracer.span("app://shop/:id<Int>")
    #expect(call.text("beehive.call.name") == "app://shop/:id<Int>")
    #expect(call.text("beehive.call.origin") == "local" && call.status == nil)
  }

  @Test("a step that fails has its error, within a time limit too", arguments: [nil, 3600])
  func failingStep(limit: Int?) async throws {
    hive.trace(to: tracer)
    try await hive.register(module: "till") { [tracer] _ in
      Acting { step, _ in
        if step == "initialize" { try tracer.withSpan("open") { _ in throw Empty() } }
      }
    }
    try await hive.start(
      options: LaunchOptions(onFailure: .skip, timeLimit: limit.map { .seconds($0) }))
    #expect(
      tracer.paths == ["setUp till", "initialize till > open", "initialize till", "unmount till"])
    let failed = try tracer.span("initialize till")
    #expect(failed.status?.code == .error)
    #expect(failed.status?.message?.contains("till") == true)
    #expect(failed.text("error.type") == "AdaptersTests.Empty")
    #expect(failed.errors.map { $0.error is ModuleFailure } == [true])
    #expect(try tracer.span("unmount till").status == nil)
  }

  @Test("a module that does not come back in its time has a span that ends then")
  func overdue() async throws {
    hive.trace(to: tracer)
    try await hive.register(module: "till") { _ in
      Acting { step, _ in if step == "setUp" { try await Task.sleep(for: .seconds(3600)) } }
    }
    try await hive.start(
      options: LaunchOptions(onFailure: .skip, timeLimit: .milliseconds(50)))
    let failed = try tracer.span("setUp till")
    #expect(failed.status?.code == .error && failed.text("error.type") == "_OTHER")
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test("a call that fails has its error, and so has the call around it")
  func failingCall() async throws {
    try prices()
    hive.router.trace(to: tracer)
    try hive.router.register("app://sale") { [hive] _ in
      try await hive.mediator.perform("shop", "fail", as: Int.self)
    }
    await #expect(throws: Empty.self) { try await hive.router.open("app://sale") }
    #expect(tracer.paths == ["app://sale > shop.fail", "app://sale"])
    for span in tracer.finishedSpans {
      #expect(span.status?.code == .error && span.text("error.type") == "AdaptersTests.Empty")
      #expect(span.errors.map { $0.error is Empty } == [true])
    }
  }

  @Test("a call is called as where it has come to, and its rules are events")
  func redirected() async throws {
    try prices()
    try hive.calls.guardCalls(
      "moved", .url("app://old/:id"), then: .redirect(to: .url("app://shop/:id")))
    hive.router.trace(to: tracer)
    try await hive.router.open("app://old/1", origin: .remote)
    #expect(tracer.paths == ["app://shop/:id<Int> > shop.price", "app://shop/:id<Int>"])
    let call = try tracer.span("app://shop/:id<Int>")
    #expect(call.events.map(\.name) == ["beehive.call.ruled"])
    #expect(call.events.first?.attributes.get("beehive.rule.name") == .string("moved"))
    #expect(call.text("beehive.call.origin") == "remote")
  }

  @Test("what a caller from outside invents is in no attribute and no name")
  func invented() async throws {
    try prices()
    hive.router.trace(to: tracer)
    for url in ["x://shop/invented", "invented://invented"] {
      await #expect(throws: RoutingError.self) {
        try await hive.router.open(url, origin: .remote)
      }
    }
    await #expect(throws: RoutingError.self) {
      try await hive.calls.send(.action(target: "invented", action: "x"), origin: .remote)
    }
    try await hive.router.open("app://shop/price", origin: .remote)
    #expect(tracer.paths == ["call", "call", "call", "shop.price"])
    let types = tracer.finishedSpans.map { $0.text("error.type") }
    #expect(types == ["no-action", "no-route", "no-target", nil])
    for span in tracer.finishedSpans {
      span.attributes.forEach { _, value in #expect(!"\(value)".contains("invented")) }
    }
  }

  @Test("calls at the same time have spans of their own, each with what it makes inside of it")
  func concurrency() async throws {
    hive.router.trace(to: tracer)
    try hive.router.register("app://outer/:n<Int>") { [hive] call in
      let n: Int = try call["n"]
      await Task.yield()
      return try await hive.router.object(for: "app://inner/\(n)", as: Int.self)
    }
    try hive.router.register("app://inner/:n<Int>") { [tracer] call in
      let n: Int = try call["n"]
      return await tracer.withSpan("work \(n)") { _ in
        await Task.yield()
        return n
      }
    }
    let sum = try await withThrowingTaskGroup(of: Int.self) { [hive, tracer] group in
      for n in 0..<50 {
        group.addTask {
          try await tracer.withSpan("caller \(n)") { _ in
            try await hive.router.object(for: "app://outer/\(n)", as: Int.self)
          }
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == (0..<50).reduce(0, +))
    let paths = Set(tracer.paths.filter { $0.contains("work") })
    #expect(
      paths
        == Set(
          (0..<50).map { "caller \($0) > app://outer/:n<Int> > app://inner/:n<Int> > work \($0)" }))
    #expect(tracer.finishedSpans.count == 200 && tracer.activeSpans.isEmpty)
  }

  @Test("modules that start at the same time have spans beside each other")
  func concurrentModules() async throws {
    hive.trace(to: tracer)
    for n in 0..<8 {
      try await hive.register(module: "m\(n)") { [tracer] _ in
        Concurrent(
          Acting { step, _ in
            guard step == "initialize" else { return }
            try await tracer.withSpan("work \(n)") { _ in
              try await Task.sleep(for: .milliseconds(5))
            }
          })
      }
    }
    _ = try await tracer.withSpan("main") { _ in try await hive.start() }
    let paths = Set(tracer.paths.filter { $0.contains("work") })
    #expect(paths == Set((0..<8).map { "main > initialize m\($0) > work \($0)" }))
  }

  @Test("the factory of a service runs in the span of who asks for it")
  func factory() async throws {
    try hive.register(Int.self) { [tracer] _ in tracer.withSpan("make") { _ in 1 } }
    try hive.router.register("app://count") { [hive] _ in try hive.service(Int.self) }
    hive.router.trace(to: tracer)
    try await hive.router.open("app://count")
    #expect(tracer.paths == ["app://count > make", "app://count"])
  }

  @Test("there is an end to it")
  func cancelled() async throws {
    try prices()
    let handles = [hive.trace(to: tracer), hive.router.trace(to: tracer)]
    for handle in handles { handle.cancel() }
    try await hive.register(module: "till") { _ in Acting() }
    try await hive.start()
    try await hive.router.open("app://shop/1")
    await hive.stop()
    #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
  }
}

/// A module that initializes concurrently with others.
private struct Concurrent: Module {
  static var initializesConcurrently: Bool { true }
  var acting = Acting()

  init() {}
  init(_ acting: Acting) { self.acting = acting }

  func initialize(_ context: Context) async throws { try await acting.initialize(context) }
}
