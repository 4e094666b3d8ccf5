internal import Synchronization
internal import Threads

// Calls of modules: each runs outside the runner, and within its time.
extension ModuleRunner {
  private static let stepNumbers = Atomic<UInt64>(0)

  /// Takes a module through a step; what went wrong.
  func attempt(_ step: RunningModule.Step, _ module: RunningModule) async -> ModuleFailure? {
    guard let context else { return nil }
    let result = await observed(module, step.rawValue, step.kind, context.hive, options) {
      try await module.run(step, context)
    }
    if case .failure(let failure) = result { return failure }
    return nil
  }

  /// Makes the module of an entry.
  func make(
    _ entry: RegisteredEntry, _ node: LaunchOrder.Node, _ hive: Hive
  ) async -> Result<RunningModule, ModuleFailure> {
    let belongings = Belongings()
    let made = await visit(node.name, "make", belongings, within: options.timeLimit) {
      var module = try hive.makeModule(entry, node)
      module.belongings = belongings
      return module
    }
    if case .success(let module) = made { return .success(module) }
    await withdraw(belongings, of: node.name, from: hive)
    guard case .failure(let error) = made else {
      return .failure(node.failure("make", .exceeded(options.timeLimit ?? .zero)))
    }
    return .failure(error as? ModuleFailure ?? node.failure("make", .notMade("\(error)")))
  }

  /// Withdraws what a module registered.
  func withdraw(_ belongings: Belongings, of name: String, from hive: Hive) async {
    guard let rest = belongings.close() else { return }
    _ = await visit(name, "withdraw", belongings, within: nil) { rest.withdraw(from: hive) }
  }

  /// Runs a module's code where it may block, within its time; lists it until it comes back, also if
  /// that is later.
  private nonisolated(nonsending) func visit<Value: Sendable>(
    _ module: String, _ event: String, _ belongings: Belongings, within limit: Duration?,
    _ work: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error>? {
    let visit = Visit(runner: ObjectIdentifier(self), belongings: belongings)
    return await TimeLimit.run(limit) { [progress] in
      let number = progress.withLock { $0.begin(module, event) }
      defer { progress.withLock { $0.end(number) } }
      return try await Self.$inside.withValue(Self.inside + [visit]) { try await work() }
    }
  }

  /// Calls a module within its time, and tells the profiler, the watchdog and the observers.
  nonisolated(nonsending) func observed<Value: Sendable>(
    _ module: RunningModule, _ event: String, _ kind: Event.Kind, _ hive: Hive,
    _ options: LaunchOptions, _ call: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, ModuleFailure> {
    let step = ModuleStep(
      module: module.node.name, event: event, kind: kind,
      number: Self.stepNumbers.wrappingAdd(1, ordering: .relaxed).newValue)
    hive.observers.tell(.stepBegan(step))
    let watchdog = options.watchdog
    let watched = watchdog?.begin(step.module, event) { hive.observers.tell(.moduleIsSlow($0)) }
    let began = hive.profiler.begin(step.module, event)
    let start = ContinuousClock.now
    let result = await visit(
      step.module, event, module.belongings, within: options.timeLimit, call)
    let took = start.duration(to: .now)
    let outcome: Result<Value, ModuleFailure> =
      switch result {
      case .success(let value): .success(value)
      case .failure(_ as CRefusal): .failure(module.node.failure(event, .refused))
      case .failure(let error): .failure(module.node.failure(event, .threw(error)))
      case nil: .failure(module.node.failure(event, .exceeded(options.timeLimit ?? .zero)))
      }
    hive.profiler.end(began, isSuccess: outcome.failure == nil)
    if let watched { watchdog?.end(watched) }
    let time = LaunchReport.Time(
      module: step.module, step: event, took: took,
      isSlow: watchdog.map { took >= $0.threshold } ?? false)
    progress.withLock { $0.times?.append(time) }
    hive.observers.tell(.stepEnded(step, took: took, failure: outcome.failure))
    return outcome
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}

extension ModuleFailure {
  /// Whether the module had not come back when it was last waited for.
  var isOverdue: Bool { if case .exceeded = reason { true } else { false } }
}
