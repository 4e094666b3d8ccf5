internal import BinaryImage
internal import Threads

/// Reports which module holds the Hive longer than a threshold, while it still does.
///
/// Given to a start, `LaunchOptions(watchdog: Watchdog(threshold: .seconds(1)))`, it also tells the
/// Hive's observers, as `moduleIsSlow`, and marks the step in `LaunchReport.times`. A thread of its own
/// tells, because a module that blocks may block every thread of the pool.
public final class Watchdog: Sendable {
  /// A module that has not come back.
  public struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The module's name.
    public var module: String
    /// The step or event it is in.
    public var event: String
    /// How long it has been in there.
    public var elapsed: Duration

    /// `module audio has been in setUp for 0.4 seconds`
    public var description: String {
      "module \(module) has been in \(event) for \(elapsed)".escaped
    }
  }

  /// How long a module may take before it is reported.
  public let threshold: Duration
  private let report: @Sendable (Finding) -> Void

  /// Creates a watchdog for modules that take longer than a threshold.
  ///
  /// - Parameters:
  ///   - threshold: How long one step or event of a module may take.
  ///   - report: Called on a thread of its own, once for each call of a module that takes longer, while
  ///     it does. Calls for several modules may overlap.
  public init(threshold: Duration, report: @escaping @Sendable (Finding) -> Void = { _ in }) {
    self.threshold = threshold
    self.report = report
  }

  /// Notes that a module begins, and who else is told if it takes long; the number is for `end`.
  func begin(
    _ module: String, _ event: String, _ tell: @escaping @Sendable (Finding) -> Void = { _ in }
  ) -> UInt64 {
    let start = ContinuousClock.now
    return Alarms.shared.set(after: threshold) { [report] in
      let finding = Finding(module: module, event: event, elapsed: start.duration(to: .now))
      // Without a thread it is not told: the alarms of others do not wait for the one who is.
      _ = POSIXThread.detach {
        report(finding)
        tell(finding)
      }
    }
  }

  /// Notes that the module has come back.
  func end(_ number: UInt64) { Alarms.shared.cancel(number) }
}
