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
    var modules: [LivingModule] = []
    for node in batch.order.modules where !isOver {
      guard let entry = batch.entries[node.name] else { continue }
      tried.insert(entry.order)
      switch await make(entry, node, hive) {
      case .success(let module): modules.append(module)
      case .failure(let failure): leaveOut(node.name, failure)
      }
    }
    for module in modules where !isOver && hive.isRegistered(module.entry) {
      guard await isAdmitted(module, .setUp) else { continue }
      living.append(module)
      await take(.setUp, module)
    }
    await initialize(modules)
    for module in modules where !isOver && isLiving(module) { await take(.splash, module) }
    hive.letGo(of: modules.filter { !isLiving($0) }.map(\.entry))
  }

  /// One module after another; those that are marked run beside the others, and whoever starts after
  /// one of them waits for it.
  private func initialize(_ modules: [LivingModule]) async {
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
    } else if isOverdue, isThrough {
      overdue[module.id] = module
      living.removeAll { $0.id == module.id }
    } else if !isThrough {
      fallen.insert(module.node.name)
      guard policy == .skip || isOverdue else { return }
      living.removeAll { $0.id == module.id }
      failures += await undo(module)
    }
  }
}
