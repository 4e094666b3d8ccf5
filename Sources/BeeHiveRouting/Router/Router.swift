internal import BeeHive
internal import Threads

/// Routes: URL patterns and what answers to them.
///
/// A value that stands for its Hive's routes; `Router()` is empty and belongs to none.
public struct Router: Sendable {
  let core: RoutingCore

  /// A router of its own: tests, and hosts without a Hive.
  public init() { core = RoutingCore() }

  init(core: RoutingCore) { self.core = core }

  /// Registers a handler for the URLs that a pattern matches.
  ///
  ///     try router.register("app://shop/:id<Int>", exposure: .remote) { call in
  ///       try await shop.item(call["id"])
  ///     }
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: The largest is asked first among routes that match.
  ///   - extent: Whether the pattern covers all of a URL's path or its beginning.
  ///   - file: Where it is registered: errors and the catalogue name the place.
  ///   - line: The line in that file.
  ///   - handler: Answers a call; throwing `call.refusal(…)` has the next matching route asked.
  /// - Returns: The registration, to cancel it.
  /// - Throws: ``RoutingError``: `badPattern`, or `duplicate` where a route of the same shape and priority is
  ///   registered; it names both places.
  @discardableResult
  public func register<Value: Sendable>(
    _ pattern: String, exposure: Exposure = .local, priority: Int = 0,
    matching extent: Route.Extent = .exact, file: String = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) throws(RoutingError) -> RouteRegistration {
    let definition = RouteDefinition(
      pattern, exposure: exposure, priority: priority, matching: extent, handler)
    let route = try definition.route(source: .code(file: file, line: line))
    try core.routes.withLock { table throws(RoutingError) in try table.add(route) }
    let registration = RouteRegistration(id: route.id, core: core)
    core.own { registration.cancel() }
    return registration
  }

  /// Takes out the routes of a pattern's shape, of every priority.
  ///
  /// As with duplicates, names of parameters and the query say nothing: `/a/:other` takes out `/a/:id`. Routes
  /// of other shapes stay, also those that begin like this one.
  ///
  /// - Parameter pattern: The pattern, or one of its shape.
  /// - Returns: Whether there was any.
  @discardableResult
  public func deregister(_ pattern: String) -> Bool {
    guard let pattern = try? RoutePattern(pattern) else { return false }
    let gone = core.routes.withLock { $0.remove(shapedLike: pattern) }
    return !gone.isEmpty
  }

  /// Takes out every route that code registered; those of images stay.
  public func deregisterAll() {
    _ = core.routes.withLock { $0.remove { $0.isOfCode } }
  }

  /// Every route, in order of registration, with its source.
  public var routes: [Route] {
    core.catchUp(probing: true)
    return core.routes.withLock { $0.all }
  }

  /// Returns the route that would be asked first about a URL, and calls nothing.
  ///
  /// - Parameter url: The URL, absolute or a path.
  /// - Returns: Nil where no route matches.
  public func route(for url: String) -> Route? {
    guard let url = try? URLText(url) else { return nil }
    return core.meet(url).matches.first?.route
  }

  /// Adds a type that patterns may name: `:month<Month>`.
  ///
  /// - Parameters:
  ///   - type: The name that patterns use.
  ///   - convert: Makes a value of the decoded text; nil where it is none of the type. Called on any thread,
  ///     while a URL is matched.
  /// - Throws: ``RoutingError`` where the name is taken.
  public func define(
    _ type: String, _ convert: @escaping @Sendable (String) -> (any URLConvertible)?
  ) throws(RoutingError) {
    try core.routes.withLock { table throws(RoutingError) in try table.types.define(type, convert) }
    core.own { [core] in _ = core.routes.withLock { $0.types.remove(type) } }
  }

  /// Answers the URLs whose path no route has; what a route that has it throws is thrown.
  ///
  /// Calls from outside reach it with `.remote` or `.elevated` alone, as a route.
  /// `handler` may open others. Where those are unmatched too, it is called again, one inside the
  /// other at most 16 times: then the innermost `open` throws `RoutingError.Code.redirectLoop`.
  public func unmatched<Value: Sendable>(
    exposure: Exposure = .local, _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) {
    unmatched(for: nil, exposure, handler)
  }

  /// The same for one scheme, or for all that have none of their own.
  func unmatched<Value: Sendable>(
    for scheme: String?, _ exposure: Exposure,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) {
    let unmatched = Numbered(
      handler: FallbackHandler<RouteCall>(exposure: exposure, answer: handler))
    _ = core.routes.withLock { $0.unmatched.updateValue(unmatched, forKey: scheme) }
    core.own { [core] in
      _ = core.routes.withLock { $0.unmatched.remove(unmatched.number, for: scheme) }
    }
  }

  /// The routes of one scheme.
  public func scheme(_ scheme: String) -> SchemeRouter {
    SchemeRouter(scheme: scheme.lowercased(), router: self)
  }
}

/// A registered route, to take it out again.
public struct RouteRegistration: Sendable {
  /// The route's number.
  public let id: Route.ID
  let core: RoutingCore

  /// Takes the route out.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  public func cancel() -> Bool {
    let route = core.routes.withLock { $0.remove(id) }
    return route != nil
  }
}
