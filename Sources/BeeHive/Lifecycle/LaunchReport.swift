/// The options of `Hive.start`.
///
///     let options = LaunchOptions(
///       onFailure: .skip, timeLimit: .seconds(10), watchdog: .seconds(1))
///     let report = try await hive.start(options: options)
///     print(report.failures)
public struct LaunchOptions: Sendable {
  /// The reaction to a module that fails.
  package var onFailure: FailurePolicy
  /// The time that one step or event of one module may take; nil for no limit. Each counts from its own beginning, also
  /// if others block their threads.
  package var timeLimit: Duration?
  /// The time that a module may take for a step or an event before observers hear that it is slow; nil for any time.
  var watchdog: Duration?

  /// Modules that do not start, besides those that `BEEHIVE_DISABLE` in the environment names.
  package var disabled: Set<String>

  /// Stops at the first failure and waits without limit, by default.
  ///
  /// - Parameters:
  ///   - onFailure: The reaction to a module that fails.
  ///   - timeLimit: The time that one step or event of one module may take; nil for no limit. The failure names the
  ///     function of the image that the module waits in, if the kernel shows the thread and the file has symbols.
  ///   - watchdog: The time that a module may take for a step or an event before observers hear that it is slow; nil
  ///     for no notice.
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

/// The outcome of a start.
public struct LaunchReport: Sendable {
  /// The modules that run, in the order of their start.
  public internal(set) var started: [String] = []
  /// The order, with lifted modules and obstacles.
  package internal(set) var order = LaunchOrder([])
  /// Modules that were switched off by name.
  public internal(set) var disabled: [String] = []
  /// Switched-off names that no module has; one sentence each.
  package internal(set) var remarks: [String] = []
  /// Modules that nothing makes, or that were rejected; each says why.
  public internal(set) var unbound: [Entry] = []
  /// The modules that failed, or were skipped because another one did.
  public internal(set) var failures: [ModuleFailure] = []
  /// The time that each module took for each step, or for an event in between, the earliest to end first. `isSlow`
  /// tells whether that was longer than the watchdog of the start allows.
  public internal(set) var times: [(module: String, step: String, took: Duration, isSlow: Bool)] =
    []

  /// Whether every module that could be made was ordered and started.
  var isClean: Bool { failures.isEmpty && order.problems.isEmpty }
}

extension LaunchReport: CustomStringConvertible {
  /// `started: log, shop`, then one line for each irregularity.
  public var description: String {
    var lines = ["started: \(started.joined(separator: ", "))".escaped]
    lines += order.lifts.map { "lifted: \($0)" }
    lines += disabled.map { "switched off: \($0)".escaped } + remarks
    lines += unbound.map(\.description) + order.problems
    lines += order.blocked.sorted { $0.key < $1.key }.map { module, requirement in
      "module \(module) cannot start: it requires \(requirement), which cannot start".escaped
    }
    lines += failures.map(\.description)
    lines += times.filter(\.isSlow).map {
      "slow: \($0.module) took \($0.took) for \($0.step)".escaped
    }
    return lines.joined(separator: "\n")
  }
}
