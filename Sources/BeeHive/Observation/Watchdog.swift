internal import BinaryImage
internal import Threads

/// Reports which module holds the Hive longer than a threshold, while it still does.
///
/// Given to a start, `LaunchOptions(watchdog: Watchdog(threshold: .seconds(1)))`, it also tells the
/// Hive's observers, as `moduleIsSlow`, and marks the step in `LaunchReport.times`. A thread of its own
/// looks, because a module that blocks may block every thread of the pool. The thread lives only while
/// something is being watched for.
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

  private struct Call {
    var module: String
    var event: String
    var start: ContinuousClock.Instant
    var tell: @Sendable (Finding) -> Void
    var isReported = false
  }

  private struct State {
    var calls: [Int: Call] = [:]
    var next = 0
    var isWatching = false
  }

  /// How long a module may take before it is reported.
  public let threshold: Duration
  private let report: @Sendable (Finding) -> Void
  private let state = Lock(State())

  /// Creates a watchdog for modules that take longer than a threshold.
  ///
  /// - Parameters:
  ///   - threshold: How long one step or event of a module may take.
  ///   - report: Called on the watchdog's thread, once for each call of a module that takes longer, while
  ///     it does.
  public init(threshold: Duration, report: @escaping @Sendable (Finding) -> Void = { _ in }) {
    self.threshold = threshold
    self.report = report
  }

  /// Notes that a module begins, and who else is told if it takes long; the number is for `end`.
  func begin(
    _ module: String, _ event: String, _ tell: @escaping @Sendable (Finding) -> Void = { _ in }
  ) -> Int {
    let (number, isFirst) = state.withLock { state -> (Int, Bool) in
      let number = state.next
      state.next += 1
      state.calls[number] = Call(module: module, event: event, start: .now, tell: tell)
      let isFirst = !state.isWatching
      state.isWatching = true
      return (number, isFirst)
    }
    // Without a thread this call is not watched; the next one tries again.
    if isFirst, !POSIXThread.detach({ self.watch() }) { state.withLock { $0.isWatching = false } }
    return number
  }

  /// Notes that the module has come back.
  func end(_ number: Int) {
    _ = state.withLock { $0.calls.removeValue(forKey: number) }
  }

  /// Looks several times within each threshold, until nothing runs any more.
  private func watch() {
    let pause = min(max(threshold / 8, .milliseconds(1)), .milliseconds(50))
    while true {
      POSIXThread.sleep(pause)
      let now = ContinuousClock.now
      let findings = state.withLock { state -> [(Finding, @Sendable (Finding) -> Void)]? in
        if state.calls.isEmpty {
          state.isWatching = false
          return nil
        }
        var findings: [(Finding, @Sendable (Finding) -> Void)] = []
        for (number, call) in state.calls where !call.isReported {
          let elapsed = call.start.duration(to: now)
          guard elapsed >= threshold else { continue }
          state.calls[number]?.isReported = true
          findings.append(
            (Finding(module: call.module, event: call.event, elapsed: elapsed), call.tell))
        }
        return findings
      }
      guard let findings else { return }
      for (finding, tell) in findings {
        report(finding)
        tell(finding)
      }
    }
  }
}
