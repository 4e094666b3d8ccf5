public import Testing

/// What leaves the one that holds it, and asks something when it ends.
public final class Departing: Sendable {
  private let ask: @Sendable () -> Void
  /// - Parameter ask: Runs at the end.
  public init(_ ask: @escaping @Sendable () -> Void) { self.ask = ask }
  deinit { ask() }
  /// Does nothing; whoever calls it holds the object.
  public func stay() {}
}

/// A way for something of the user's to leave a Hive or a router.
public struct Departure<Holder>: Sendable, CustomTestStringConvertible {
  /// Names the way.
  public let testDescription: String
  /// Gives the holder what `make` makes, keeping nothing of it, and takes it away.
  public let run: @Sendable (Holder, _ make: () -> Departing) throws -> Void

  /// Describes a way.
  public init(
    _ name: String, _ run: @escaping @Sendable (Holder, () -> Departing) throws -> Void
  ) {
    (testDescription, self.run) = (name, run)
  }
}
