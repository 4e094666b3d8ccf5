internal import Threads

extension RoutingCore {
  /// Takes in a route; throws where its pattern is taken, names a type that is not defined, or gives a key a
  /// default that is not of its type.
  func add(_ route: Route) throws(RoutingError) {
    try routes.withLock { $0.types }.check(keysOf: route.pattern)
    try routes.withLock { table throws(RoutingError) in try table.add(route) }
  }

  /// Calls the best of some routes; a handler that refuses leaves it to the next.
  func answer(_ call: Call, by routes: [Receiver.FitRoute]) async throws -> any Sendable {
    var refusals: [String] = []
    var departure: String?
    for fit in routes {
      do {
        return try await Nesting.answering(call, fit.route.exposure) {
          try await fit.route.handler(fit.call)
        }
      } catch let refusal as RouteRefusal {
        if refusal.isDeparture {
          departure = refusal.reason
        } else {
          refusals.append("\(fit.route.pattern): \(refusal.reason)")
        }
      }
    }
    if refusals.isEmpty, let departure { throw RoutingError(.noRoute, departure) }
    throw RoutingError(
      .refused,
      "every route that \(call.destination) meets has refused: " + refusals.joined(separator: "; "))
  }

  /// Calls a handler of unmatched URLs.
  func answer(
    _ call: Call, at url: URLText, by handler: FallbackHandler<RouteCall>
  ) async throws -> any Sendable {
    let way = Nesting.current.unmatched + [url.text]
    guard way.count <= Call.mostRedirections else {
      throw RoutingError(
        .redirectLoop,
        "handlers of unmatched URLs open more than \(Call.mostRedirections) that are unmatched themselves: "
          + way.joined(separator: " → "))
    }
    return try await Nesting.answering(call, handler.exposure, unmatched: url.text) {
      try await handler.answer(RouteCall(unmatched: call, at: url))
    }
  }

  /// The routes of this moment that a URL meets, after a look at the images where there is none.
  func meet(_ url: URLText) -> (table: RouteTable, matches: [RouteTable.Match]) {
    catchUp(probing: false)
    var table = routes.withLock { $0 }
    var matches = table.matches(of: url)
    if matches.isEmpty, owner != nil {
      catchUp(probing: true)
      table = routes.withLock { $0 }
      matches = table.matches(of: url)
    }
    return (table, matches)
  }
}
