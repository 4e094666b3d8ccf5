import Synchronization

/// Counts from 1, on any thread. Alone, because it belongs to no other question of tests.
public final class Counter: Sendable {
  private let number = Atomic<Int>(0)

  /// How often ``next()`` was called.
  public var count: Int { number.load(ordering: .acquiring) }

  /// Begins at 0.
  public init() {}

  /// Counts one more, and returns the count.
  @discardableResult
  public func next() -> Int { number.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue }
}
