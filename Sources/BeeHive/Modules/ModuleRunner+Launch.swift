internal import Threads

// setUp, initialize and splash over modules that are in order.
extension ModuleRunner {
  /// What happens when a module fails: one that comes late does not take the others with it.
  private var policy: FailurePolicy {
    phase == .running && options.onFailure == .stop ? .skip : options.onFailure
  }

  /// Whether nothing more is to be started.
  var isOver: Bool { isStopRequested || (policy == .stop && !failures.isEmpty) }

  /// Makes the modules of a batch and takes them through the three steps.
  func launch(_ batch: LaunchBatch, _ hive: Hive) async {
    var modules: [RunningModule] = []
    for node in batch.order.modules where !isOver {
      guard let entry = batch.entries[node.name] else { continue }
      guard set(entry, .made(isInside: true)) else { continue }
      switch await make(entry, node, hive) {
      case .success(let module):
        modules.append(module)
        _ = set(entry, .made(isInside: false))
      case .failure(let failure):
        leaveOut(entry, failure)
      }
    }
    for module in modules where !isOver && hive.isRegistered(module.entry) {
      if await isAdmitted(module, .setUp) { await take(.setUp, module) }
    }
    await initialize(modules)
    for module in modules where !isOver && isRunning(module) { await take(.splash, module) }
  }

  /// One module after another; those that are marked run beside the others, and those that start after
  /// one of them wait for it.
  private func initialize(_ modules: [RunningModule]) async {
    let earlierFailures = failures.count
    var running: [String: Task<Void, Never>] = [:]
    for module in modules where !isOver {
      let before = module.node.predecessors.compactMap { running[$0] }
      if module.isConcurrent {
        running[module.node.name] = Task(executorPreference: ModuleThreads.shared) {
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
      modules.enumerated().map { ($1.node.name, $0) }, uniquingKeysWith: { first, _ in first })
    failures[earlierFailures...].sort { places[$0.module] ?? 0 < places[$1.module] ?? 0 }
  }

  private func initialize(_ module: RunningModule) async {
    guard !isOver, isRunning(module), await isAdmitted(module, .initialize) else { return }
    await take(.initialize, module)
  }

  /// Whether nothing that the module requires has failed to start; it is left out otherwise.
  private func isAdmitted(_ module: RunningModule, _ step: RunningModule.Step) async -> Bool {
    let missing = states.withLock { states in
      module.node.requiredNames.first(where: states.failedNames.contains)
    }
    guard let missing else { return true }
    leaveOut(module.entry, module.node.failure(step.rawValue, .skipped(requirement: missing)))
    failures += await undo(module, before: step)
    return false
  }

  private func leaveOut(_ module: RegisteredEntry, _ failure: ModuleFailure) {
    failures.append(failure)
    _ = set(module, .failed(failure))
    context?.hive.observers.tell(.moduleLeftOut(failure))
  }

  /// Takes a module through a step of its start, and settles what came of it.
  private func take(_ step: RunningModule.Step, _ module: RunningModule) async {
    guard set(module.entry, .running(module, next: step, isInside: true)) else { return }
    let failure = await attempt(step, module)
    if let failure {
      failures.append(failure)
      states.withLock { $0.note(failure, of: module.id) }
    }
    // One that still runs is not called again, whatever the policy.
    let isOverdue = failure?.isOverdue == true
    let isThrough = failure == nil || policy == .continue
    let next = isOverdue ? .setUp : isThrough ? step.next : step
    let state: ModuleStates.State
    var isLeftOut = false
    if let failure, !isThrough, policy == .skip || isOverdue {
      (state, isLeftOut) = (.failed(failure), true)
    } else {
      state = isOverdue ? .overdue(module) : .running(module, next: next, isInside: false)
    }
    if !set(module.entry, state) {
      // It was unregistered meanwhile.
      _ = await undo(module, before: next)
    } else if isLeftOut {
      failures += await undo(module, before: next)
    }
  }
}
