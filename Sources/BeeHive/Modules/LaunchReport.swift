internal import BinaryImage

/// How `Hive.start` goes about it.
///
///     let options = LaunchOptions(
///       onFailure: .skip, timeLimit: .seconds(10), watchdog: .seconds(1))
///     let report = try await hive.start(options: options)
///     print(report.failures)
public struct LaunchOptions: Sendable {
  /// What happens to the others when a module fails.
  package var onFailure: FailurePolicy
  /// How long one step of one module may take, and one event; nil for as long as it likes. Each counts
  /// from its own beginning, also where others block their threads.
  package var timeLimit: Duration?
  /// The time that a module may take for a step or an event before observers hear that it is slow; nil for any time.
  var watchdog: Duration?

  /// Modules that do not start, besides those that `BEEHIVE_DISABLE` in the environment names.
  package var disabled: Set<String>

  /// Stops at the first failure and waits without limit, unless told otherwise.
  ///
  /// - Parameters:
  ///   - onFailure: What happens to the others when a module fails.
  ///   - timeLimit: How long one step of one module may take, and one event; nil for no limit.
  ///   - watchdog: How long a module may take for a step or an event before observers are told that it is slow, while
  ///     it still is; nil for nobody to be told.
  ///   - disabled: The names of modules that do not start, besides those in `BEEHIVE_DISABLE`.
  public init(
    onFailure: FailurePolicy = .stop, timeLimit: Duration? = nil, watchdog: Duration? = nil,
    disabled: Set<String> = []
  ) {
    self.onFailure = onFailure
    self.timeLimit = timeLimit
    self.watchdog = watchdog
    self.disabled = disabled
  }
}

/// What came of a start.
public struct LaunchReport: Sendable {
  /// The modules that live, in the order in which they were started.
  public internal(set) var started: [String] = []
  /// The order, what was lifted, and what could not be ordered.
  package internal(set) var order = LaunchOrder([])
  /// Modules that were switched off by name.
  public internal(set) var disabled: [String] = []
  /// Names that are switched off and that no module has; one sentence each.
  package internal(set) var remarks: [String] = []
  /// Modules that nothing makes, or that were rejected; each says why.
  public internal(set) var unbound: [Entry] = []
  /// The modules that failed, or were skipped because another one did.
  public internal(set) var failures: [ModuleFailure] = []
  /// The time that each module took for each step, or an event that came in between, the earliest to end first,
  /// and whether that was longer than the watchdog of the start allows.
  public internal(set) var times: [(module: String, step: String, took: Duration, isSlow: Bool)] =
    []

  /// Whether every module that could be made was ordered and started.
  var isClean: Bool { failures.isEmpty && order.problems.isEmpty }
}

extension LaunchReport: CustomStringConvertible {
  /// `started: log, shop`, then one line for each thing that is not as it might have been expected.
  public var description: String {
    var lines = ["started: \(started.joined(separator: ", "))".escaped]
    lines += order.lifts.map { "lifted: \($0)" }
    lines += disabled.map { "switched off: \($0)".escaped } + remarks
    lines += unbound.map(\.description) + order.problems
    lines += order.blocked.sorted { $0.key < $1.key }.map { module, requirement in
      "module \(module) cannot start: \(requirement) cannot, and it requires that".escaped
    }
    lines += failures.map(\.description)
    lines += times.filter(\.isSlow).map {
      "slow: \($0.module) took \($0.took) for \($0.step)".escaped
    }
    return lines.joined(separator: "\n")
  }
}

/// Why a Hive did not start; nothing of it runs.
public struct LaunchError: Error, Sendable, CustomStringConvertible {
  /// The order, with what is missing and the cycles.
  package var order = LaunchOrder([])
  /// The modules that failed.
  public var failures: [ModuleFailure] = []
  /// The interruption, if that is the reason.
  package var interruption: Interruption?

  /// An interruption of a start: one sentence.
  package enum Interruption: Hashable, Sendable, CustomStringConvertible {
    /// A call of `stop`, or the cancellation of the task.
    case stopped
    /// The call came from a module that is being started or stopped itself.
    case calledInside
    /// Signals cannot be observed, for a reason.
    case unobserved(signals: String, reason: String)

    package var description: String {
      switch self {
      case .stopped: "stopped, or cancelled, before the start was over"
      case .calledInside: "start was called by a module that is being started or stopped"
      case .unobserved(let signals, let reason): "cannot observe \(signals): \(reason)"
      }
    }
  }

  /// One line for each cause.
  public var description: String {
    (order.problems + failures.map(\.description) + [interruption].compactMap { $0?.description })
      .joined(separator: "\n")
  }
}

/// A module that threw, or took longer than it may.
public struct ModuleFailure: Error, Sendable {
  /// The module's name.
  public var module: String
  /// The event or step it failed in.
  public var event: String
  /// The reason, without the module's name: `threw …`.
  package var reason: String
  /// The error that the module threw, if it threw one.
  public internal(set) var error: (any Error)?
  /// Whether the module had not finished in its time; nobody waits for it any longer.
  package var isOverdue = false
  /// Where the module was declared.
  package var source: Source
}

extension ModuleFailure: CustomStringConvertible {
  /// `module audio (libshop.so BeehiveRecords[0]) setUp: …`
  public var description: String { "module \(module) (\(source)) \(event): \(reason)".escaped }

  /// `setUp: threw …`: what a list of modules says beside the name.
  var stepAndCause: String { "\(event): \(reason)".escaped }
}

/// What happens to the others when a module fails to start.
public enum FailurePolicy: Hashable, Sendable {
  /// Everything that was started is torn down again, and `start` throws.
  case stop
  /// The module and whatever requires it do not start; the others do.
  case skip
  /// The failure is reported, and the module counts as started. One that has not come back within
  /// its time limit is left out, since it is never called again; modules that require it start.
  case `continue`
}
