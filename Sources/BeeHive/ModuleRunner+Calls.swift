internal import BinaryImage
internal import Threads

// The runner's calls of modules: with events, through their steps, and on threads that they may block.
extension ModuleRunner {
  /// Passes an event to every running module once, in order. Modules that are removed meanwhile do not get it.
  func dispatch(_ event: Event) async -> EventOutcome {
    guard let context else { return EventOutcome() }
    let modules = states.withLock { states in states.running.filter(states.hears) }
    // One way to their thread and back for all of them.
    return await withTaskExecutorPreference(ModuleThreads.shared) { [options] in
      await tell(modules, event, context, options)
    }
  }

  @concurrent private nonisolated func tell(
    _ modules: [RunningModule], _ event: Event, _ context: Context, _ options: LaunchOptions
  ) async -> EventOutcome {
    var outcome = EventOutcome()
    for module in modules {
      // Noted at once: a module is not torn down while it handles an event.
      guard let number = states.withLock({ $0.begin(event, in: module) }) else { continue }
      let result = await observed(module, event.name, number, context.hive, options) {
        try await module.module.handle(event, context)
      }
      switch result {
      case .success(let response):
        outcome.answers.append((module: module.name, response: response))
        if response.stops { return outcome }
      case .failure(let failure): outcome.failures.append(failure)
      }
    }
    return outcome
  }

  /// Takes a module through a step. Returns the failure, if any.
  func attempt(
    _ step: RunningModule.Step, _ module: RunningModule
  ) async -> ModuleFailure? {
    guard let context else { return nil }
    let number = states.withLock {
      $0.begin(module.entry, step.rawValue, module.belongings)
    }
    let result = await observed(module, step.rawValue, number, context.hive, options) {
      try await module.run(step, context)
    }
    if case .failure(let failure) = result { return failure }
    return nil
  }

  /// Makes the module of an entry.
  func make(
    _ entry: RegisteredEntry, _ hive: Hive
  ) async -> Result<RunningModule, ModuleFailure> {
    let belongings = Belongings()
    let number = states.withLock { $0.begin(entry, "make", belongings) }
    let made = await visit(
      entry, "make", number, belongings, within: options.timeLimit, failing: "could not be made:"
    ) {
      try RunningModule(entry, belongings, for: hive)
    }
    if case .failure = made { await withdraw(entry, belongings) }
    return made
  }

  /// Withdraws what a module registered.
  func withdraw(_ entry: RegisteredEntry, _ belongings: Belongings) async {
    let undos = belongings.close()
    guard let hive = context?.hive, !undos.isEmpty || belongings.hasEntries else { return }
    let number = states.withLock { $0.begin(entry, "withdraw", belongings) }
    _ = await visit(entry, "withdraw", number, belongings, within: nil) {
      for undo in undos { undo() }
      if belongings.hasEntries { hive.withdraw { $0.owner == ObjectIdentifier(belongings) } }
    }
  }

  /// Waits until nobody is inside a module that gets no more calls. Does not wait for calls that wait for the runner
  /// themselves, or that have reached their limit.
  func drain(_ module: RunningModule) async {
    let owner = ObjectIdentifier(module.belongings)
    await until { !$0.calls.values.contains { call in call.owner == owner && call.waits == 0 } }
  }

  /// Waits until no start or stop is under way, and returns true. Returns false at once if the caller is inside of one,
  /// or inside of one of these modules: then the wait would never end.
  func isAtRest(outside modules: [RegisteredEntry]) async -> Bool {
    let own = ownCalls
    let isFree = states.withLock { states in
      let calls = own.compactMap { states.calls[$0] }
      return !calls.contains { call in modules.contains { $0 === call.module } }
        && (own.isEmpty || states.isAtRest)
    }
    if isFree { await until(\.isAtRest) }
    return isFree
  }

  /// The numbers of the calls that the current task is part of.
  private var ownCalls: [UInt64] {
    Self.inside.filter { $0.runner == ObjectIdentifier(self) }.map(\.number)
  }

  /// Notes that the calls that the current task is part of begin or cease to wait for the runner.
  func wait(by step: Int) {
    let own = ownCalls
    update { states in
      for number in own { states.calls[number]?.waits += step }
    }
  }

  /// Returns when a condition holds. The runner has done nothing else since.
  func until(_ isOver: @escaping @Sendable (ModuleStates) -> Bool) async {
    while !states.withLock({ isOver($0) }) {
      await withCheckedContinuation { caller in update { $0.waiting.append((isOver, caller)) } }
    }
  }

  /// Changes the states, and resumes the callers that waited for the change.
  @discardableResult
  nonisolated func update<Result>(_ change: (inout ModuleStates) -> Result) -> Result {
    let (result, callers) = states.withLock { states in (change(&states), states.takeWaiting()) }
    for caller in callers { caller.resume() }
    return result
  }

  /// Calls a module within its time, and tells the profiler, the watchdog and the observers.
  private nonisolated(nonsending) func observed<Value: Sendable>(
    _ module: RunningModule, _ event: String, _ number: UInt64, _ hive: Hive,
    _ options: LaunchOptions, _ call: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, ModuleFailure> {
    let step = ModuleStep(module: module.name, event: event, number: number)
    let settings = hive.observers.tell(.stepBegan(step))
    let start = ContinuousClock.now
    let alarm = options.watchdog.map { threshold in
      Alarms.shared.set(after: threshold) {
        // On a thread of its own, because a module that blocks may block every thread of the pool. Without a thread,
        // the notice is dropped: the alarms of others do not wait for the observers.
        _ = POSIXThread.detach {
          hive.observers.tell(
            .moduleIsSlow(
              module: step.module, event: event, elapsed: start.duration(to: .now)))
        }
      }
    }
    let began = hive.profiler.begin(step.module, event)
    let result = await settings.during {
      await visit(module.entry, event, number, module.belongings, within: options.timeLimit, call)
    }
    let took = start.duration(to: .now)
    let failure: ModuleFailure? = if case .failure(let failure) = result { failure } else { nil }
    hive.profiler.end(began, isSuccess: failure == nil)
    if let alarm { Alarms.shared.cancel(alarm) }
    let isSlow = options.watchdog.map { took >= $0 } ?? false
    states.withLock { $0.times?.append((step.module, event, took, isSlow)) }
    hive.observers.tell(.stepEnded(step, took: took, failure: failure))
    return result
  }

  /// Runs a module's code on threads that it may block, within its time. The call stays listed until the code comes
  /// back, even if that is later.
  private nonisolated(nonsending) func visit<Value: Sendable>(
    _ entry: RegisteredEntry, _ event: String, _ number: UInt64, _ belongings: Belongings,
    within limit: Duration?, failing verb: String = "threw",
    _ work: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, ModuleFailure> {
    let visit = (runner: ObjectIdentifier(self), belongings: belongings, number: number)
    let place = limit.map { _ in Lock<ModuleThreads.Place?>(nil) }
    let result = await TimeLimit.run(limit) { [self] in
      place?.change { $0 = ModuleThreads.shared.place }
      defer { update { $0.calls[number] = nil } }
      return try await Self.$inside.withValue(Self.inside + [visit]) { try await work() }
    }
    switch result {
    case .success(let value): return .success(value)
    case .failure(let error as Problem) where error.code == .refused:
      return .failure(entry.failure(event, error.message))
    case .failure(let error):
      return .failure(entry.failure(event, "\(verb) \(error)", error: error))
    case nil:
      // Nobody waits for it any longer.
      update { $0.calls[number]?.waits += 1 }
      let function = place?.withLock(\.self).flatMap(ModuleThreads.shared.waiting).flatMap(
        entry.function)
      let seat = function.map { "; it is in \($0)" } ?? ""
      let reason = "did not finish within \(limit ?? .zero)\(seat)"
      return .failure(entry.failure(event, reason, isOverdue: true))
    }
  }
}

extension RegisteredEntry {
  /// Returns the function of its image that a thread waits in; nil if nobody can tell.
  fileprivate func function(of thread: WaitingThread) -> String? {
    guard case .image(let origin) = source, let bias else { return nil }
    let symbol = thread.function(in: origin.image, at: bias)
    return symbol.map { swiftName(ofSymbol: $0) ?? $0 }
  }
}
