// Events that are no step of the lifecycle.
extension ModuleRunner {
  /// Tells every module that lives now, in order, and once; those that leave meanwhile are not told.
  func dispatch(_ event: Event) async -> EventOutcome {
    var outcome = EventOutcome()
    for module in living where isTold(module) {
      let result = await observed(module, event.name, event.kind) { context in
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

  /// Whether a module is there to be told: it has been set up, and not torn down again.
  private func isTold(_ module: LivingModule) -> Bool {
    guard isLiving(module) else { return false }
    return switch stages[module.id] {
    case .setUp, .initialized: true
    case .tornDown, nil: false
    }
  }
}
