internal import BeeHive
internal import Threads

/// The routes of one scheme, and what becomes of its URLs that none of them answers.
public struct SchemeRouter: Sendable {
  /// The scheme, in lower case.
  public let scheme: String
  let router: Router

  /// Registers a handler for a pattern without a scheme: `/shop/:id` or `//shop/:id`.
  @discardableResult
  public func register<Value: Sendable>(
    _ pattern: String, exposure: Exposure = .local, priority: Int = 0,
    matching extent: Route.Extent = .exact, file: String = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) throws(RoutingError) -> RouteRegistration {
    try router.register(
      whole(pattern), exposure: exposure, priority: priority, matching: extent, file: file,
      line: line,
      handler)
  }

  /// Takes out what was registered under a pattern without a scheme.
  @discardableResult
  public func deregister(_ pattern: String) -> Bool { router.deregister(whole(pattern)) }

  /// Takes out every route of this scheme that code registered.
  public func deregisterAll() {
    _ = router.core.routes.withLock { table in
      table.remove { $0.isOfCode && $0.pattern.scheme == scheme }
    }
  }

  /// The routes of this scheme, in order of registration.
  public var routes: [Route] { router.routes.filter { $0.pattern.scheme == scheme } }

  /// Whether URLs of this scheme also meet the routes of any scheme, which come last. They do, else.
  public func fallBack(_ fallsBack: Bool) {
    router.core.routes.withLock { table in
      table.closedSchemes.remove(scheme)
      if !fallsBack { table.closedSchemes.insert(scheme) }
    }
  }

  /// Answers the URLs of this scheme whose path no route has, as `Router.unmatched`.
  public func unmatched<Value: Sendable>(
    exposure: Exposure = .local, _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) {
    router.unmatched(for: scheme, exposure, handler)
  }

  private func whole(_ pattern: String) -> String {
    pattern.hasPrefix("/") ? "\(scheme):\(pattern)" : "\(scheme):/\(pattern)"
  }
}
