/// One pass through setUp, initialize and splash, over modules that are in order.
struct Launch: Sendable {
  let context: Context
  let options: LaunchOptions

  /// Runs the three steps; the modules that came through. `progress` hears who lives after each one.
  func run(
    _ modules: [LivingModule], failures: inout [ModuleFailure],
    progress: @Sendable ([LivingModule]) async -> Void
  ) async -> [LivingModule] {
    var fallen = Fallen()
    var standing: [LivingModule] = []
    for module in modules {
      guard fallen.admits(module, &failures, .setUp) else { continue }
      if let failure = await attempt(.setUp, module) {
        failures.append(failure)
        if await falls(module, &fallen, isSetUp: false, &failures) { continue }
      }
      standing.append(module)
      await progress(standing)
      if isOver(failures) { return standing }
    }
    standing = await initialize(standing, &fallen, &failures)
    await progress(standing)
    if isOver(failures) { return standing }
    for module in standing {
      guard let failure = await attempt(.splash, module) else { continue }
      failures.append(failure)
      if await falls(module, &fallen, isSetUp: true, &failures) {
        standing.removeAll { $0.node.name == module.node.name }
        await progress(standing)
      }
      if isOver(failures) { return standing }
    }
    return standing
  }

  /// Runs a step of one module within its time; nil where it went well.
  func attempt(_ step: LivingModule.Step, _ module: LivingModule) async -> ModuleFailure? {
    let result = await TimeLimit.run(options.timeLimit) { try await module.run(step, context) }
    switch result {
    case .success: return nil
    case .failure(_ as CRefusal): return module.failure(step.rawValue, .refused)
    case .failure(let error): return module.failure(step.rawValue, .threw(error))
    case nil: return module.failure(step.rawValue, .exceeded(options.timeLimit ?? .zero))
    }
  }

  /// One module after another; those that are marked run beside the others, and whoever requires
  /// one of them waits for it.
  private func initialize(
    _ modules: [LivingModule], _ fallen: inout Fallen, _ failures: inout [ModuleFailure]
  ) async -> [LivingModule] {
    var running: [String: Task<ModuleFailure?, Never>] = [:]
    var standing = modules
    for module in modules {
      for name in module.node.predecessors {
        guard let task = running.removeValue(forKey: name), let failure = await task.value else {
          continue
        }
        await settle(failure, &standing, &fallen, &failures)
      }
      guard fallen.admits(module, &failures, .initialize) else {
        standing.removeAll { $0.node.name == module.node.name }
        _ = await attempt(.unmount, module)
        continue
      }
      if module.isConcurrent {
        running[module.node.name] = Task { await attempt(.initialize, module) }
      } else if let failure = await attempt(.initialize, module) {
        await settle(failure, &standing, &fallen, &failures)
      }
      if isOver(failures) { break }
    }
    // Whatever still runs is awaited in the modules' order, so that reports are alike.
    for module in modules {
      guard let task = running[module.node.name], let failure = await task.value else { continue }
      await settle(failure, &standing, &fallen, &failures)
    }
    return standing
  }

  private func settle(
    _ failure: ModuleFailure, _ standing: inout [LivingModule], _ fallen: inout Fallen,
    _ failures: inout [ModuleFailure]
  ) async {
    failures.append(failure)
    guard let module = standing.first(where: { $0.node.name == failure.module }),
      await falls(module, &fallen, isSetUp: true, &failures)
    else { return }
    standing.removeAll { $0.node.name == failure.module }
  }

  /// Whether a module that failed is out; one that was set up is unmounted again.
  private func falls(
    _ module: LivingModule, _ fallen: inout Fallen, isSetUp: Bool,
    _ failures: inout [ModuleFailure]
  ) async -> Bool {
    guard options.onFailure == .skip else { return false }
    fallen.names.insert(module.node.name)
    if isSetUp, let failure = await attempt(.unmount, module) { failures.append(failure) }
    return true
  }

  private func isOver(_ failures: [ModuleFailure]) -> Bool {
    options.onFailure == .stop && !failures.isEmpty
  }

  /// The modules that failed, and with them whoever requires them.
  private struct Fallen {
    var names: Set<String> = []

    mutating func admits(
      _ module: LivingModule, _ failures: inout [ModuleFailure], _ step: LivingModule.Step
    ) -> Bool {
      guard let missing = module.node.requires.first(where: { names.contains($0) }) else {
        return true
      }
      names.insert(module.node.name)
      failures.append(module.failure(step.rawValue, .skipped(requirement: missing)))
      return false
    }
  }
}
