internal import Synchronization
internal import Threads

// Events that are no step of the lifecycle.
extension ModuleRunner {
  /// The modules that are told of an event, as they were at `version`.
  private struct Round: Sendable {
    let modules: [LivingModule]
    let version: Int
    let context: Context
    let options: LaunchOptions
  }

  /// Tells every module that lives now, in order, and once; those that leave meanwhile are not told.
  func dispatch(_ event: Event) async -> EventOutcome {
    guard let context else { return EventOutcome() }
    let round = Round(
      modules: living.filter(isUp), version: version.load(ordering: .relaxed), context: context,
      options: options)
    // One way to their thread and back for all of them.
    return await withTaskExecutorPreference(ModuleThreads.shared) { await tell(event, round) }
  }

  @concurrent private nonisolated func tell(_ event: Event, _ round: Round) async -> EventOutcome {
    var outcome = EventOutcome()
    for module in round.modules {
      if version.load(ordering: .relaxed) != round.version {
        guard await isLivingAndUp(module) else { continue }
      }
      let result = await observed(
        module, event.name, event.kind, round.context.hive, round.options
      ) {
        try await module.handle(event, round.context)
      }
      switch result {
      case .success(let response):
        outcome.answers.append(EventOutcome.Answer(module: module.node.name, response: response))
        if response.stops { return outcome }
      case .failure(let failure): outcome.failures.append(failure)
      }
    }
    return outcome
  }

  private func isLivingAndUp(_ module: LivingModule) -> Bool { isLiving(module) && isUp(module) }

  /// Returns whether a module has been set up, and not torn down again.
  private func isUp(_ module: LivingModule) -> Bool {
    switch stages[module.id] {
    case .setUp, .initialized: true
    case .tornDown, nil: false
    }
  }
}
