/// How much of a URL the pattern of a route has to cover.
public enum RouteExtent: String, Hashable, Sendable, CaseIterable {
  /// All of the path.
  case exact
  /// The path up to where the pattern ends; anything may follow.
  case prefix
}
