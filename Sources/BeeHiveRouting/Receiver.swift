internal import Threads

/// The receiver of a call. It is found before anything is called, so that a dry run can name it.
///
/// `description` names the receiver, or the answer, for people. `isFallback` means that it answers only if nothing
/// else does. If it refuses, the call goes on to the next one.
typealias Receiver = (description: () -> String, isFallback: Bool, answerer: Answerer)

/// The code that answers a call, with a name for people.
typealias Answerer = (name: String, exposure: Exposure, answer: (Call) async throws -> any Sendable)

extension RoutingCore {
  /// Returns the receiver; throws the error that the call ends in if there is none. `route` is the route that the
  /// call comes to, among those that its URL meets.
  func receiver(
    of call: Call, among routes: MetRoutes?, comingTo route: Fitting?
  ) throws(RoutingError) -> Receiver {
    if let (target, action) = call.action {
      return try receiver(of: call, target: target, action: action)
    }
    guard let url = call.url, let routes else {
      throw RoutingError(
        .noRoute, "\(call.destination.description.excerpt) is no URL and no action")
    }
    return try receiver(of: call, at: url, among: routes, comingTo: route)
  }

  private func receiver(
    of call: Call, target name: String, action: String
  ) throws(RoutingError) -> Receiver {
    let target: RegisteredTarget
    let found: Action<any Sendable>
    do throws(RoutingError) {
      (target, found) = try declared(name, action, origin: call.origin)
    } catch {
      guard error.code == .noTarget || error.code == .noAction else { throw error }
      if let fallback = fallback(of: name, for: call) { return fallback }
      throw call.url.flatMap { nearMiss(of: $0, from: call.origin) } ?? error
    }
    let arguments = try Self.check(call.arguments, against: found, of: "\(name).\(action)")
    let perform = { (call: Call) in
      try await found.perform(target.instance(caching: call.caching), arguments)
    }
    return (
      { "action \(name).\(action) of \(target.source)" }, false,
      (action, found.declaration.exposure, perform)
    )
  }

  /// Returns the target's own fallback, or else the mediator's; nil if neither answers the call.
  private func fallback(of name: String, for call: Call) -> Receiver? {
    if call.origin == .local, let target = target(named: name),
      let fallback = target.definition.fallback
    {
      let answer = { try await fallback(target.instance(caching: call.caching), $0) }
      return (
        { "the fallback of the target \(name) of \(target.source)" }, true,
        ("its fallback", .local, answer)
      )
    }
    guard
      let (exposure, answer) = targets.withLock({ $0.fallbacks[name] ?? $0.fallbacks[nil] })?.value,
      exposure.answers(call.origin)
    else { return nil }
    let handler = "the handler of missing actions"
    return ({ handler }, true, (handler, exposure, answer))
  }

  /// A route that a URL meets, with the parameters of its handler or the reason why they do not fit.
  typealias Fitting = (index: Int, parameters: Result<Arguments, RoutingError>)

  /// Returns the route that a call comes to: the first with fitting parameters, else the first that answers its origin.
  func route(of call: Call, at url: URLText, among routes: MetRoutes) -> Fitting? {
    var first: Fitting?
    for (index, match) in routes.matches.enumerated()
    where match.route.exposure.answers(call.origin) {
      let parameters = Result { () throws(RoutingError) in
        try match.route.parameters.collect(of: call, at: url, path: match.values)
      }
      if case .success = parameters { return (index, parameters) }
      if first == nil { first = (index, parameters) }
    }
    return first
  }

  /// Returns the arguments that an action would get, in its types and with its defaults.
  func arguments(of call: Call, _ target: String, _ action: String) throws(RoutingError)
    -> Arguments
  {
    let (_, found) = try declared(target, action, origin: call.origin)
    return try Self.check(call.arguments, against: found, of: "\(target).\(action)")
  }

  private func receiver(
    of call: Call, at url: URLText, among routes: MetRoutes, comingTo route: Fitting?
  ) throws(RoutingError) -> Receiver {
    // A handler of unmatched URLs does not hide the fault of a route that the URL meets.
    if let (index, parameters) = route {
      let route = routes.matches[index].route
      let parameters = try parameters.get()
      let answer = { (call: Call) in
        try await route.definition.handler(
          RouteCall(url: url, pattern: route.pattern, parameters: parameters, call: call))
      }
      return (
        { "route \(route.pattern) of \(route.source)" }, false,
        (route.pattern.text, route.exposure, answer)
      )
    }
    if let route = routes.matches.first?.route {
      throw RoutingError(
        .notRemote,
        "\(route.pattern) is not marked remote, so calls from outside may not open \(url.text.excerpt)",
        sources: [route.source])
    }
    if let (exposure, handler) = routes.unmatched, exposure.answers(call.origin) {
      let name = "the handler of unmatched URLs"
      let answer = { (call: Call) in
        try await handler(
          RouteCall(url: url, pattern: .anything, parameters: call.given([]), call: call))
      }
      return ({ name }, true, (name, exposure, answer))
    }
    // Callers from outside do not learn of faults.
    throw nearMiss(of: url, from: call.origin)
      ?? (call.origin == .local ? unusableRoute(for: url) : nil)
      ?? RoutingError(
        .noRoute,
        "no route and no target answers to \(url.text.excerpt); register one, or look at router.routes"
      )
  }

  /// Returns the error for a URL that misses a route only because a piece of its path is not of the route's type.
  ///
  /// Callers from outside do not learn of routes that they cannot call.
  func nearMiss(of url: URLText, from origin: CallOrigin) -> RoutingError? {
    let table = routes.withLock { $0 }
    let near = table.matches(of: url, ignoringTypes: true).first {
      $0.route.exposure.answers(origin)
    }
    guard let (route, values, _) = near else { return nil }
    for (name, value) in values {
      guard let text = value as? String,
        let type = route.pattern.parts.pathKeys.first(where: { $0.name == name })?.type,
        !table.types.mayHold(text, as: type)
      else { continue }
      return RoutingError(
        .noRoute,
        "no route answers to \(url.text.excerpt); \(route.pattern) would, were \"\(text.excerpt)\" of type \(type)",
        key: name, sources: [route.source])
    }
    return nil
  }

  /// Returns the error for a URL that would meet a route if the route's record could be used.
  func unusableRoute(for url: URLText) -> RoutingError? {
    for (entry, problem) in unusableEntries(.route) {
      guard let pattern = try? RoutePattern(entry.name),
        pattern.meets(url, entry.attributes.extent)
      else { continue }
      let word = if case .accepted = entry.state { "is unbound" } else { "was rejected" }
      return RoutingError(
        .noRoute,
        "no route answers to \(url.text.excerpt); \(pattern) of \(entry.source) \(word): \(problem.message)",
        sources: [entry.source])
    }
    return nil
  }
}
