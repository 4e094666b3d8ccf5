internal import BeeHive
internal import Threads

extension RoutingCore {
  /// Calls the best route that a URL meets; a handler that refuses leaves it to the next.
  func answer(_ call: Call, at url: URLText) async throws -> any Sendable {
    let (table, matches) = meet(url)
    let allowed = try Self.allowed(matches, for: call, at: url)
    var refusals: [String] = []
    var unfit: RoutingError?
    for (route, values) in allowed {
      let parameters: Arguments
      do throws(RoutingError) {
        parameters = try RouteParameters.collect(
          of: call, at: url, for: route, types: table.types, path: values)
      } catch {
        unfit = unfit ?? error
        continue
      }
      do {
        return try await route.handler(
          RouteCall(
            url: url, originalURL: call.originalURL, pattern: route.pattern, origin: call.origin,
            parameters: parameters, userInfo: call.arguments))
      } catch let refusal as RouteRefusal {
        if !refusal.isDeparture { refusals.append("\(route.pattern): \(refusal.reason)") }
      }
    }
    if let handler = table.unmatched(for: url) {
      let parameters = Arguments(items: url.items).merging(call.arguments)
      let unmatched = RouteCall(
        url: url, originalURL: call.originalURL, pattern: .anything, origin: call.origin,
        parameters: parameters, userInfo: call.arguments)
      let way = Self.unmatched + [url.text]
      guard way.count <= Self.mostRedirections else { throw Self.endless(way) }
      return try await Self.$unmatched.withValue(way) { try await handler(unmatched) }
    }
    if let unfit { throw unfit }
    guard refusals.isEmpty else {
      throw RoutingError(
        .refused, "every route that \(url) meets has refused: " + refusals.joined(separator: "; "))
    }
    throw Self.nobody(answersTo: url)
  }

  /// The matches that `call` may reach; throws where there are matches, and none that it may.
  static func allowed(
    _ matches: [RouteTable.Match], for call: Call, at url: URLText
  ) throws(RoutingError) -> [RouteTable.Match] {
    let allowed = call.origin == .remote ? matches.filter(\.route.isRemote) : matches
    if allowed.isEmpty, let first = matches.first {
      throw RoutingError(
        .notRemote,
        "\(first.route.pattern) is not marked remote, so nobody outside may open \(url)",
        sources: [first.route.source])
    }
    return allowed
  }

  /// The URLs that handlers of unmatched ones are answering, the first one first: such a handler that
  /// opens what is missing too is asked again.
  @TaskLocal private static var unmatched: [String] = []

  private static func endless(_ way: [String]) -> RoutingError {
    RoutingError(
      .redirectLoop,
      "handlers of unmatched URLs open more than \(mostRedirections) that are unmatched themselves: "
        + way.joined(separator: " → "))
  }

  static func nobody(answersTo url: URLText) -> RoutingError {
    RoutingError(
      .noRoute, "no route and no target answers to \(url); register one, or look at router.routes")
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

  /// Whether something would answer; nothing is called.
  func canOpen(_ text: String, origin: CallOrigin) -> Bool {
    var call = Call(
      number: 0, origin: origin, destination: .url(text), arguments: [:], url: nil,
      originalURL: nil, trail: [])
    do throws(RoutingError) { try resolve(&call) } catch { return false }
    if let (target, action) = call.action {
      return (try? declared(target, action, origin: origin)) != nil
    }
    guard let url = call.url else { return false }
    let (table, matches) = meet(url)
    return matches.contains { route, values in
      guard origin == .local || route.isRemote else { return false }
      let parameters = try? RouteParameters.collect(
        of: call, at: url, for: route, types: table.types, path: values)
      return parameters != nil
    }
  }
}
