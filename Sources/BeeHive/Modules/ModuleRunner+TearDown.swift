internal import Threads

// tearDown and unmount of modules, and the end of what they registered.
extension ModuleRunner {
  /// Undoes what every module has been through, each after those that need it. What goes wrong is in
  /// `progress`.
  func undoAll() async {
    progress.withLock { $0.failures = [] }
    func note(_ failures: [ModuleFailure]) { progress.withLock { $0.failures += failures } }
    let modules = tearDownOrder
    for module in modules where isLiving(module) { note(await undo(.tearDown, module)) }
    for module in modules where isLiving(module) {
      note(await undo(.unmount, module))
      await withdraw(module)
    }
    for module in overdue.values.sorted(by: { $0.id > $1.id }) { await withdraw(module) }
  }

  /// Undoes what a module has been through; what went wrong.
  func undo(_ module: LivingModule) async -> [ModuleFailure] {
    var failures: [ModuleFailure] = []
    // Those that it registered are its own.
    let owned = module.belongings.modules
    if !owned.isEmpty, let hive = context?.hive {
      hive.withdraw { owned.contains($0.order) }
      failures += await remove(owned)
    }
    for step in [LivingModule.Step.tearDown, .unmount] { failures += await undo(step, module) }
    await withdraw(module)
    return failures
  }

  /// Takes modules out, wherever they are in their lives; what went wrong.
  @discardableResult
  func remove(_ ids: Set<UInt64>) async -> [ModuleFailure] {
    var failures: [ModuleFailure] = []
    for id in ids {
      guard let module = overdue.removeValue(forKey: id) else { continue }
      failures += await undo(module)
      context?.hive.letGo(of: [module.entry])
    }
    for module in tearDownOrder where ids.contains(module.id) && isLiving(module) {
      living.removeAll { $0.id == module.id }
      fallen.remove(module.node.name)
      // The task that started it sees that it has left, and undoes what it did.
      guard !busy.contains(module.id) else { continue }
      failures += await undo(module)
      context?.hive.letGo(of: [module.entry])
    }
    return failures
  }

  func isLiving(_ module: LivingModule) -> Bool { living.contains { $0.id == module.id } }

  /// The modules that live, each after those that require it, follow it or were registered by it.
  ///
  /// That is the reverse order of their start, except for what was registered anew since.
  private var tearDownOrder: [LivingModule] {
    var needing: [String: [LivingModule]] = [:]
    var owners: [UInt64: String] = [:]
    for module in living {
      for id in module.belongings.modules { owners[id] = module.node.name }
    }
    for module in living.reversed() {
      for name in module.node.predecessors { needing[name, default: []].append(module) }
      if let owner = owners[module.id] { needing[owner, default: []].append(module) }
    }
    var order: [LivingModule] = []
    var seen: Set<UInt64> = []
    func visit(_ module: LivingModule) {
      guard seen.insert(module.id).inserted else { return }
      for other in needing[module.node.name] ?? [] { visit(other) }
      order.append(module)
    }
    for module in living.reversed() { visit(module) }
    return order
  }

  private func undo(_ step: LivingModule.Step, _ module: LivingModule) async -> [ModuleFailure] {
    switch (step, stages[module.id]) {
    case (.tearDown, .initialized):
      stages[module.id] = .tornDown
    case (.unmount, .setUp), (.unmount, .tornDown):
      stages[module.id] = nil
    default: return []
    }
    guard let failure = await attempt(step, module) else { return [] }
    if failure.isOverdue { stages[module.id] = nil }
    return [failure]
  }

  private func withdraw(_ module: LivingModule) async {
    guard let hive = context?.hive else { return }
    await withdraw(module.belongings, of: module.node.name, from: hive)
  }
}
