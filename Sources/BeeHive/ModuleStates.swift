/// The state of every module that was tried, until the Hive is stopped.
///
/// Only the runner changes the states, under a lock. Reports and events read them without waiting for the runner.
struct ModuleStates: Sendable {
  enum State: Sendable {
    /// The module is being made (`isInside`), or was made and waits for its `setUp`.
    case made(isInside: Bool)
    /// It runs: `next` is the next step to finish, and `isInside` says that the step is running now.
    case running(RunningModule, next: RunningModule.Step, isInside: Bool)
    /// The module did not come back in time and is not called again. Modules that require it start.
    case overdue(RunningModule)
    /// It was left out.
    case failed(ModuleFailure)
    /// It was unregistered.
    case gone
  }

  /// The phase of the Hive. Outside of a run, reports tell only of modules that are switched off and of a failed start.
  enum Phase {
    case idle
    case starting
    case running
    /// It runs, and modules that came late are being started.
    case advancing
    case stopping
  }

  /// A call of a module; `owner` identifies its `Belongings`. `waits` counts the starts, removals and stops that the
  /// call waits for, plus one once it has reached its limit. Draining a module skips calls that wait.
  typealias Call = (
    module: RegisteredEntry, event: String, owner: ObjectIdentifier,
    start: ContinuousClock.Instant, waits: Int
  )

  /// A caller that waits until a condition holds.
  typealias Waiting = (
    isOver: @Sendable (ModuleStates) -> Bool, caller: CheckedContinuation<Void, Never>
  )

  var phase = Phase.idle
  /// Whether no start or stop is under way.
  var isAtRest: Bool { phase == .idle || phase == .running }
  /// Whether to stop as soon as the step that is under way is over.
  var isStopRequested = false
  /// Whether somebody has stopped the idle Hive: a run that begins now ends at once.
  var isStoppedAhead = false
  /// The reason that each module could not be ordered the last time, by name.
  var obstacles: [String: String] = [:]
  /// The failures of the last stop, or of the one that is under way.
  var stopFailures: [ModuleFailure] = []
  /// The times of the calls of the start that is under way; nil if there is none.
  var times: [(module: String, step: String, took: Duration, isSlow: Bool)]?
  /// The report of the last start if it failed; nil once the next start begins.
  private var failedStart: LaunchReport?
  private var states: [UInt64: State] = [:]
  /// The modules, the earliest tried first.
  private var order: [UInt64] = []
  /// The names of failed modules, unless a module of that name has been set up since.
  private(set) var failedNames: Set<String> = []
  /// The first failure in the start of each module, whatever the policy.
  private var firstFailures: [UInt64: ModuleFailure] = [:]
  /// The calls that have not come back, by number, including overdue ones.
  var calls: [UInt64: Call] = [:]
  private var lastCall: UInt64 = 0
  /// The number of removals that are under way; a stop waits for them.
  var removals = 0
  /// The number of stops that are over.
  private(set) var stopCount = 0
  var waiting: [Waiting] = []

  // MARK: The Hive

  /// Begins a start. Returns false if it is the start of a run that was stopped in advance.
  mutating func beginStart(ofRun isRun: Bool) -> Bool {
    defer { isStoppedAhead = false }
    if isRun, isStoppedAhead { return false }
    (phase, failedStart, isStopRequested, times) = (.starting, nil, false, [])
    return true
  }

  mutating func beginStop() { (phase, stopFailures) = (.stopping, []) }

  /// Returns the failures of those of `modules` that were left out.
  func failures(of modules: [RegisteredEntry]) -> [ModuleFailure] {
    modules.compactMap { if case .failed(let failure) = states[$0.order] { failure } else { nil } }
  }

  /// Forgets all modules; `failedStart` is the start that was given up, if one was. Returns the failures.
  mutating func endStop(after failedStart: LaunchReport?) -> [ModuleFailure] {
    (phase, isStopRequested, self.failedStart) = (.idle, false, failedStart)
    (states, order, failedNames, firstFailures) = ([:], [], [], [:])
    stopCount += 1
    return stopFailures
  }

  // MARK: Calls

  /// Notes that a module is called. Returns the number of the call.
  mutating func begin(
    _ module: RegisteredEntry, _ event: String, _ belongings: Belongings
  ) -> UInt64 {
    lastCall += 1
    calls[lastCall] = (module, event, ObjectIdentifier(belongings), .now, waits: 0)
    return lastCall
  }

  /// Notes that a module handles an event. Returns nil if the module gets no events now.
  mutating func begin(_ event: Event, in module: RunningModule) -> UInt64? {
    hears(module) ? begin(module.entry, event.name, module.belongings) : nil
  }

  /// Returns the callers that need not wait any more, and forgets them.
  mutating func takeWaiting() -> [CheckedContinuation<Void, Never>] {
    guard !waiting.isEmpty else { return [] }
    let over = waiting.indices.filter { waiting[$0].isOver(self) }
    defer { for index in over.reversed() { waiting.remove(at: index) } }
    return over.map { waiting[$0].caller }
  }

  /// Returns the modules that have not come back from the chosen calls, the earliest call first.
  func hanging(
    in isMeant: (Call) -> Bool = { _ in true }
  ) -> [(module: String, event: String, elapsed: Duration)] {
    calls.sorted { $0.key < $1.key }.map(\.value).filter(isMeant).map { call in
      (module: call.module.name, event: call.event, elapsed: call.start.duration(to: .now))
    }
  }

  // MARK: Modules

  /// A copy without shared storage, to read while others change the states. ThreadSanitizer does not understand how
  /// Swift counts references to shared storage.
  var copied: ModuleStates {
    var copy = self
    (copy.states, copy.firstFailures) = (states.mapValues { $0 }, firstFailures.mapValues { $0 })
    (copy.failedNames, copy.obstacles) = (
      failedNames.filter { _ in true }, obstacles.mapValues { $0 }
    )
    return copy
  }

  /// The state of a module, by the order of its entry; nil if the module was not tried.
  subscript(id: UInt64) -> State? { states[id] }

  /// Changes the state of a module. Returns false if the module was unregistered; then the state stays.
  mutating func set(_ id: UInt64, _ state: State) -> Bool {
    switch states[id] {
    case .gone: return false
    case .failed(let failure): failedNames.remove(failure.module)
    case nil: order.append(id)
    default: break
    }
    switch state {
    case .failed(let failure): failedNames.insert(failure.module)
    case .running(let module, .initialize, _): failedNames.remove(module.name)
    default: break
    }
    states[id] = state
    return true
  }

  /// Ends a step of a module's start. Returns nil if the start goes on. If the module was left out or unregistered,
  /// returns the step that would come next: the steps before it must be undone.
  mutating func end(
    _ step: RunningModule.Step, of module: RunningModule, _ failure: ModuleFailure?,
    _ policy: FailurePolicy
  ) -> (step: RunningModule.Step, isUnregistered: Bool)? {
    firstFailures[module.id] = firstFailures[module.id] ?? failure
    // A module that still runs is not called again, whatever the policy.
    let isOverdue = failure?.isOverdue == true
    let isThrough = failure == nil || policy == .continue
    let next = isOverdue ? RunningModule.Step.setUp : isThrough ? step.next : step
    let isLeftOut = !isThrough && (policy == .skip || isOverdue)
    let state: State
    if isLeftOut, let failure {
      state = .failed(failure)
    } else {
      state = isOverdue ? .overdue(module) : .running(module, next: next, isInside: false)
    }
    let isSet = set(module.id, state)
    if isSet, !isLeftOut { return nil }
    return (next, !isSet)
  }

  /// The running modules, in the order of their start.
  var running: [RunningModule] {
    order.compactMap { if case .running(let module, _, _) = states[$0] { module } else { nil } }
  }

  /// The modules that are overdue, the latest registered first.
  var overdue: [RunningModule] {
    let modules = order.compactMap { id -> RunningModule? in
      if case .overdue(let module) = states[id] { module } else { nil }
    }
    return modules.sorted { $0.id > $1.id }
  }

  /// The running modules, each after the modules that require it, follow it or were registered by it.
  ///
  /// That is the reverse order of their start, except for modules that were registered again since.
  var tearDownOrder: [RunningModule] {
    let running = running
    var needing: [String: [RunningModule]] = [:]
    let owners = Dictionary(
      running.map { (ObjectIdentifier($0.belongings), $0.name) },
      uniquingKeysWith: { first, _ in first })
    for module in running.reversed() {
      for name in module.entry.attributes.predecessors { needing[name, default: []].append(module) }
      if let owner = module.entry.owner.flatMap({ owners[$0] }) {
        needing[owner, default: []].append(module)
      }
    }
    var order: [RunningModule] = []
    var seen: Set<UInt64> = []
    func visit(_ module: RunningModule) {
      guard seen.insert(module.id).inserted else { return }
      for other in needing[module.name] ?? [] { visit(other) }
      order.append(module)
    }
    for module in running.reversed() { visit(module) }
    return order
  }

  func isRunning(_ module: RunningModule) -> Bool {
    if case .running = states[module.id] { true } else { false }
  }

  /// Returns whether a module gets events: it has been set up, and its `tearDown` has not begun.
  func hears(_ module: RunningModule) -> Bool {
    switch states[module.id] {
    case .running(_, .initialize, _), .running(_, .splash, _), .running(_, .tearDown, false): true
    default: false
    }
  }

  /// Takes modules out. Returns those to undo, each with the step that would have come next. A module that is inside a
  /// step is left to the caller of that step.
  mutating func remove(
    _ ids: Set<UInt64>
  ) -> [(RunningModule, RunningModule.Step)] {
    var removed: [(RunningModule, RunningModule.Step)] = []
    for module in overdue + tearDownOrder where ids.contains(module.id) {
      switch states[module.id] {
      case .overdue: removed.append((module, .setUp))
      case .running(_, let next, isInside: false): removed.append((module, next))
      default: break
      }
    }
    for id in ids {
      switch states[id] {
      // The caller that runs or undoes the module forgets it afterwards.
      case .made(isInside: true), .running, .overdue: _ = set(id, .gone)
      case .made, .failed: forget(id)
      case .gone, nil: break
      }
    }
    return removed
  }

  /// Forgets an unregistered module that nobody calls or undoes any more.
  mutating func forget(_ id: UInt64) {
    _ = set(id, .gone)
    (states[id], firstFailures[id]) = (nil, nil)
    order.removeAll { $0 == id }
  }
}

extension ModuleStates {
  /// The stage of a module that has no obstacle and was not tried.
  var untried: ModuleStage? {
    switch phase {
    case .idle, .stopping: nil
    case .starting: .waiting
    case .running, .advancing: .late
    }
  }

  /// Returns the stage of a module and its reason. Returns nil while the Hive does not run, unless the module is
  /// switched off or the start has failed. `obstacles` are the reasons that modules cannot be ordered, by name.
  func stage(
    of entry: RegisteredEntry, _ obstacles: [String: String], switchedOff: Set<String>
  ) -> ModuleStage? {
    guard entry.kind == .module else { return nil }
    if switchedOff.contains(entry.name) { return .disabled }
    if phase == .idle || phase == .stopping {
      guard let failedStart else { return nil }
      if let own = failedStart.failures.first(where: { $0.module == entry.name }) {
        return ModuleStage(own)
      }
      let cause = failedStart.order.problems.first ?? failedStart.failures.first?.description ?? ""
      return ModuleStage(
        .notStarted, obstacles[entry.name] ?? "the start was given up: \(cause)".escaped)
    }
    let failure = firstFailures[entry.order]?.stepAndCause
    switch states[entry.order] {
    case .made(let isInside):
      return ModuleStage(.starting, isInside ? "it is being made" : "it waits for its setUp")
    case .running(_, let step, let isInside) where step.isOfStart:
      let waits = failure ?? "it waits for its \(step)"
      return ModuleStage(.starting, isInside ? "it is in \(step)" : waits)
    case .running:
      return ModuleStage(.started, failure.map { "\($0); it counts as started all the same" })
    case .overdue: return firstFailures[entry.order].map { ModuleStage($0) }
    case .failed(let failure): return ModuleStage(failure)
    case .gone, nil: return obstacles[entry.name].map { ModuleStage(.notStarted, $0) } ?? untried
    }
  }
}

extension ModuleStage {
  fileprivate init(_ failure: ModuleFailure) { self.init(.failed, failure.stepAndCause) }
}
