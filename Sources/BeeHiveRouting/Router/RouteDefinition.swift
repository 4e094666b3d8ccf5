/// A route as a record hands it over: what `@Route` writes.
public struct RouteDefinition: Sendable {
  /// The pattern as it was written.
  public let pattern: String
  let priority: Int
  let extent: Route.Extent
  let exposure: Exposure
  let result: String
  let handler: @Sendable (RouteCall) async throws -> any Sendable
}

extension RouteDefinition {
  /// Describes a route; its pattern is read when it is registered.
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: The largest is asked first among routes that match.
  ///   - extent: Whether the pattern covers all of a URL's path or its beginning.
  ///   - handler: Answers a call, with no lock held.
  public init<Value: Sendable>(
    _ pattern: String, exposure: Exposure = .local, priority: Int = 0,
    matching extent: Route.Extent = .exact,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) {
    self.init(
      pattern: pattern, priority: priority, extent: extent, exposure: exposure,
      result: Value.self == Void.self ? "" : "\(Value.self)", handler: handler)
  }
}
