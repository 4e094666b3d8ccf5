internal import LibC

/// How `Hive.run` goes about it.
public struct RunOptions: Sendable {
  /// How modules are started.
  package var launch: LaunchOptions
  /// The signals to observe: SIGTERM and SIGINT unless told otherwise; empty under another runner.
  package var signals: Set<Signal>
  /// How long willTerminate and the tearing down may take together; nil for as long as they like. Holds
  /// also where modules block the threads that they run on.
  package var tearDownLimit: Duration?
  /// Where it is told that memory is short.
  package var memoryPressure: MemoryPressure
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
  ///   - signals: The signals to observe; `[]` where another runner owns them.
  ///   - tearDownLimit: How long willTerminate and the tearing down may take together; nil for no limit.
  ///   - memoryPressure: Where to learn that memory is short.
  public init(
    launch: LaunchOptions = LaunchOptions(), signals: Set<Signal> = [.terminate, .interrupt],
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
  /// The source of notices of memory pressure, or the reason that there is none: one sentence.
  package var memoryPressure: String
  /// The modules that failed to be torn down.
  public var failures: [ModuleFailure]
  /// Whether every module was torn down within the limit; the rest is still at it.
  public var isComplete: Bool
  /// The modules that had not come back when the limit passed, and the step or event that each is in.
  public var hanging: [(module: String, event: String, elapsed: Duration)] = []
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
    return (["\(end); \(result)"] + hanging.map(ModuleStep.delay) + failures.map(\.description))
      .joined(separator: "\n")
  }
}

/// A signal of the operating system that `run` can observe.
public struct Signal: RawRepresentable, Hashable, Sendable {
  /// The system's number.
  public let rawValue: Int32

  /// Wraps a number.
  ///
  /// - Parameter rawValue: The system's number, from 1 to 64; `run` throws for any other.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// SIGTERM: ends `run`.
  public static let terminate = Self(rawValue: SIGTERM)
  /// SIGINT, which Ctrl-C sends: ends `run`.
  public static let interrupt = Self(rawValue: SIGINT)
  /// SIGQUIT: ends `run`.
  public static let quit = Self(rawValue: SIGQUIT)
  /// SIGHUP: modules are told of it as a typed event, `event.value(as: Signal.self)`.
  public static let hangUp = Self(rawValue: SIGHUP)
  /// SIGUSR1: modules are told of it as a typed event.
  public static let user1 = Self(rawValue: SIGUSR1)
  /// SIGUSR2: modules are told of it as a typed event.
  public static let user2 = Self(rawValue: SIGUSR2)
  /// SIGTSTP, which Ctrl-Z sends: willResignActive, didEnterBackground, and the process stops.
  public static let suspend = Self(rawValue: SIGTSTP)
  /// SIGCONT: willEnterForeground, didBecomeActive.
  public static let resume = Self(rawValue: SIGCONT)

  /// Whether it asks the process to end.
  var isTerminating: Bool { self == .terminate || self == .interrupt || self == .quit }

  /// The events that modules are told when it comes, in order, unless it ends the process.
  var events: [Event] {
    switch self {
    case .suspend: [.willResignActive, .didEnterBackground]
    case .resume: [.willEnterForeground, .didBecomeActive]
    default: [Event(.typed, name: description, payload: self)]
    }
  }
}

extension Signal: CustomStringConvertible {
  /// `SIGTERM`
  public var description: String { Self.names[self] ?? "signal \(rawValue)" }

  private static let names: [Signal: String] = [
    .terminate: "SIGTERM", .interrupt: "SIGINT", .quit: "SIGQUIT", .hangUp: "SIGHUP",
    .user1: "SIGUSR1", .user2: "SIGUSR2", .suspend: "SIGTSTP", .resume: "SIGCONT",
  ]
}
