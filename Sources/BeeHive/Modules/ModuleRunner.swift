internal import Threads

/// Starts modules and tears them down.
///
/// An actor, so that two starts or a start and a stop do not overlap; it is never blocked by a module,
/// which runs outside it. What a module asks for while it is being started (another module, the end)
/// is seen to as soon as its step is over; anybody else waits until it is done.
actor ModuleRunner {
  enum Phase { case idle, starting, running, stopping }

  /// The module that a task is inside of.
  struct Visit: Sendable {
    let runner: ObjectIdentifier
    let belongings: Belongings
  }

  /// What others may ask while the runner waits for a module.
  struct Progress: Sendable {
    struct Call: Sendable {
      let module: String
      let event: String
      let start = ContinuousClock.now
    }

    /// The calls of modules that have not come back, in order; also those that are overdue.
    private(set) var calls: [UInt64: Call] = [:]
    private var last: UInt64 = 0
    /// Whether what is started is to end, as soon as the step that is under way is over.
    var isStopRequested = false
    /// What went wrong in the stop that is under way.
    var failures: [ModuleFailure] = []
    /// How long the calls took of the start that is under way; nil while there is none.
    var times: [LaunchReport.Time]?

    mutating func begin(_ module: String, _ event: String) -> UInt64 {
      last += 1
      calls[last] = Call(module: module, event: event)
      return last
    }

    mutating func end(_ number: UInt64) { calls[number] = nil }
  }

  /// The modules that the current task is inside of, the innermost last: waiting for one of their
  /// runners would never end.
  @TaskLocal static var inside: [Visit] = []

  var phase = Phase.idle
  /// Where each module is in its life. Its lock is never held together with that of `progress`.
  let states = Lock(ModuleStates())
  var context: Context?
  var options = LaunchOptions()
  /// What went wrong in the current advance.
  var failures: [ModuleFailure] = []
  var report = LaunchReport()
  let progress = Lock(Progress())
  private var isAdvancing = false
  /// How many removals are under way: a stop is over after them.
  private var removals = 0
  private var stopCount = 0
  private var stopFailures: [ModuleFailure] = []
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// The names of the modules that live, in order.
  var names: [String] { states.withLock { $0.running.map(\.node.name) } }

  var isStopRequested: Bool { progress.withLock { $0.isStopRequested } }

  /// What belongs to the module of this runner that the current task is inside of.
  nonisolated var belongings: Belongings? {
    Self.inside.last { $0.runner == ObjectIdentifier(self) }?.belongings
  }

  var isInside: Bool { belongings != nil }

  /// What went wrong in the stop that is under way, and the modules that have not come back.
  nonisolated var unfinished: (failures: [ModuleFailure], hanging: [Watchdog.Finding]) {
    let progress = progress.withLock { $0 }
    let calls = progress.calls.sorted { $0.key < $1.key }.map(\.value)
    return (
      progress.failures,
      calls.map { call in
        Watchdog.Finding(
          module: call.module, event: call.event, elapsed: call.start.duration(to: .now))
      }
    )
  }

  /// Starts modules in order. A Hive that runs already answers with the report of its start.
  func start(
    _ context: Context, _ options: LaunchOptions
  ) async throws(LaunchError) -> LaunchReport {
    while phase == .starting || phase == .stopping {
      if isInside { throw LaunchError(interruption: .calledByModule) }
      await change()
    }
    if phase == .running { return report }
    phase = .starting
    states.withLock { ($0.failedStart, $0.phase) = (nil, .starting) }
    ForkedChild.watch()
    self.context = context
    self.options = options
    report = LaunchReport()
    progress.withLock { ($0.times, $0.isStopRequested) = ([], false) }
    context.hive.state.withLock { state in
      state.disabled = options.disabled
      state.context = context
    }
    await withTaskCancellationHandler {
      _ = await advance(context.hive)
    } onCancel: { [progress] in
      progress.withLock { $0.isStopRequested = true }
    }
    report.failures = failures
    report.times = progress.withLock { $0.times.take() } ?? []
    let isRefused = options.onFailure == .stop && !report.isClean
    if isRefused || isStopRequested {
      let (failures, isStopped) = (failures, isStopRequested)
      let further = await tearDown(after: isStopped ? nil : ModuleStates.FailedStart(report))
      throw LaunchError(
        order: report.order, failures: failures + further, interruption: isStopped ? .stopped : nil)
    }
    report.started = names
    phase = .running
    wake()
    context.hive.observers.tell(.started(report))
    return report
  }

  /// Starts what came after the others; what went wrong, and what is in the way.
  ///
  /// Whatever comes during a start, or from inside a module that is being started, is part of that.
  func startLatecomers() async -> (failures: [ModuleFailure], order: LaunchOrder) {
    while isAdvancing || phase == .stopping {
      if isInside { return ([], LaunchOrder([])) }
      await change()
    }
    guard phase == .running, let hive = context?.hive else { return ([], LaunchOrder([])) }
    let order = await advance(hive)
    let failures = failures
    if isStopRequested { await tearDown() }
    wake()
    return (failures, order)
  }

  /// Tears everything down in reverse order; the modules that failed to.
  func stop(_ hive: Hive) async -> [ModuleFailure] {
    if phase == .idle {
      if !isInside { await takeBack(hive) }
      return []
    }
    if phase == .running, !isAdvancing { return await tearDown() }
    if phase != .stopping { progress.withLock { $0.isStopRequested = true } }
    if isInside { return [] }
    let count = stopCount
    while stopCount == count { await change() }
    return stopFailures
  }

  /// Returns when nothing runs any more.
  func untilIdle() async { while phase != .idle { await change() } }

  /// Launches whatever is bound, can be ordered and has not been tried: again, while more comes.
  @discardableResult
  private func advance(_ hive: Hive) async -> LaunchOrder {
    isAdvancing = true
    failures = []
    var order = LaunchOrder([])
    while !isOver {
      let batch = hive.launchBatch(after: states.withLock { $0 })
      order.append(batch.order)
      states.withLock { $0.obstacles = batch.order.obstacles }
      hive.publishStages()
      if phase == .starting {
        report.order.append(batch.order)
        report.disabled = batch.declared.disabled
        report.remarks = hive.switchedOffInVain()
        report.unbound = batch.declared.unbound
        if options.onFailure == .stop, !batch.order.problems.isEmpty { break }
      }
      if batch.order.modules.isEmpty { break }
      await launch(batch, hive)
    }
    isAdvancing = false
    states.withLock { $0.phase = .started }
    hive.publishStages()
    return order
  }

  /// Undoes everything; `failedStart` says why the start was given up, if it was.
  @discardableResult
  private func tearDown(
    after failedStart: ModuleStates.FailedStart? = nil
  ) async -> [ModuleFailure] {
    // A start that failed leaves what the host was given.
    let isEnd = phase == .running || isStopRequested
    phase = .stopping
    states.withLock { $0.phase = .idle }
    // A task of its own: a caller that stops the Hive because it was cancelled still stops it in order.
    await Task(executorPreference: ModuleThreads.shared) { await self.undoAll() }.value
    while removals > 0 { await change() }
    if isEnd, let hive = context?.hive { await takeBack(hive) }
    states.withLock { $0 = ModuleStates(after: failedStart, obstacles: $0.obstacles) }
    context?.hive.publishStages()
    let failures = progress.withLock { progress in
      progress.isStopRequested = false
      return progress.failures
    }
    stopFailures = failures
    stopCount += 1
    context?.hive.state.withLock { $0.context = nil }
    phase = .idle
    wake()
    context?.hive.observers.tell(.stopped(failures: failures))
    context = nil
    return failures
  }

  func isRunning(_ module: RunningModule) -> Bool { states.withLock { $0.isRunning(module) } }

  /// Changes the state of a module. Returns false where it was unregistered: then it is undone by who is inside it.
  func set(_ module: RegisteredEntry, _ state: ModuleStates.State) -> Bool {
    let isSet = states.withLock { $0.set(module.order, state) }
    if phase != .stopping { context?.hive.publishStage(of: module) }
    return isSet
  }

  /// Has the Hive take back what C libraries handed out, which runs their code.
  private func takeBack(_ hive: Hive) async {
    await Task(executorPreference: ModuleThreads.shared) { hive.takeBack() }.value
  }

  /// Removes modules, however far they are. Returns what went wrong.
  @discardableResult
  func remove(_ ids: Set<UInt64>) async -> [ModuleFailure] {
    removals += 1
    defer {
      removals -= 1
      wake()
    }
    var failures: [ModuleFailure] = []
    let order = tearDownOrder
    for (module, next) in states.withLock({ $0.remove(ids, inOrder: order) }) {
      failures += await undo(module, before: next)
    }
    return failures
  }

  private func change() async { await withCheckedContinuation { waiting.append($0) } }

  private func wake() {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}

/// Where modules run: threads that they may block, so that those of the concurrency runtime's pool stay
/// free.
///
/// A task that prefers it, and the tasks of its groups, run here wherever nothing else is said; what
/// belongs to the main actor runs there. `Task { }` inside of it begins a task on the pool.
final class ModuleThreads: TaskExecutor {
  static let shared = ModuleThreads()
  private let threads = ThreadPool()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = threads.run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    // Without a thread to spare, on the pool.
    if !isTaken { globalConcurrentExecutor.enqueue(job) }
  }
}
