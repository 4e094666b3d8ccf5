internal import Threads

/// Who answers a call: found before anybody is called, so that a dry run can say it.
///
/// `description` says who would answer, or the answer, for people; `isFallback` that it answers what nothing else
/// does. One that refuses leaves the call to the next.
typealias Receiver = (description: () -> String, isFallback: Bool, answerer: Answerer)

/// The code that answers a call, by a name for people.
typealias Answerer = (
  name: String, exposure: Exposure, answer: (Call) async throws -> any Sendable
)

extension RoutingCore {
  /// Finds who answers; throws the error that the call ends in where there is none. `route` is the one that the call comes
  /// to, among those that its URL meets.
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

  /// The target's own fallback, or else the mediator's.
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

  /// A route among those that a URL meets, with the parameters of its handler or the reason that they do not fit.
  typealias Fitting = (index: Int, parameters: Result<Arguments, RoutingError>)

  /// The route that a call comes to: the first one whose parameters fit, else the first that answers the call's origin.
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

  /// The arguments that an action would be given, of its types and with its defaults.
  func arguments(of call: Call, _ target: String, _ action: String) throws(RoutingError)
    -> Arguments
  {
    let (_, found) = try declared(target, action, origin: call.origin)
    return try Self.check(call.arguments, against: found, of: "\(target).\(action)")
  }

  private func receiver(
    of call: Call, at url: URLText, among routes: MetRoutes, comingTo route: Fitting?
  ) throws(RoutingError) -> Receiver {
    // No handler of unmatched URLs hides the fault of a route that the URL meets.
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
    // Callers from outside are not told of faults.
    throw nearMiss(of: url, from: call.origin)
      ?? (call.origin == .local ? unusableRoute(for: url) : nil)
      ?? RoutingError(
        .noRoute,
        "no route and no target answers to \(url.text.excerpt); register one, or look at router.routes"
      )
  }

  /// The error for a URL that a route would have, were a piece of its path of the type that the route names.
  ///
  /// Callers from outside are not told of routes that are not for them.
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

  /// The error for a URL that a route would have, could its record be used.
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
