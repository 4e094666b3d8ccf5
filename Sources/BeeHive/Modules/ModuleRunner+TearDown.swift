internal import Threads

// tearDown and unmount of modules, and the end of what they registered.
extension ModuleRunner {
  /// Undoes what every module has been through, each after those that need it. What goes wrong is in
  /// `progress`.
  func undoAll() async {
    progress.withLock { $0.failures = [] }
    let modules = tearDownOrder
    for module in modules { await undo(.tearDown, module) }
    for module in modules where isRunning(module) {
      await undo(.unmount, module)
      await withdraw(module)
    }
    for module in states.withLock({ $0.overdue }) { await withdraw(module) }
  }

  /// Takes a running module through a step that undoes, if that is what comes next.
  private func undo(_ step: RunningModule.Step, _ module: RunningModule) async {
    guard case .running(_, let next, _) = states.withLock({ $0[module.id] }),
      next.undoing.first == step,
      set(module.entry, .running(module, next: step, isInside: true))
    else { return }
    let failure = await attempt(step, module)
    let last = failure?.isOverdue == true ? RunningModule.Step.setUp : step.next
    var failures = failure.map { [$0] } ?? []
    if !set(module.entry, .running(module, next: last, isInside: false)) {
      // It was unregistered meanwhile.
      failures += await undo(module, before: last)
    }
    progress.withLock { $0.failures += failures }
  }

  /// Undoes what a module has been through before a step, once it counts as running no more, and lets its image go.
  /// Returns what went wrong.
  func undo(_ module: RunningModule, before next: RunningModule.Step) async -> [ModuleFailure] {
    var failures: [ModuleFailure] = []
    // Those that it registered are its own.
    let owned = module.belongings.modules
    if !owned.isEmpty, let hive = context?.hive {
      hive.withdraw { owned.contains($0.order) }
      failures += await remove(owned)
    }
    for step in next.undoing {
      guard let failure = await attempt(step, module) else { continue }
      failures.append(failure)
      if failure.isOverdue { break }
    }
    await withdraw(module)
    return failures
  }

  /// The modules that live, each after those that require it, follow it or were registered by it.
  ///
  /// That is the reverse order of their start, except for what was registered anew since.
  var tearDownOrder: [RunningModule] {
    let running = states.withLock { $0.running }
    var needing: [String: [RunningModule]] = [:]
    var owners: [UInt64: String] = [:]
    for module in running {
      for id in module.belongings.modules { owners[id] = module.node.name }
    }
    for module in running.reversed() {
      for name in module.node.predecessors { needing[name, default: []].append(module) }
      if let owner = owners[module.id] { needing[owner, default: []].append(module) }
    }
    var order: [RunningModule] = []
    var seen: Set<UInt64> = []
    func visit(_ module: RunningModule) {
      guard seen.insert(module.id).inserted else { return }
      for other in needing[module.node.name] ?? [] { visit(other) }
      order.append(module)
    }
    for module in running.reversed() { visit(module) }
    return order
  }

  private func withdraw(_ module: RunningModule) async {
    guard let hive = context?.hive else { return }
    await withdraw(module.belongings, of: module.node.name, from: hive)
  }
}
