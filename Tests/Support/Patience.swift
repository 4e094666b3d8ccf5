import Foundation
public import Testing

/// Waiting for other threads and processes. Nothing here measures time: a wait gives up only if nothing will ever come.
public enum Patience {
  /// The time after which nothing will come any more.
  private static let end: Duration = .seconds(600)
  private static let pause: Duration = .milliseconds(5)
  /// The number of a task's own turns after which nothing will come any more. Tasks take turns, and on a busy machine
  /// the first turn may take longer than `end`.
  private static let turns = 1000

  /// Blocks the thread until a condition is true.
  ///
  /// - Returns: Whether the condition is true.
  @discardableResult
  public static func block(until isSo: () throws -> Bool) rethrows -> Bool {
    try spin {
      if try isSo() { return true }
      Thread.sleep(forTimeInterval: 0.005)
      return false
    }
  }

  /// Repeats an attempt without a pause until it returns true.
  ///
  /// - Returns: Whether the attempt returned true.
  public static func spin(_ attempt: () throws -> Bool) rethrows -> Bool {
    let start = ContinuousClock.now
    while try !attempt() {
      guard start.duration(to: .now) < end else { return false }
    }
    return true
  }

  /// Runs `body` on a thread of its own, because it may deadlock.
  ///
  /// - Returns: Whether `body` came to its end.
  public static func comesToEnd(_ body: @escaping @Sendable () -> Void) -> Bool {
    let isOver = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      isOver.signal()
    }
    return isOver.wait(timeout: .now() + 600) == .success
  }

  /// Waits until a condition is true, while other tasks run.
  ///
  /// - Returns: Whether the condition is true.
  /// - Throws: The error of `isSo`, or an error if the task is cancelled.
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

  /// Tries longer and longer time limits until nothing that ends by itself was cut off.
  ///
  /// Endless work exceeds the first limit. Work that only waits for a processor stays within the last.
  ///
  /// - Parameters:
  ///   - attempt: Does all the work with a limit.
  ///   - isWhole: Whether all work that ends by itself went well.
  /// - Returns: The value of the first good attempt, or else of the last attempt.
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
  /// Ends a hanging test. The time also passes while a test waits for a processor.
  public static var mayHang: Self { .timeLimit(.minutes(60)) }
}
