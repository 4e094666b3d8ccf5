/// The service that Swift plugins offer.
public protocol Greeter: Sendable {
  /// A greeting, or whatever a test wants to know of the implementation.
  func greet() -> String
}

/// The second service: what a type that arrives late may conform to, or not.
public protocol Painter: Sendable {
  /// A colour.
  func paint() -> String
}
