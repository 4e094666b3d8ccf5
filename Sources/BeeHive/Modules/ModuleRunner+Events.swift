internal import Threads

// Events that are no step of the lifecycle.
extension ModuleRunner {
  /// Tells every running module once, in order; those that are removed meanwhile are not told.
  func dispatch(_ event: Event) async -> EventOutcome {
    guard let context else { return EventOutcome() }
    let modules = states.withLock { states in states.running.filter(states.hears) }
    // One way to their thread and back for all of them.
    return await withTaskExecutorPreference(ModuleThreads.shared) { [options] in
      await tell(modules, event, context, options)
    }
  }

  @concurrent private nonisolated func tell(
    _ modules: [RunningModule], _ event: Event, _ context: Context, _ options: LaunchOptions
  ) async -> EventOutcome {
    var outcome = EventOutcome()
    for module in modules where states.withLock({ $0.hears(module) }) {
      let result = await observed(module, event.name, event.kind, context.hive, options) {
        try await module.handle(event, context)
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
}
