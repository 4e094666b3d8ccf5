internal import Synchronization

// setUp, initialize and splash over modules that are in order, and their undoing.
extension ModuleRunner {
  private static let stepNumbers = Atomic<UInt64>(0)

  /// What happens when a module fails: one that comes late does not take the others with it.
  private var policy: FailurePolicy {
    phase == .running && options.onFailure == .stop ? .skip : options.onFailure
  }

  /// Whether nothing more is to be started.
  var isOver: Bool { isStopRequested || (policy == .stop && !failures.isEmpty) }

  /// Makes the modules of a batch and takes them through the three steps.
  func launch(_ batch: LaunchBatch, _ hive: Hive) async {
    var modules: [LivingModule] = []
    for node in batch.order.modules where !isOver {
      guard let entry = batch.entries[node.name] else { continue }
      tried.insert(entry.order)
      do throws(ModuleFailure) { modules.append(try hive.living(entry, node)) } catch {
        leaveOut(node.name, error)
      }
    }
    for module in modules where !isOver && hive.isRegistered(module.entry) {
      guard await isAdmitted(module, .setUp) else { continue }
      living.append(module)
      await take(.setUp, module)
    }
    await initialize(modules)
    for module in modules where !isOver && isLiving(module) { await take(.splash, module) }
  }

  /// One module after another; those that are marked run beside the others, and whoever starts after
  /// one of them waits for it.
  private func initialize(_ modules: [LivingModule]) async {
    let earlierFailures = failures.count
    var running: [String: Task<Void, Never>] = [:]
    for module in modules where !isOver {
      let before = module.node.predecessors.compactMap { running[$0] }
      if module.isConcurrent {
        running[module.node.name] = Task {
          for task in before { await task.value }
          await self.initialize(module)
        }
      } else {
        for task in before { await task.value }
        await initialize(module)
      }
    }
    for task in running.values { await task.value }
    // In the modules' order, whoever was faster.
    let places = Dictionary(
      modules.enumerated().map { ($1.node.name, $0) }, uniquingKeysWith: { first, _ in first })
    failures[earlierFailures...].sort { places[$0.module] ?? 0 < places[$1.module] ?? 0 }
  }

  private func initialize(_ module: LivingModule) async {
    guard !isOver, isLiving(module), await isAdmitted(module, .initialize) else { return }
    await take(.initialize, module)
  }

  /// Whether nothing that the module requires has failed to start; it is left out otherwise.
  private func isAdmitted(_ module: LivingModule, _ step: LivingModule.Step) async -> Bool {
    guard let missing = module.node.requires.first(where: fallen.contains) else { return true }
    leaveOut(module.node.name, module.failure(step.rawValue, .skipped(requirement: missing)))
    living.removeAll { $0.id == module.id }
    failures += await undo(module)
    return false
  }

  private func leaveOut(_ name: String, _ failure: ModuleFailure) {
    failures.append(failure)
    fallen.insert(name)
    context?.hive.observers.tell(.moduleLeftOut(failure))
  }

  /// Takes a module through a step of its start, and settles what came of it.
  private func take(_ step: LivingModule.Step, _ module: LivingModule) async {
    busy.insert(module.id)
    let failure = await attempt(step, module)
    busy.remove(module.id)
    if let failure { failures.append(failure) }
    // One that still runs is not called again, whatever the policy.
    let isOverdue = failure?.isOverdue == true
    let isThrough = failure == nil || policy == .continue
    if isOverdue {
      stages[module.id] = nil
    } else if isThrough {
      // It may have come in the place of one that failed.
      fallen.remove(module.node.name)
      stages[module.id] = step == .setUp ? .setUp : .initialized
    }
    if !isLiving(module) {
      // It was unregistered meanwhile.
      _ = await undo(module)
    } else if !isThrough || isOverdue {
      if isThrough {
        overdue[module.id] = module.node.name
      } else {
        fallen.insert(module.node.name)
      }
      guard policy == .skip || isOverdue else { return }
      living.removeAll { $0.id == module.id }
      failures += await undo(module)
    }
  }

  /// Undoes what a module has been through; what went wrong.
  func undo(_ module: LivingModule) async -> [ModuleFailure] {
    var failures: [ModuleFailure] = []
    for step in [LivingModule.Step.tearDown, .unmount] {
      if let failure = await undo(step, module) { failures.append(failure) }
    }
    return failures
  }

  /// Undoes what every module has been through, in reverse order.
  func undoAll() async -> [ModuleFailure] {
    var failures: [ModuleFailure] = []
    for step in [LivingModule.Step.tearDown, .unmount] {
      for module in living.reversed() where isLiving(module) {
        if let failure = await undo(step, module) { failures.append(failure) }
      }
    }
    return failures
  }

  private func undo(_ step: LivingModule.Step, _ module: LivingModule) async -> ModuleFailure? {
    switch (step, stages[module.id]) {
    case (.tearDown, .initialized):
      stages[module.id] = .tornDown
    case (.unmount, .setUp), (.unmount, .tornDown):
      stages[module.id] = nil
    default: return nil
    }
    let failure = await attempt(step, module)
    if failure?.isOverdue == true { stages[module.id] = nil }
    return failure
  }

  func isLiving(_ module: LivingModule) -> Bool { living.contains { $0.id == module.id } }

  private func attempt(_ step: LivingModule.Step, _ module: LivingModule) async -> ModuleFailure? {
    let result = await observed(module, step.rawValue, step.kind) { context in
      try await module.run(step, context)
    }
    if case .failure(let failure) = result { return failure }
    return nil
  }

  /// Calls a module within its time, and tells the profiler, the watchdog and the observers.
  func observed<Value: Sendable>(
    _ module: LivingModule, _ event: String, _ kind: Event.Kind,
    _ call: @escaping @Sendable (Context) async throws -> Value
  ) async -> Result<Value, ModuleFailure> {
    guard let context else { return .failure(module.failure(event, .threw(CancellationError()))) }
    let hive = context.hive
    let step = ModuleStep(
      module: module.node.name, event: event, kind: kind,
      number: Self.stepNumbers.wrappingAdd(1, ordering: .relaxed).newValue)
    hive.observers.tell(.stepBegan(step))
    let watchdog = options.watchdog
    let watched = watchdog?.begin(step.module, event) { hive.observers.tell(.moduleIsSlow($0)) }
    let began = hive.profiler.begin(step.module, event)
    let start = ContinuousClock.now
    let inside = Self.inside + [ObjectIdentifier(self)]
    let result = await TimeLimit.run(options.timeLimit) {
      try await Self.$inside.withValue(inside) { try await call(context) }
    }
    let took = start.duration(to: .now)
    let outcome: Result<Value, ModuleFailure> =
      switch result {
      case .success(let value): .success(value)
      case .failure(_ as CRefusal): .failure(module.failure(event, .refused))
      case .failure(let error): .failure(module.failure(event, .threw(error)))
      case nil: .failure(module.failure(event, .exceeded(options.timeLimit ?? .zero)))
      }
    hive.profiler.end(began, isSuccess: outcome.failure == nil)
    if let watched { watchdog?.end(watched) }
    if phase == .starting {
      report.times.append(
        LaunchReport.Time(
          module: step.module, step: event, took: took,
          isSlow: watchdog.map { took >= $0.threshold } ?? false))
    }
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
