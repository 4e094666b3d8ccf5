public import BinaryImage

/// Something that a Hive did or found, for its observers.
///
/// More cases may come: a `switch` over it has a `default`.
public enum HiveNotice: Sendable {
  /// An entry came, bound or not yet.
  case entryRegistered(Entry)
  /// An entry that had come before can be made now.
  case entryBound(Entry)
  /// An entry was rejected; its state says why.
  case entryRejected(Entry)
  /// An entry was removed, by itself or with its image.
  case entryWithdrawn(Entry)
  /// An image with this many entries was merged.
  case imageArrived(path: String, entryCount: Int)
  /// An image was removed with its entries: it stays mapped.
  case imageWithdrawn(path: String)
  /// An image cannot be inspected.
  case imageNotInspected(ImageError)
  /// A module is about to run a step or to get an event.
  case stepBegan(ModuleStep)
  /// A step or event of a module has ended, or nobody waits for it any longer; `failure` says what went wrong.
  case stepEnded(ModuleStep, took: Duration, failure: ModuleFailure?)
  /// A module has been in a step or event for longer than the watchdog allows, and still is.
  case moduleIsSlow(module: String, event: String, elapsed: Duration)
  /// A module cannot be made, or is skipped because a module that it requires failed.
  case moduleLeftOut(ModuleFailure)
  /// A module answered a question that another one had answered already.
  case surplusReply(event: String, module: String, winner: String)
  /// Every module has been started.
  case started(LaunchReport)
  /// Every module has been torn down, except those that failed to.
  case stopped(failures: [ModuleFailure])
  /// `run` got a signal.
  case signalArrived(Signal)
  /// `run` looked for a source of memory pressure; the text is the outcome.
  case memoryPressure(String)
}

extension HiveNotice: CustomStringConvertible {
  /// One line for a log; several lines for a report.
  public var description: String {
    if case .started(let report) = self { report.description } else { line.escaped }
  }

  private var line: String {
    switch self {
    case .entryRegistered(let entry), .entryBound(let entry), .entryRejected(let entry):
      entry.description
    case .entryWithdrawn(let entry): "withdrawn \(entry.kind) \(entry.name) \(entry.source)"
    case .imageArrived(let path, let count): "image \(path): entries \(count)"
    case .imageWithdrawn(let path): "image \(path) was removed"
    case .imageNotInspected(let error): "image not inspected: \(error)"
    case .stepBegan(let step): "module \(step.module) \(step.event) begins"
    case .stepEnded(let step, let took, nil): "module \(step.module) \(step.event) took \(took)"
    case .stepEnded(_, _, let failure?), .moduleLeftOut(let failure): failure.description
    case .moduleIsSlow(let module, let event, let elapsed):
      ModuleStep.delay(module, event, elapsed)
    case .surplusReply(let event, let module, let winner):
      "\(event): \(winner) has answered, so the answer of \(module) is dropped"
    case .started(let report): report.description
    case .stopped(let failures):
      failures.isEmpty ? "stopped" : "stopped; modules that failed to: \(failures.count)"
    case .signalArrived(let signal): "\(signal)"
    case .memoryPressure(let outcome): outcome
    }
  }
}

extension Entry {
  /// The notice that observers get when this entry comes.
  var notice: HiveNotice {
    if case .rejected = state { .entryRejected(self) } else { .entryRegistered(self) }
  }
}
