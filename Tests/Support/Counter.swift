import Synchronization

/// A counter from 1, for any thread. It has a file of its own because it belongs to no other topic of tests.
public final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  /// The number of calls of ``next()``.
  public var count: Int { number.load(ordering: .acquiring) }

  /// Begins at 0.
  public init() {}

  /// Adds one, and returns the count.
  @discardableResult
  public func next() -> Int { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
