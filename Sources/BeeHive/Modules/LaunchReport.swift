/// How `Hive.start` goes about it.
public struct LaunchOptions: Sendable {
  /// What happens to the others when a module fails.
  public var onFailure: FailurePolicy
  /// How long one step of one module may take; nil for as long as it likes.
  public var timeLimit: Duration?

  /// Stops at the first failure and waits without limit, unless told otherwise.
  public init(onFailure: FailurePolicy = .stop, timeLimit: Duration? = nil) {
    self.onFailure = onFailure
    self.timeLimit = timeLimit
  }
}

/// What came of a start.
public struct LaunchReport: Sendable {
  /// The modules that live, in the order in which they were started.
  public internal(set) var started: [String] = []
  /// The order, what was lifted, and what could not be ordered.
  public internal(set) var order: LaunchOrder
  /// Modules that were switched off by name.
  public internal(set) var disabled: [String] = []
  /// The modules that failed, or were skipped because another one did.
  public internal(set) var failures: [ModuleFailure] = []
}

/// Why a Hive did not start; nothing of it runs.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// The order, with what is missing and what goes in circles.
  public var order: LaunchOrder
  /// The modules that failed.
  public var failures: [ModuleFailure]
  /// Whether `stop` was called before the start was over.
  public var wasStopped: Bool

  /// One line for each cause.
  public var description: String {
    let lines = order.problems + failures.map(\.description)
    return (wasStopped ? lines + ["stop was called before the start was over"] : lines)
      .joined(separator: "\n")
  }
}
