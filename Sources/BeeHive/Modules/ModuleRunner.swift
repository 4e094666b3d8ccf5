/// Starts modules, tells them of events, and tears them down: one step after another.
///
/// An actor, so that two starts or a start and a stop do not overlap; it is never blocked by a
/// module, which runs outside it. What comes while a start is running is seen to when the start is over.
actor ModuleRunner {
  private enum Phase { case idle, starting, running, stopping }

  private var phase = Phase.idle
  private var living: [LivingModule] = []
  private var context: Context?
  private var options = LaunchOptions()
  private var report: LaunchReport?
  private var isStopRequested = false
  private var latecomers: [LivingModule] = []

  /// Whether modules are being started or run.
  var isActive: Bool { phase != .idle }

  /// The names of the modules that live, in order.
  var names: [String] { living.map(\.node.name) }

  /// Starts modules in order. A Hive that runs already answers with the report of its start.
  func start(
    _ modules: [LivingModule], _ order: LaunchOrder, failures: [ModuleFailure], disabled: [String],
    _ context: Context, _ options: LaunchOptions
  ) async throws(LaunchError) -> LaunchReport {
    if let report { return report }
    guard phase == .idle else {
      throw LaunchError(order: order, failures: [], wasStopped: phase == .stopping)
    }
    phase = .starting
    self.context = context
    self.options = options
    var report = LaunchReport(order: order, disabled: disabled, failures: failures)
    let launch = Launch(context: context, options: options)
    var survivors = await launch.run(modules, failures: &report.failures) { await self.live($0) }
    while !latecomers.isEmpty, !isStopRequested {
      let more = latecomers
      latecomers = []
      let before = survivors
      survivors += await launch.run(more, failures: &report.failures) {
        await self.live(before + $0)
      }
    }
    living = survivors
    let isRefused =
      options.onFailure == .stop && !(report.failures.isEmpty && order.problems.isEmpty)
    if isRefused || isStopRequested {
      let error = LaunchError(order: order, failures: report.failures, wasStopped: isStopRequested)
      phase = .running
      _ = await stop()
      throw error
    }
    report.started = living.map(\.node.name)
    self.report = report
    phase = .running
    return report
  }

  /// Tears everything down in reverse order; the modules that failed to.
  func stop() async -> [ModuleFailure] {
    switch phase {
    case .idle, .stopping: return []
    case .starting:
      isStopRequested = true
      return []
    case .running: phase = .stopping
    }
    let modules = living
    var failures: [ModuleFailure] = []
    for step in [LivingModule.Step.tearDown, .unmount] {
      for module in modules.reversed() where isLiving(module) {
        if let failure = await attempt(step, module) { failures.append(failure) }
      }
    }
    living = []
    latecomers = []
    report = nil
    isStopRequested = false
    phase = .idle
    return failures
  }

  /// Tells every module that lives now, in order, and once; those that leave meanwhile are not told.
  func dispatch(_ event: Event) async -> EventOutcome {
    var outcome = EventOutcome()
    guard let context else { return outcome }
    for module in living where isLiving(module) {
      let result = await TimeLimit.run(options.timeLimit) {
        try await module.handle(event, context)
      }
      switch result {
      case .success(let response):
        outcome.answers.append(EventOutcome.Answer(module: module.node.name, response: response))
        if response.stops { return outcome }
      case .failure(let error):
        outcome.failures.append(module.failure(event.name, .threw(error)))
      case nil:
        let limit = options.timeLimit ?? .zero
        outcome.failures.append(module.failure(event.name, .exceeded(limit)))
      }
    }
    return outcome
  }

  /// Starts a module that comes after the others; during a start, at its end.
  func add(_ module: LivingModule) async -> [ModuleFailure] {
    switch phase {
    case .idle, .stopping: return []
    case .starting:
      latecomers.append(module)
      return []
    case .running: break
    }
    guard let context else { return [] }
    var failures: [ModuleFailure] = []
    let launch = Launch(context: context, options: options)
    let started = await launch.run([module], failures: &failures) { _ in }
    if phase == .running { living += started }
    return failures
  }

  /// Tears one module down and forgets it; nil if none of this name lives.
  func remove(_ name: String) async -> [ModuleFailure]? {
    guard let position = living.firstIndex(where: { $0.node.name == name }) else { return nil }
    let module = living.remove(at: position)
    var failures: [ModuleFailure] = []
    for step in [LivingModule.Step.tearDown, .unmount] {
      if let failure = await attempt(step, module) { failures.append(failure) }
    }
    return failures
  }

  /// Who is told of events while a start is running: whoever has been set up.
  private func live(_ modules: [LivingModule]) { living = modules }

  private func isLiving(_ module: LivingModule) -> Bool {
    living.contains { $0.node.name == module.node.name }
  }

  private func attempt(_ step: LivingModule.Step, _ module: LivingModule) async -> ModuleFailure? {
    guard let context else { return nil }
    return await Launch(context: context, options: options).attempt(step, module)
  }
}

extension LivingModule {
  /// What went wrong with the module in an event or a step.
  func failure(_ event: String, _ reason: ModuleFailure.Reason) -> ModuleFailure {
    ModuleFailure(module: node.name, event: event, reason: reason, source: node.source)
  }
}
