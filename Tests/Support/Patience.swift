import Foundation
public import Testing

/// Waiting for what others bring about. Nothing here measures: whoever waits gives up only where
/// nothing will ever come.
public enum Patience {
  /// After how long nothing will come any more.
  private static let end: Duration = .seconds(600)
  private static let pause: Duration = .milliseconds(5)
  /// After how many turns of its own a task will not come that has not come by then. Tasks take turns, and on a busy
  /// machine the first may take longer than the time above.
  private static let turns = 1000

  /// Blocks the thread until something is so.
  ///
  /// - Returns: Whether it is.
  @discardableResult
  public static func block(until isSo: () throws -> Bool) rethrows -> Bool {
    try spin {
      if try isSo() { return true }
      Thread.sleep(forTimeInterval: 0.005)
      return false
    }
  }

  /// Does something again and again, without a pause, until it answers true.
  ///
  /// - Returns: Whether it did.
  public static func spin(_ attempt: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    while try !attempt() {
      guard start.duration(to: .now) < end else { return false }
    }
    return true
  }

  /// Runs `body` on a thread of its own, which may lock itself up.
  ///
  /// - Returns: Whether it came to its end.
  public static func comesToEnd(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isOver = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      isOver.signal()
    }
    return isOver.wait(timeout: .now() + 600) == .success
  }

  /// Waits until something is so, while other tasks run.
  ///
  /// - Returns: Whether it is.
  /// - Throws: What `isSo` throws, or an error if the task is cancelled.
  public static func wait(until isSo: () async throws -> Bool) async throws -> Bool {
    let start = ContinuousClock.now
    var turn = 0
    while try await !isSo() {
      guard turn < turns || start.duration(to: .now) < end else { return false }
      turn += 1
      try await Task.sleep(for: pause)
    }
    return true
  }

  /// Tries time limits, one longer than the other, until nothing was cut off that ends by itself.
  ///
  /// What never ends exceeds the first; what only has to wait for a processor is within the last.
  ///
  /// - Parameters:
  ///   - attempt: Does the whole thing with a limit.
  ///   - isWhole: Whether all went well that ends by itself.
  /// - Returns: What the first good attempt came to, else the last one.
  public static func trying<Value>(
    _ attempt: (_ limit: Duration) async throws -> Value, until isWhole: (Value) -> Bool
  ) async rethrows -> Value {
    for limit in [.milliseconds(50), .milliseconds(500), .seconds(5)] as [Duration] {
      let value = try await attempt(limit)
      if isWhole(value) { return value }
    }
    return try await attempt(.seconds(60))
  }
}

extension Trait where Self == TimeLimitTrait {
  /// Ends the test where it hangs. The time passes for tests that wait for a processor too.
  public static var mayHang: Self { .timeLimit(.minutes(60)) }
}
