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

extension LaunchOrder {
  /// What cannot be ordered, one sentence each: requirements that nobody meets, and circles.
  public var problems: [String] {
    missing.map { missing in
      "module \(missing.module.name) (\(missing.module.source)) requires \(missing.requirement), "
        + "which no module is called; link or load the one that is, or make it `after`"
    } + cycles.map(\.description)
  }
}

extension LaunchOrder.Cycle: CustomStringConvertible {
  /// `cycle: storage → log → storage (libstorage.so BeehiveRecords[0], liblog.so BeehiveRecords[0])`
  public var description: String {
    let names = path.map(\.name).joined(separator: " → ")
    let places = path.dropLast().map(\.source.description).joined(separator: ", ")
    return "cycle: \(names) (\(places))"
  }
}
