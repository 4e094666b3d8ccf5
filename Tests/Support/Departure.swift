public import Testing

/// An object that leaves its holder, and calls a closure when it ends.
public final class Departing: Sendable {
  private let ask: @Sendable () -> Void
  /// - Parameter ask: Runs at the end.
  public init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
  deinit { ask() }
  /// Does nothing. Its caller holds the object.
  public func stay() {}
}

/// A way for a user's object to leave a Hive or a router.
public struct Departure<Holder>: Sendable, CustomTestStringConvertible {
  /// Names the way.
  public let testDescription: String
  /// Gives the holder the object that `make` makes, without keeping it, and takes the object away.
  public let run: @Sendable (Holder, _ make: () -> Departing) throws -> Void

  /// Describes a way.
  public init(
    _ name: String, _ run: @escaping @Sendable (Holder, () -> Departing) throws -> Void
  ) {
    (testDescription, self.run) = (name, run)
  }
}
