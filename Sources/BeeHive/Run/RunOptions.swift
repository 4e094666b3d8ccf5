internal import LibC

/// How `Hive.run` goes about it.
public struct RunOptions: Sendable {
  /// How modules are started.
  public var launch: LaunchOptions
  /// The signals to observe: SIGTERM and SIGINT unless told otherwise, `.none` under another runner.
  public var signals: Set<Signal>
  /// How long willTerminate and the tearing down may take together; nil for as long as they like. Holds
  /// also where modules block the threads that they run on.
  public var tearDownLimit: Duration?
  /// Where it is told that memory is short.
  public var memoryPressure: MemoryPressure
  /// Stops the process once modules know of SIGTSTP, as the signal would have done by itself.
  var suspendProcess: @Sendable () -> Void = { kill(getpid(), SIGSTOP) }
  /// Ends the process when the second signal asks for it, with the status that shells give.
  var endProcess: @Sendable (Signal) -> Void = { _exit(128 + $0.rawValue) }

  /// Observes SIGTERM, SIGINT and memory pressure, and gives the modules 25 seconds to end.
  ///
  /// Container hosts commonly kill a process 30 seconds after SIGTERM.
  ///
  /// - Parameters:
  ///   - launch: How modules are started.
  ///   - signals: The signals to observe; `.none` where another runner owns them.
  ///   - tearDownLimit: How long willTerminate and the tearing down may take together; nil for no limit.
  ///   - memoryPressure: Where to learn that memory is short.
  public init(
    launch: LaunchOptions = LaunchOptions(), signals: Set<Signal> = .terminating,
    tearDownLimit: Duration? = .seconds(25), memoryPressure: MemoryPressure = .automatic
  ) {
    self.launch = launch
    self.signals = signals
    self.tearDownLimit = tearDownLimit
    self.memoryPressure = memoryPressure
  }
}

/// How a run went.
public struct RunReport: Sendable {
  /// Why a run ended.
  public enum Cause: Hashable, Sendable {
    /// A signal asked for it.
    case signal(Signal)
    /// The task that ran it was cancelled.
    case cancelled
    /// Somebody called `stop`.
    case stopped
  }

  /// Why it ended.
  public var cause: Cause
  /// What came of the start; nil where the run ended before the start was over.
  public var launch: LaunchReport?
  /// Whether modules could be told that memory is short.
  public var memoryPressure: MemoryPressure.Availability
  /// The modules that failed to be torn down.
  public var failures: [ModuleFailure]
  /// Whether every module was torn down within the limit; the rest is still at it.
  public var isComplete: Bool
  /// The modules that had not come back when the limit passed, and the step or event that each is in.
  public var hanging: [Watchdog.Finding] = []
}

extension RunReport: CustomStringConvertible {
  /// `ended by SIGTERM; every module was torn down`, then one line for each that was not, and why.
  public var description: String {
    let end =
      switch cause {
      case .signal(let signal): "ended by \(signal)"
      case .cancelled: "cancelled"
      case .stopped: "stopped"
      }
    let result = isComplete ? "every module was torn down" : "not torn down within the limit"
    return (["\(end); \(result)"] + hanging.map(\.description) + failures.map(\.description))
      .joined(separator: "\n")
  }
}

/// Why a Hive cannot run.
public enum RunError: Error, Sendable, CustomStringConvertible {
  /// These signals cannot be observed, for this reason.
  case signals(Set<Signal>, String)
  /// The modules did not start; nothing of them runs.
  case launch(LaunchError)

  /// One line for each cause.
  public var description: String {
    switch self {
    case .signals(let signals, let reason):
      let names = signals.sorted { $0.rawValue < $1.rawValue }.map(\.description)
      return "cannot observe \(names.joined(separator: ", ")): \(reason)"
    case .launch(let error): return error.description
    }
  }
}
