internal import Threads

/// Who answers a call: the one place that says so, for calls and for dry runs.
enum Receiver {
  /// A rule has answered; all others answer what every rule lets pass.
  case rule(any Sendable)
  /// Routes whose pattern the URL meets and whose parameters are given, the best first, never empty.
  case routes([FitRoute])
  case action(RegisteredTarget, Action<AnyTarget>, Arguments)
  /// A target's own fallback.
  case targetFallback(RegisteredTarget, @Sendable (AnyTarget, Call) async throws -> any Sendable)
  /// The mediator's.
  case fallback(FallbackHandler<Call>)
  case unmatched(URLText, FallbackHandler<RouteCall>)

  /// A route and all that its handler is given.
  typealias FitRoute = (route: Route, call: RouteCall)
}

extension RoutingCore {
  /// Finds who answers; throws the error that the call ends in where there is none.
  func receiver(of call: Call) throws(RoutingError) -> Receiver {
    if let (target, action) = call.action {
      return try receiver(of: call, target: target, action: action)
    }
    guard let url = call.url else {
      throw RoutingError(.noRoute, "\(call.destination) is no URL and no action")
    }
    return try receiver(of: call, at: url)
  }

  private func receiver(
    of call: Call, target name: String, action: String
  ) throws(RoutingError) -> Receiver {
    let target: RegisteredTarget
    let found: Action<AnyTarget>
    do throws(RoutingError) {
      (target, found) = try declared(name, action, origin: call.origin)
    } catch {
      guard error.code == .noTarget || error.code == .noAction else { throw error }
      if let fallback = fallback(of: name, for: call.origin) { return fallback }
      throw call.url.flatMap { nearMiss(of: $0, from: call.origin) } ?? error
    }
    return .action(
      target, found, try Self.check(call.arguments, against: found, of: "\(name).\(action)"))
  }

  private func fallback(of name: String, for origin: CallOrigin) -> Receiver? {
    if origin == .local, let target = target(named: name),
      let fallback = target.definition.fallback
    {
      return .targetFallback(target, fallback)
    }
    guard
      let fallback = targets.withLock({ $0.fallbacks[name] ?? $0.fallbacks[nil] })?.value,
      fallback.answers(origin)
    else { return nil }
    return .fallback(fallback)
  }

  private func receiver(of call: Call, at url: URLText) throws(RoutingError) -> Receiver {
    let (table, matches) = meet(url)
    let allowed = call.origin == .remote ? matches.filter(\.route.exposure.isRemote) : matches
    if allowed.isEmpty, let first = matches.first {
      throw RoutingError(
        .notRemote,
        "\(first.route.pattern) is not marked remote, so calls from outside may not open \(url)",
        sources: [first.route.source])
    }
    var fit: [Receiver.FitRoute] = []
    var failure: RoutingError?
    for (route, values) in allowed {
      do throws(RoutingError) {
        let parameters = try route.parameters.collect(of: call, at: url, path: values)
        fit.append((route, RouteCall(call, at: url, route.pattern, parameters)))
      } catch {
        failure = failure ?? error
      }
    }
    if !fit.isEmpty { return .routes(fit) }
    // What a route that the URL meets has to say is not hidden by a handler of unmatched ones.
    if let failure { throw failure }
    if let handler = table.unmatched?.value, handler.answers(call.origin) {
      return .unmatched(url, handler)
    }
    throw nearMiss(of: url, from: call.origin) ?? unusableRoute(for: url, from: call.origin)
      ?? RoutingError(
        .noRoute, "no route and no target answers to \(url); register one, or look at router.routes"
      )
  }

  /// The error for a URL that a route would have, were a piece of its path of the type that the route names.
  ///
  /// Callers from outside are not told of routes that are not for them.
  func nearMiss(of url: URLText, from origin: CallOrigin) -> RoutingError? {
    let table = routes.withLock { $0 }
    let near = table.matches(of: url, ignoringTypes: true).first {
      origin == .local || $0.route.exposure.isRemote
    }
    guard let (route, values) = near else { return nil }
    for (name, value) in values {
      guard let text = value as? String, let type = route.pattern.type(of: name),
        !table.types.mayHold(text, as: type)
      else { continue }
      return RoutingError(
        .noRoute,
        "no route answers to \(url); \(route.pattern) would, were \"\(text)\" of type \(type)",
        key: name, sources: [route.source])
    }
    return nil
  }

  /// The error for a URL that a route would have, could its record be used; not for outside.
  private func unusableRoute(for url: URLText, from origin: CallOrigin) -> RoutingError? {
    guard origin == .local else { return nil }
    for (entry, problem) in unusableEntries(.route) {
      guard let pattern = try? RoutePattern(entry.name),
        let tree = try? RouteTree(of: pattern, types: pattern.anyTypes),
        !RouteSearch.matches(of: url, in: tree).isEmpty
      else { continue }
      let word = if case .accepted = entry.state { "is unbound" } else { "was rejected" }
      return RoutingError(
        .noRoute,
        "no route answers to \(url); \(pattern) of \(entry.source) \(word): \(problem.message)",
        sources: [entry.source])
    }
    return nil
  }
}

extension RouteCall {
  fileprivate init(
    _ call: Call, at url: URLText, _ pattern: RoutePattern, _ parameters: Arguments
  ) {
    self.init(
      url: url, originalURL: call.originalURL, pattern: pattern, origin: call.origin,
      parameters: parameters, userInfo: call.arguments)
  }

  /// What the handler of unmatched URLs is told.
  init(unmatched call: Call, at url: URLText) {
    let items = url.items.filter { !call.withheld.contains($0.name) }
    self.init(call, at: url, .anything, Arguments(items: items).merging(call.arguments))
  }
}
