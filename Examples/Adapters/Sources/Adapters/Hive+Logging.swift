public import BeeHive
public import Logging

extension Hive {
  /// Writes the notices of this Hive to a log, beginning with the entries that are there already.
  @discardableResult
  public func log(to logger: Logger) -> Handle {
    observe(fromStart: true) { notice in
      logger.log(level: notice.level, "\(notice)", metadata: notice.metadata)
    }
  }
}

extension HiveNotice {
  /// The log level of this notice.
  fileprivate var level: Logger.Level {
    switch self {
    case .entryRejected, .imageNotInspected, .moduleLeftOut, .stepEnded(_, _, .some): .error
    case .surplusReply, .moduleIsSlow: .warning
    case .started, .stopped, .signalArrived, .memoryPressure: .info
    case .stepBegan: .trace
    default: .debug
    }
  }

  /// The fields to search a log by.
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
