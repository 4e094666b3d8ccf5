internal import BeeHive

/// What a router knows. Lives under the lock of its `RoutingCore`; a copy of it is a snapshot.
struct RouteTable: Sendable {
  /// What holds for one scheme, or for URLs without one.
  struct SchemeRules: Sendable {
    /// Whether routes of any scheme are asked as well.
    var fallsBack = true
    /// Answers what no route answers.
    var unmatched: Numbered<Unmatched>?
  }

  typealias Unmatched = @Sendable (RouteCall) async throws -> any Sendable

  /// A route, and what the path gives values to.
  typealias Match = (route: Route, values: [(name: String, value: any URLConvertible)])

  private(set) var tree = RouteTree()
  private(set) var routes: [Route.ID: Route] = [:]
  var types = SegmentTypes()
  var schemes: [String?: SchemeRules] = [:]
  /// What a name of its own stands for.
  var aliases: [String: String] = [:]

  /// Every route, in order of registration.
  var all: [Route] { routes.values.sorted { $0.id.rawValue < $1.id.rawValue } }

  /// Takes in a route; throws where its pattern is taken, or names a type that is not defined.
  mutating func add(_ route: Route) throws(RoutingError) {
    for key in route.pattern.keys where key.type.lowercased() != "string" {
      let type = try types.type(named: key.type, in: route.pattern.text)
      if let text = key.defaultText, type.convert(text) == nil {
        throw RoutingError(
          .badPattern,
          "the pattern \(route.pattern) cannot be used: the default of \(key.name) is no \(key.type)"
        )
      }
    }
    let variants = route.variants
    for (index, variant) in variants.enumerated() {
      let failure: RoutingError
      do throws(RoutingError) {
        let taken = try tree.insert(
          route.id, priority: route.priority, segments: variant, root: route.root, types: types,
          pattern: route.pattern.text)
        guard let taken else { continue }
        // A form with and one without an optional part may be the same: the route meets itself.
        if taken == route.id { continue }
        failure = Self.duplicate(route, routes[taken])
      } catch {
        failure = error
      }
      for variant in variants[..<index] {
        tree.remove(route.id, segments: variant, root: route.root)
      }
      throw failure
    }
    routes[route.id] = route
  }

  private static func duplicate(_ route: Route, _ first: Route?) -> RoutingError {
    let place = first.map { "\($0.pattern) of \($0.source)" } ?? "another route"
    return RoutingError(
      .duplicate,
      "the route \(route.pattern) of \(route.source) has the shape of \(place); "
        + "give one of them a priority, or another pattern",
      sources: [route.source] + (first.map { [$0.source] } ?? []))
  }

  /// Takes a route out; what only it needed goes with it.
  mutating func remove(_ id: Route.ID) -> Route? {
    guard let route = routes.removeValue(forKey: id) else { return nil }
    for variant in route.variants { tree.remove(id, segments: variant, root: route.root) }
    return route
  }

  /// Takes out the routes for which `condition` holds, and answers them.
  mutating func remove(where condition: (Route) -> Bool) -> [Route] {
    all.filter(condition).compactMap { remove($0.id) }
  }

  /// Sets who answers what no route of a scheme answers, and answers who did.
  mutating func setUnmatched(
    _ handler: Numbered<Unmatched>, for scheme: String?
  ) -> Numbered<Unmatched>? {
    exchange(&schemes[scheme, default: .init()].unmatched, with: handler)
  }

  /// Takes out who answers what no route of a scheme answers, if it is still the one of this number.
  mutating func removeUnmatched(_ number: UInt64, for scheme: String?) -> Numbered<Unmatched>? {
    guard schemes[scheme]?.unmatched?.number == number else { return nil }
    return schemes[scheme]?.unmatched.take()
  }

  /// The routes that a URL meets, the best one first.
  func matches(of url: URLText) -> [Match] {
    let fallsBack = url.scheme.flatMap { schemes[$0]?.fallsBack } ?? true
    return RouteSearch.matches(of: url, in: tree, includingAnyScheme: fallsBack).compactMap {
      match in
      routes[match.route].map { ($0, match.values) }
    }
  }

  /// Answers what no route answers: the scheme's own, else the one of all.
  func unmatched(for url: URLText) -> Unmatched? {
    let general = schemes[nil]?.unmatched
    guard let scheme = url.scheme, let rules = schemes[scheme] else { return general?.handler }
    return (rules.unmatched ?? (rules.fallsBack ? general : nil))?.handler
  }
}
