internal import Threads

/// What every call comes to: resolved, decided about as `CallPlan` says, answered.
extension RoutingCore {
  func send(
    _ destination: Destination, origin: CallOrigin, arguments: Arguments, caching: Bool = true
  ) async throws -> any Sendable {
    let call = Call(to: destination, origin: origin, arguments: arguments, caching: caching)
    guard Nesting.current.depth < Nesting.most else { throw Nesting.endless(call) }
    var plan = CallPlan(call, by: self)
    // Observers, guards and what makes a target are code of this call too.
    return try await Nesting.answering(call, .local) {
      tell(.began(call))
      do {
        let result = try await carryOut(&plan)
        tell(.ended(plan.call, nil))
        return result
      } catch {
        tell(.ended(plan.call, error))
        throw error
      }
    }
  }

  private func carryOut(_ plan: inout CallPlan) async throws -> any Sendable {
    do {
      while true {
        let decision: (met: MetRule, verdict: Verdict)
        switch try plan.next() {
        case .passed: continue
        case .decided(let met, let verdict): decision = (met, verdict)
        case .asks(let met, let interceptor):
          let asked = plan.call
          decision = (
            met, try await Nesting.answering(asked, .remote) { try await interceptor(asked) }
          )
        case .receiver(let receiver): return try await answer(plan.call, by: receiver)
        }
        if case .proceed = decision.verdict { continue }
        tell(.ruled(plan.call, by: decision.met.rule.name, decision.verdict))
        try plan.take(decision.verdict, of: decision.met)
      }
    } catch let refusal as RouteRefusal {
      // Where no other route can be asked it is an error of this call, and none of the one around it.
      throw RoutingError(.refused, "\(plan.call.destination) was refused: \(refusal.reason)")
    }
  }

  private func answer(_ call: Call, by receiver: Receiver) async throws -> any Sendable {
    switch receiver {
    case .rule(let value): return value
    case .action(let target, let action, let arguments):
      let instance = try target.instance(caching: call.caching)
      return try await Nesting.answering(call, action.declaration.exposure) {
        try await action.perform(instance, arguments)
      }
    case .routes(let routes): return try await answer(call, by: routes)
    case .targetFallback(let target, let answer):
      let instance = try target.instance(caching: call.caching)
      return try await Nesting.answering(call, .local) { try await answer(instance, call) }
    case .fallback(let fallback):
      return try await Nesting.answering(call, fallback.exposure) {
        try await fallback.answer(call)
      }
    case .unmatched(let url, let handler): return try await answer(call, at: url, by: handler)
    }
  }
}

extension RoutingCore {
  /// Takes a URL apart, follows aliases, and finds out whether it names a target and an action.
  func resolve(_ call: inout Call) throws(RoutingError) {
    while case .url(let text) = call.destination {
      let url = try URLText(text, limits: limits.withLock { $0 })
      if call.originalURL == nil { call.originalURL = url }
      call.url = url
      if let name = url.aliasName, let target = routes.withLock({ $0.aliases[name]?.url }),
        try call.follow(.url(target))
      {
        continue
      }
      guard let name = try name(in: url, origin: call.origin) else { return }
      call.destination = .action(target: name.target, action: name.action)
      call.arguments = Arguments(items: url.items).merging(call.arguments)
      return
    }
    if call.url != nil, case .action? = call.trail.last { call.url = nil }
  }

  /// `scheme://target/action`, where there is such a target.
  ///
  /// An action that exists is as good as a route that spells it out: of routes, only such a one takes its
  /// place. Where the target has no such action, any route does.
  private func name(in url: URLText, origin: CallOrigin) throws(RoutingError) -> ActionName? {
    guard url.scheme != nil, url.host != nil, url.port == nil else { return nil }
    catchUp(probing: false)
    let target = targets.withLock { $0.named(by: url) }?.definition
    let native =
      origin == .remote ? url.path.first.flatMap { NativeName.matches($0) ? $0 : nil } : nil
    guard target != nil || native != nil else { return nil }
    let matches = meet(url).matches
    if matches.contains(where: \.values.isEmpty) { return nil }
    if let target, url.path.count == 1, target.actions[url.path[0]] != nil {
      return ActionName(target: target.name, action: url.path[0])
    }
    guard matches.isEmpty else { return nil }
    if let native {
      throw RoutingError(.native, "\(native) begins with native, so nobody outside may call it")
    }
    guard let target else { return nil }
    guard url.path.count == 1 else {
      throw nearMiss(of: url, from: origin)
        ?? RoutingError(
          .noAction,
          "\(url) names the target \(target.name) and \(url.path.count) parts behind it; an action is one"
        )
    }
    return ActionName(target: target.name, action: url.path[0])
  }
}
