internal import BeeHive
internal import Threads

/// The one way of every call: resolved, decided about, answered; a redirection begins anew.
extension RoutingCore {
  func send(
    _ destination: Destination, origin: CallOrigin, arguments: Arguments, caching: Bool = true
  ) async throws -> any Sendable {
    var call = Call(to: destination, origin: origin, arguments: arguments, caching: caching)
    guard Nesting.current.depth < Nesting.most else { throw Nesting.endless(call) }
    // Observers, guards and what makes a target are code of this call too.
    return try await Nesting.answering(call, .local) {
      observers.tell(.began(call))
      do {
        let result = try await run(&call)
        observers.tell(.ended(call, nil))
        return result
      } catch {
        observers.tell(.ended(call, error))
        throw error
      }
    }
  }

  private func run(_ call: inout Call) async throws -> any Sendable {
    // One snapshot for the whole call: a table that is swapped meanwhile decides about later ones.
    let rules = rules.withLock { $0 }
    do {
      while true {
        try resolve(&call)
        switch try await decide(&call, by: rules) {
        case .sentOn: continue
        case .answered(let value): return value
        case nil: return try await answer(call)
        }
      }
    } catch let refusal as RouteRefusal {
      // Where no other route can be asked it is an error of this call, and none of the one around it.
      throw RoutingError(.refused, "\(call.destination) was refused: \(refusal.reason)")
    }
  }

  private func decide(_ call: inout Call, by rules: RuleList) async throws -> Ruling? {
    for met in rules.met(by: call) {
      var verdict = met.verdict(on: call)
      if case .code(let interceptor) = met.rule.decision {
        let asked = call
        verdict = try await Nesting.answering(call, .remote) { try await interceptor(asked) }
      }
      guard let verdict else { continue }
      if case .proceed = verdict { continue }
      observers.tell(.ruled(call, by: met.rule.name, verdict))
      if let ruling = try apply(verdict, of: met, to: &call) { return ruling }
    }
    return nil
  }

  private func answer(_ call: Call) async throws -> any Sendable {
    switch try receiver(of: call) {
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

/// What a rule that has decided makes of a call, where it does not go on to the next one.
enum Ruling {
  /// It has another destination now: every rule is asked again.
  case sentOn
  case answered(any Sendable)
}

extension RoutingCore {
  /// Does what a verdict says. Returns nil where the next rule decides.
  func apply(
    _ verdict: Verdict, of met: MetRule, to call: inout Call
  ) throws(RoutingError) -> Ruling? {
    switch verdict {
    case .proceed: return nil
    case .replace(let arguments):
      call.replace(arguments)
      return nil
    case .redirect(let destination):
      return try call.follow(destination, by: met) ? .sentOn : nil
    case .refuse(let reason):
      throw RoutingError(.refused, "\(call.destination) was refused: \(reason)")
    case .answer(let value): return .answered(value)
    }
  }

  /// Takes a URL apart, follows aliases, and finds out whether it names a target and an action.
  func resolve(_ call: inout Call) throws(RoutingError) {
    while case .url(let text) = call.destination {
      let url = try URLText(text, limits: limits.withLock { $0 })
      if call.originalURL == nil { call.originalURL = url }
      call.url = url
      if let target = alias(of: url) {
        if try call.follow(.url(target)) { continue }
      }
      guard let name = try name(in: url, origin: call.origin) else { return }
      call.destination = .action(target: name.target, action: name.action)
      call.arguments = Arguments(items: url.items).merging(call.arguments)
      return
    }
    if call.url != nil, case .action? = call.trail.last { call.url = nil }
  }

  private func alias(of url: URLText) -> String? {
    guard let name = url.aliasName else { return nil }
    return routes.withLock { $0.aliases[name] }
  }

  /// `scheme://target/action`, where there is such a target.
  ///
  /// An action that exists is as good as a route that spells it out: of routes, only such a one takes its
  /// place. Where the target has no such action, any route does.
  private func name(
    in url: URLText, origin: CallOrigin
  ) throws(RoutingError) -> ActionName? {
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
