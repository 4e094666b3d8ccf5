public import BeeHive
public import Logging

extension Hive {
  /// Writes what this Hive does to a log, beginning with what is there already.
  @discardableResult
  public func log(to logger: Logger) -> Handle {
    observe(fromStart: true) { notice in
      logger.log(level: notice.level, "\(notice)", metadata: notice.metadata)
    }
  }
}

extension HiveNotice {
  /// How much it matters.
  fileprivate var level: Logger.Level {
    switch self {
    case .entryRejected, .imageNotInspected, .moduleLeftOut, .stepEnded(_, _, .some): .error
    case .surplusReply, .moduleIsSlow: .warning
    case .started, .stopped, .signalArrived, .memoryPressure: .info
    case .stepBegan: .trace
    default: .debug
    }
  }

  /// What a search in the log would ask for.
  fileprivate var metadata: Logger.Metadata {
    switch self {
    case .stepBegan(let step): ["module": "\(step.module)", "event": "\(step.event)"]
    case .stepEnded(let step, let took, _):
      ["module": "\(step.module)", "event": "\(step.event)", "took": "\(took)"]
    case .moduleIsSlow(let module, let event, let elapsed):
      ["module": "\(module)", "event": "\(event)", "took": "\(elapsed)"]
    case .moduleLeftOut(let failure): ["module": "\(failure.module)"]
    default: [:]
    }
  }
}
