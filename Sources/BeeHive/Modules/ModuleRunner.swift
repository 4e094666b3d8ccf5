internal import Threads

/// Starts modules and tears them down: who lives, how far each got, and who waits for that.
///
/// An actor, so that two starts or a start and a stop do not overlap; it is never blocked by a module,
/// which runs outside it. What a module asks for while it is being started (another module, the end)
/// is seen to as soon as its step is over; anybody else waits until it is done.
actor ModuleRunner {
  enum Phase { case idle, starting, running, stopping }

  /// How far a module got, and what has to be undone therefore.
  enum Stage { case setUp, initialized, tornDown }

  /// The runners whose modules the current task is inside of: waiting for one would never end.
  @TaskLocal static var inside: [ObjectIdentifier] = []

  var phase = Phase.idle
  /// Whoever lives, in the order in which they were started.
  var living: [LivingModule] = []
  var stages: [UInt64: Stage] = [:]
  /// The modules that are inside a step of their start.
  var busy: Set<UInt64> = []
  /// The entries that were made or could not be, so that none is started twice.
  var tried: Set<UInt64> = []
  /// The names that failed to start.
  var fallen: Set<String> = []
  /// Those that count as started though they have not come back in time, and are called no more.
  var overdue: [UInt64: String] = [:]
  var context: Context?
  var options = LaunchOptions()
  var isStopRequested = false
  /// What went wrong in the current advance.
  var failures: [ModuleFailure] = []
  var report = LaunchReport()
  private var isAdvancing = false
  private var stopCount = 0
  private var stopFailures: [ModuleFailure] = []
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// The names of the modules that live, in order.
  var names: [String] { living.map(\.node.name) }

  var isInside: Bool { Self.inside.contains(ObjectIdentifier(self)) }

  /// Starts modules in order. A Hive that runs already answers with the report of its start.
  func start(
    _ context: Context, _ options: LaunchOptions
  ) async throws(LaunchError) -> LaunchReport {
    while phase == .starting || phase == .stopping {
      if isInside { throw LaunchError(interruption: .calledByModule) }
      await change()
    }
    if phase == .running { return report }
    do throws(ValidationError) { try context.hive.checkIfStrict() } catch {
      throw LaunchError(refusal: error)
    }
    phase = .starting
    self.context = context
    self.options = options
    report = LaunchReport()
    context.hive.state.withLock { $0.disabled = options.disabled }
    isStopRequested = Task.isCancelled
    let count = stopCount
    await withTaskCancellationHandler {
      _ = await advance(context.hive)
    } onCancel: {
      Task { await self.endStart(count) }
    }
    report.failures = failures
    let isRefused = options.onFailure == .stop && !report.isClean
    if isRefused || isStopRequested {
      let error = LaunchError(
        order: report.order, failures: failures, interruption: isStopRequested ? .stopped : nil)
      await tearDown()
      throw error
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
  func stop() async -> [ModuleFailure] {
    if phase == .idle { return [] }
    if phase == .running, !isAdvancing { return await tearDown() }
    isStopRequested = phase != .stopping
    if isInside { return [] }
    let count = stopCount
    while stopCount == count { await change() }
    return stopFailures
  }

  /// Ends the start that is under way, if it still is the one that came after so many stops.
  private func endStart(_ count: Int) {
    if phase == .starting, stopCount == count { isStopRequested = true }
  }

  /// Returns when nothing runs any more.
  func untilIdle() async { while phase != .idle { await change() } }

  /// Takes modules out, wherever they are in their lives.
  func remove(_ ids: Set<UInt64>) async {
    for id in ids { overdue[id] = nil }
    for module in living.reversed() where ids.contains(module.id) {
      living.removeAll { $0.id == module.id }
      fallen.remove(module.node.name)
      // Whoever started it sees that it has left, and undoes what it did.
      if !busy.contains(module.id) { _ = await undo(module) }
    }
  }

  /// Launches whatever is bound, can be ordered and has not been tried: again, while more comes.
  @discardableResult
  private func advance(_ hive: Hive) async -> LaunchOrder {
    isAdvancing = true
    failures = []
    var order = LaunchOrder([])
    while !isOver {
      let started = Set(names).union(overdue.values)
      let batch = hive.launchBatch(without: tried, started: started, fallen: fallen)
      order.append(batch.order)
      if phase == .starting {
        report.order.append(batch.order)
        report.disabled = batch.disabled
        report.unbound = batch.unbound
        if options.onFailure == .stop, !batch.order.problems.isEmpty { break }
      }
      if batch.order.modules.isEmpty { break }
      await launch(batch, hive)
    }
    isAdvancing = false
    return order
  }

  @discardableResult
  private func tearDown() async -> [ModuleFailure] {
    phase = .stopping
    // A task of its own: whoever stops the Hive because they were cancelled still stops it in order.
    let failures = await Task { await self.undoAll() }.value
    living = []
    stages = [:]
    tried = []
    fallen = []
    overdue = [:]
    isStopRequested = false
    stopFailures = failures
    stopCount += 1
    phase = .idle
    wake()
    context?.hive.observers.tell(.stopped(failures: failures))
    context = nil
    return failures
  }

  private func change() async { await withCheckedContinuation { waiting.append($0) } }

  private func wake() {
    let waiting = waiting
    self.waiting = []
    for continuation in waiting { continuation.resume() }
  }
}
