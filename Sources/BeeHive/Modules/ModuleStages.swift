internal import BinaryImage

/// How far each module got, for those who cannot wait for the runner: reports. Lives under the Hive's
/// lock; the runner says it.
struct ModuleStages {
  /// What became of a module.
  enum Stage {
    case started
    case overdue
    case failed(String)
    /// Why.
    case notStarted(String)
  }

  private var isRunning = false
  private var running: Set<UInt64> = []
  private var overdue: Set<UInt64> = []
  /// What went wrong, by name.
  private var failures: [String: String] = [:]

  /// Notes what came of a start, or of one more look for modules.
  mutating func advance(
    running: some Sequence<UInt64>, overdue: some Sequence<UInt64>, failures: [ModuleFailure]
  ) {
    isRunning = true
    self.running = Set(running)
    self.overdue = Set(overdue)
    for failure in failures { self.failures[failure.module] = "\(failure.event): \(failure.what)" }
  }

  /// What became of a module; nil while the Hive does not run. `isOrdered` says that its requirements
  /// are met.
  func stage(of entry: RegisteredEntry, isOrdered: Bool) -> Stage? {
    guard isRunning, entry.kind == .module else { return nil }
    if overdue.contains(entry.order) { return .overdue }
    if running.contains(entry.order) { return .started }
    if let failure = failures[entry.name] { return .failed(failure) }
    return .notStarted(
      isOrdered
        ? "came after the start; startLatecomers() starts it, in C beehive_start_latecomers()"
        : "what it requires cannot start")
  }
}

extension ModuleStages.Stage {
  /// The word and the reason that a report prints.
  var words: (String, String?) {
    switch self {
    case .started: ("started", nil)
    case .overdue: ("overdue", "did not come back within the time limit of the start")
    case .failed(let reason): ("failed", reason.escaped)
    case .notStarted(let reason): ("not started", reason)
    }
  }
}
