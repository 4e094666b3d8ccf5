internal import Registration

/// The routes that a URL meets, the best one first, and the handler of URLs that meet none.
typealias MetRoutes = (matches: [RouteTable.Match], unmatched: Fallback<RouteCall>?)

/// The routes, types and aliases of a router. The lock of its `RoutingCore` protects it; a copy is a snapshot.
struct RouteTable: Sendable {
  /// A route, the values that the path gives, and how the route has read the path.
  typealias Match = (route: Route, values: PathValues, reading: Reading)

  private(set) var tree = RouteTree()
  private(set) var routes = [UInt64: Route]()
  var types = SegmentTypes()
  /// The handler of URLs that no route answers.
  var unmatched: Numbered<Fallback<RouteCall>>?
  /// The URLs that aliases lead to, by name.
  var aliases: [String: Numbered<String>] = [:]

  /// Every route, in order of registration.
  var all: [Route] { routes.values.sorted { $0.id < $1.id } }

  /// Adds a route; throws if its pattern is taken, or names a type that is not defined.
  mutating func add(_ route: Route) throws(RoutingError) {
    // All forms are made before the first is inserted: a route that cannot be used changes nothing.
    var route = route
    let variants = route.pattern.parts.variants(isPrefix: route.extent == .prefix)
    route.forms = try variants.map { variant throws(RoutingError) in
      try RouteTree.Form(variant, of: route.pattern, types: types)
    }
    for form in route.forms {
      let taken = tree.endings(at: form).first {
        $0.extent == form.extent && $0.priority == route.priority
      }
      guard let taken, let first = routes[taken.number] else { continue }
      throw RoutingError(
        .duplicate,
        "the route \(route.pattern) of \(route.source) has the shape of \(first.pattern) of \(first.source); "
          + "\(Remedy.distinguish(.route))", sources: [route.source, first.source])
    }
    for form in route.forms { tree.insert(route.id, priority: route.priority, at: form) }
    routes[route.id] = route
  }

  /// Removes a route, and with it what only it needed.
  mutating func remove(_ id: UInt64) -> Route? {
    guard let route = routes.removeValue(forKey: id) else { return nil }
    for form in route.forms { tree.remove(id, at: form) }
    return route
  }

  /// Removes the routes of a pattern's shape, and returns them.
  mutating func remove(shapedLike pattern: RoutePattern) -> [Route] {
    // Routes of one shape share all of their forms.
    guard let longest = pattern.variants.first,
      let form = try? RouteTree.Form(longest, of: pattern, types: pattern.anyTypes)
    else { return [] }
    return Set(tree.endings(at: form).map(\.number)).compactMap { id in
      guard let route = routes[id], route.hasShape(of: pattern) else { return nil }
      return remove(id)
    }
  }

  /// Returns the routes that a URL meets, the best one first.
  ///
  /// With `ignoringTypes`, returns the routes that it would meet if every piece of its path had the right type.
  /// The values are texts then.
  func matches(of url: URLText, ignoringTypes: Bool = false) -> [Match] {
    RouteSearch.matches(of: url, in: tree, ignoringTypes: ignoringTypes).compactMap { match in
      routes[match.number].map { ($0, match.values, match.reading) }
    }
  }
}
