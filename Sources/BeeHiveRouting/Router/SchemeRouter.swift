internal import Threads

/// The routes of one scheme, and what becomes of its URLs that none of them answers.
public struct SchemeRouter: Sendable {
  /// The scheme, in lower case.
  public let scheme: String
  let router: Router

  /// Registers a handler for the URLs of this scheme that a pattern matches.
  ///
  /// - Parameters:
  ///   - pattern: A pattern without a scheme: `/shop/:id` or `//shop/:id`.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: The largest is asked first among routes that match.
  ///   - extent: Whether the pattern covers all of a URL's path or its beginning.
  ///   - file: Where it is registered: errors and the catalogue name the location.
  ///   - line: The line in that file.
  ///   - handler: Answers a call; throwing `call.refusal(…)` has the next matching route asked.
  /// - Returns: The registration, to cancel it.
  /// - Throws: ``RoutingError`` with `badPattern`, `unknownType` or `duplicate`, as ``Router`` does.
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

  /// Removes the routes of a pattern's shape, of every priority, whatever registered or declared them.
  ///
  /// - Parameter pattern: The pattern without a scheme, or one of its shape.
  /// - Returns: Whether there was any; false also if the pattern cannot be read.
  @discardableResult
  public func deregister(_ pattern: String) -> Bool { router.deregister(whole(pattern)) }

  /// Removes every route of this scheme that code registered; those of images stay.
  public func deregisterAll() {
    _ = router.core.routes.withLock { table in
      table.remove { $0.isOfCode && $0.pattern.scheme == scheme }
    }
  }

  /// The routes of this scheme, in order of registration.
  public var routes: [Route] { router.routes.filter { $0.pattern.scheme == scheme } }

  /// Sets whether URLs of this scheme also meet the routes of any scheme. They do unless this is called.
  ///
  /// A setting, and so without a handle: setting it anew undoes it, also what a module has set.
  ///
  /// - Parameter fallsBack: Whether they do, and come to the handler of unmatched URLs of any scheme too.
  public func fallBack(_ fallsBack: Bool) {
    router.core.routes.withLock { table in
      table.closedSchemes.remove(scheme)
      if !fallsBack { table.closedSchemes.insert(scheme) }
    }
  }

  /// Registers the handler of URLs of this scheme whose path no route has; it replaces the one before.
  ///
  /// It is asked instead of ``Router/unmatched(exposure:_:)``, and as that one is.
  ///
  /// - Parameters:
  ///   - exposure: Whether calls from outside reach it.
  ///   - handler: Answers a call.
  /// - Returns: Its `cancel()` removes the handler.
  @discardableResult
  public func unmatched<Value: Sendable>(
    exposure: Exposure = .local, _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) -> Handle {
    router.unmatched(for: scheme, exposure, handler)
  }

  private func whole(_ pattern: String) -> String {
    pattern.hasPrefix("/") ? "\(scheme):\(pattern)" : "\(scheme):/\(pattern)"
  }
}
