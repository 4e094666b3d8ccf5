/// The service that Swift plugins offer.
public protocol Greeter: Sendable {
  /// Returns a greeting, or other text that a test needs from the implementation.
  func greet() -> String
}

/// The second service. A type that arrives late may conform to it, or not.
public protocol Painter: Sendable {
  /// Returns a colour.
  func paint() -> String
}
