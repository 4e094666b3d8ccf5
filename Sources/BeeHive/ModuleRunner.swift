internal import Threads

/// Starts modules and tears them down.
///
/// An actor, so that two starts or a start and a stop do not overlap. Modules run outside of it and never block it. A
/// request of a starting module (for another module, for the end) is served as soon as its step is over. Any other
/// caller waits until the start is done.
actor ModuleRunner {
  /// The module that a task is inside of, and the number of the call.
  typealias Visit = (runner: ObjectIdentifier, belongings: Belongings, number: UInt64)

  /// The modules that the current task is inside of, the innermost last. Waiting for one of their runners would never
  /// end.
  @TaskLocal static var inside: [Visit] = []

  /// The phase of the Hive and the state of each module. Only the runner changes it.
  let states = Lock(ModuleStates())
  /// The report of the last start.
  private(set) var report = LaunchReport()
  private(set) var context: Context?
  private(set) var options = LaunchOptions()
  /// The failures of the current advance.
  private var failures: [ModuleFailure] = []

  private var phase: ModuleStates.Phase {
    get { states.withLock { $0.phase } }
    set { update { $0.phase = newValue } }
  }

  var isStopRequested: Bool { states.withLock { $0.isStopRequested } }

  /// The names of the running modules, in order.
  var names: [String] { states.withLock { $0.running.map(\.name) } }

  /// The belongings of this runner's module that the current task is inside of.
  nonisolated var belongings: Belongings? {
    Self.inside.last { $0.runner == ObjectIdentifier(self) }?.belongings
  }

  private var isInside: Bool { belongings != nil }

  // MARK: Starting

  /// Starts modules in order, for a run or not. A Hive that runs already answers with the report of its start.
  func start(
    _ context: Context?, _ options: LaunchOptions, of hive: Hive, isRun: Bool
  ) async throws(LaunchError) -> LaunchReport {
    var context = context ?? Context(hive: hive)
    context.hive = hive
    if isInside, isRun || phase == .starting || phase == .stopping {
      throw LaunchError(interruption: .calledInside)
    }
    await until { $0.phase != .starting && $0.phase != .stopping }
    if phase != .idle { return report }
    guard states.withLock({ $0.beginStart(ofRun: isRun) }) else {
      throw LaunchError(interruption: .stopped)
    }
    self.context = context
    self.options = options
    report = LaunchReport()
    context.hive.state.withLock { state in
      state.disabled = options.disabled
      state.context = context
    }
    await withTaskCancellationHandler {
      _ = await advance(context.hive)
    } onCancel: { [states] in
      states.withLock { $0.isStopRequested = true }
    }
    report.failures = failures
    report.times = states.withLock { $0.times.take() } ?? []
    let isRefused = options.onFailure == .stop && !report.isClean
    if isRefused || isStopRequested {
      let (failures, isStopped) = (failures, isStopRequested)
      let further = await tearDown(after: isStopped ? nil : report)
      throw LaunchError(
        order: report.order, failures: failures + further,
        interruption: isStopped ? .stopped : nil)
    }
    report.started = names
    phase = .running
    publishStages(of: context.hive)
    context.hive.observers.tell(.started(report))
    return report
  }

  /// Starts latecomers. Returns the failures, and the order with its obstacles.
  ///
  /// Modules that come during a start, or from inside a module that is being started, are part of that start.
  func startLatecomers() async -> (failures: [ModuleFailure], order: LaunchOrder) {
    if isInside, phase != .idle, phase != .running { return ([], LaunchOrder([])) }
    await until(\.isAtRest)
    guard phase == .running, let hive = context?.hive else { return ([], LaunchOrder([])) }
    phase = .advancing
    wait(by: 1)
    defer { wait(by: -1) }
    let order = await advance(hive)
    let failures = failures
    phase = .running
    if isStopRequested { await tearDown() }
    return (failures, order)
  }

  /// Launches every module that is bound, can be ordered and has not been tried; again, while more come.
  private func advance(_ hive: Hive) async -> LaunchOrder {
    failures = []
    var order = LaunchOrder([])
    while !isOver {
      hive.bindUnbound()
      let (next, modules) = states.withLock(\.copied).launchable(of: hive)
      order.append(next.order)
      states.withLock { $0.obstacles = order.obstacles }
      publishStages(of: hive)
      if phase == .starting {
        report = next
        report.order = order
        if options.onFailure == .stop, !order.problems.isEmpty { break }
      }
      if modules.isEmpty { break }
      await launch(modules, hive)
    }
    return order
  }

  /// The reaction to a module that fails: a late one does not take the others with it.
  private var policy: FailurePolicy {
    phase == .advancing && options.onFailure == .stop ? .skip : options.onFailure
  }

  /// Whether nothing more is to be started.
  private var isOver: Bool { isStopRequested || (policy == .stop && !failures.isEmpty) }

  /// Makes modules and takes them through the three steps.
  private func launch(_ entries: [RegisteredEntry], _ hive: Hive) async {
    var modules: [RunningModule] = []
    for entry in entries where !isOver {
      guard set(entry, .made(isInside: true)) else { continue }
      switch await make(entry, hive) {
      case .success(let module):
        modules.append(module)
        if !set(entry, .made(isInside: false)) { states.withLock { $0.forget(module.id) } }
      case .failure(let failure):
        leaveOut(entry, failure)
      }
    }
    for module in modules where !isOver {
      if !hive.isRegistered(module.entry) {
        await withdraw(module.entry, module.belongings)
      } else if await isAdmitted(module, .setUp) {
        await take(.setUp, module)
      }
    }
    await initialize(modules)
    for module in modules where !isOver && isRunning(module) { await take(.splash, module) }
  }

  /// Initializes one module after another. Concurrent modules run at the same time as others; the modules that start
  /// after one of them wait for it.
  private func initialize(_ modules: [RunningModule]) async {
    let earlierFailures = failures.count
    var running: [String: Task<Void, Never>] = [:]
    for module in modules where !isOver {
      let before = module.entry.attributes.predecessors.compactMap { running[$0] }
      if module.isConcurrent {
        running[module.name] = Task(executorPreference: ModuleThreads.shared) {
          for task in before { await task.value }
          await self.initialize(module)
        }
      } else {
        for task in before { await task.value }
        await initialize(module)
      }
    }
    for task in running.values { await task.value }
    // In the modules' order, whichever was faster.
    let places = Dictionary(
      modules.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    failures[earlierFailures...].sort { places[$0.module] ?? 0 < places[$1.module] ?? 0 }
  }

  private func initialize(_ module: RunningModule) async {
    guard !isOver, isRunning(module), await isAdmitted(module, .initialize) else { return }
    await take(.initialize, module)
  }

  /// Returns true unless a requirement of the module has failed to start. Then leaves the module out.
  private func isAdmitted(_ module: RunningModule, _ step: RunningModule.Step) async -> Bool {
    let missing = states.withLock { states in
      module.entry.attributes.requiredNames.first(where: states.failedNames.contains)
    }
    guard let missing else { return true }
    leaveOut(
      module.entry, module.entry.failure(step.rawValue, "skipped, because \(missing) failed"))
    failures += await undo(module, before: step)
    return false
  }

  private func leaveOut(_ module: RegisteredEntry, _ failure: ModuleFailure) {
    failures.append(failure)
    _ = set(module, .failed(failure))
    context?.hive.observers.tell(.moduleLeftOut(failure))
  }

  /// Takes a module through a step of its start, and acts on the outcome.
  private func take(_ step: RunningModule.Step, _ module: RunningModule) async {
    guard set(module.entry, .running(module, next: step, isInside: true)) else { return }
    let failure = await attempt(step, module)
    if let failure { failures.append(failure) }
    let policy = policy
    let undoing = states.withLock { $0.end(step, of: module, failure, policy) }
    publishStage(of: module.entry)
    guard let undoing else { return }
    let further = await undo(module, before: undoing.step)
    if undoing.isUnregistered {
      states.withLock { $0.forget(module.id) }
    } else {
      failures += further
    }
  }

  // MARK: Stopping

  /// Tears everything down in reverse order. Returns the failures.
  ///
  /// If nothing runs, a run that begins next ends at once, unless a run itself has called this.
  func stop(_ hive: Hive, ofRun isRun: Bool = false) async -> [ModuleFailure] {
    switch phase {
    case .idle:
      states.withLock { $0.isStoppedAhead = !isRun }
      if !isInside { await takeBack(hive) }
      return []
    case .running where isInside && states.withLock { $0.removals > 0 }:
      // The removal that the caller may be part of ends first.
      _ = Self.$inside.withValue([]) {
        Task(executorPreference: ModuleThreads.shared) { await self.stop(hive, ofRun: isRun) }
      }
      return []
    case .running: return await tearDown()
    case .starting, .advancing: states.withLock { $0.isStopRequested = true }
    case .stopping: break
    }
    if isInside { return [] }
    let count = states.withLock { $0.stopCount }
    await until { $0.stopCount != count }
    return states.withLock { $0.stopFailures }
  }

  /// Undoes everything; `failedStart` is the start that was given up, if one was.
  @discardableResult
  private func tearDown(
    after failedStart: LaunchReport? = nil
  ) async -> [ModuleFailure] {
    // A failed start leaves the instances that the host has got.
    let isEnd = phase == .running || isStopRequested
    wait(by: 1)
    defer { wait(by: -1) }
    states.withLock { $0.beginStop() }
    // A task of its own: a caller that stops the Hive because it was cancelled still stops it in order.
    await Task(executorPreference: ModuleThreads.shared) { await self.undoAll() }.value
    await until { $0.removals == 0 }
    if isEnd, let hive = context?.hive { await takeBack(hive) }
    let failures = update { $0.endStop(after: failedStart) }
    let hive = context.take()?.hive
    if let hive { publishStages(of: hive) }
    hive?.state.withLock { $0.context = nil }
    hive?.observers.tell(.stopped(failures: failures))
    return failures
  }

  /// Undoes the steps of every module, each module after those that need it.
  private func undoAll() async {
    let modules = states.withLock(\.tearDownOrder)
    for module in modules { await undo(.tearDown, module) }
    for module in modules where isRunning(module) {
      await undo(.unmount, module)
      await withdraw(module.entry, module.belongings)
    }
    for module in states.withLock({ $0.overdue }) {
      await withdraw(module.entry, module.belongings)
    }
  }

  /// Takes a running module through a step that undoes, if that step comes next.
  private func undo(_ step: RunningModule.Step, _ module: RunningModule) async {
    guard case .running(_, let next, _) = states.withLock({ $0[module.id] }),
      next.undoing.first == step,
      set(module.entry, .running(module, next: step, isInside: true))
    else { return }
    await drain(module)
    let failure = await attempt(step, module)
    let last = failure?.isOverdue == true ? RunningModule.Step.setUp : step.next
    var failures = failure.map { [$0] } ?? []
    if !set(module.entry, .running(module, next: last, isInside: false)) {
      // It was unregistered meanwhile.
      failures += await undo(module, before: last)
    }
    states.withLock { $0.stopFailures += failures }
  }

  /// Undoes the steps of a module before `next`, once it no longer counts as running, and withdraws its registrations.
  /// Returns the failures.
  private func undo(
    _ module: RunningModule, before next: RunningModule.Step
  ) async -> [ModuleFailure] {
    await drain(module)
    var failures: [ModuleFailure] = []
    // Modules that it registered go with it.
    let owner = ObjectIdentifier(module.belongings)
    if module.belongings.hasEntries,
      let owned = context?.hive.withdraw(where: { $0.kind == .module && $0.owner == owner })
    {
      failures += await remove(Set(owned.map(\.order)))
    }
    for step in next.undoing {
      guard let failure = await attempt(step, module) else { continue }
      failures.append(failure)
      if failure.isOverdue { break }
    }
    await withdraw(module.entry, module.belongings)
    return failures
  }

  /// Removes modules in any state. Returns the failures.
  @discardableResult
  func remove(_ ids: Set<UInt64>) async -> [ModuleFailure] {
    wait(by: 1)
    update { $0.removals += 1 }
    defer {
      wait(by: -1)
      update { $0.removals -= 1 }
    }
    var failures: [ModuleFailure] = []
    for (module, next) in states.withLock({ $0.remove(ids) }) {
      failures += await undo(module, before: next)
      states.withLock { $0.forget(module.id) }
    }
    return failures
  }

  /// Ends the instances that the Hive keeps. Runs foreign code.
  private func takeBack(_ hive: Hive) async {
    // Marked as inside, like a step, so that calls that would wait for the runner are refused.
    let visit = (ObjectIdentifier(self), Belongings(), UInt64.max)
    await Task(executorPreference: ModuleThreads.shared) {
      Self.$inside.withValue(Self.inside + [visit]) { endInstances(of: hive) }
    }.value
  }

  // MARK: States

  private func isRunning(_ module: RunningModule) -> Bool {
    states.withLock { $0.isRunning(module) }
  }

  /// Changes the state of a module. Returns false if it was unregistered: then the caller inside it undoes it.
  private func set(_ module: RegisteredEntry, _ state: ModuleStates.State) -> Bool {
    let isSet = states.withLock { $0.set(module.order, state) }
    publishStage(of: module)
    return isSet
  }

  /// Writes the stage of a module that is not switched off to the state record.
  private func publishStage(of module: RegisteredEntry) {
    guard phase != .stopping, let hive = context?.hive else { return }
    let stage = states.withLock { $0.stage(of: module, [:], switchedOff: []) }
    hive.state.withLock { _ in module.publish(stage) }
  }

  /// Writes the stages of all modules to the state record.
  private func publishStages(of hive: Hive) {
    let (states, switchedOff) = (states.withLock(\.copied), hive.switchedOff)
    hive.state.withLock { state in
      state.table.publish(arrival: states.untried, switchedOff: switchedOff) { module in
        states.stage(of: module, states.obstacles, switchedOff: switchedOff)
      }
    }
  }
}
