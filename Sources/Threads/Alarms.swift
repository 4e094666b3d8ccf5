/// Calls back when a time has passed, on a thread of its own: also while all others are blocked.
///
/// The thread lives only while an alarm is set.
package final class Alarms: Sendable {
  private struct Alarm {
    var time: ContinuousClock.Instant
    var call: @Sendable () -> Void
  }

  private struct State {
    var alarms: [UInt64: Alarm] = [:]
    var next: UInt64 = 0
    /// When the thread looks again; nil while there is none.
    var look: ContinuousClock.Instant?
  }

  /// Those of the process.
  package static let shared = Alarms()
  private let state = Lock(State())

  /// None yet.
  package init() {}

  /// Has `call` run once `delay` has passed, unless it is cancelled before; it is short.
  ///
  /// - Returns: The number for `cancel`.
  package func set(after delay: Duration, _ call: @escaping @Sendable () -> Void) -> UInt64 {
    let time = ContinuousClock.now.advanced(by: delay)
    let (number, look) = state.withLock { state -> (UInt64, ContinuousClock.Instant?) in
      state.next += 1
      state.alarms[state.next] = Alarm(time: time, call: call)
      defer { state.look = min(state.look ?? time, time) }
      return (state.next, state.look)
    }
    if let look {
      // It has been told to look later than that.
      if time < look { state.change { _ in } }
    } else if !POSIXThread.detach({ self.watch() }) {
      // The next one that is set tries again.
      state.withLock { $0.look = nil }
    }
    return number
  }

  /// Takes an alarm back; it may still be under way.
  package func cancel(_ number: UInt64) {
    // Returned: what the call holds ends with it, when the lock is free.
    _ = state.withLock { $0.alarms.removeValue(forKey: number) }
  }

  private func watch() {
    while true {
      let (due, look) = state.withLock { state -> ([Alarm], ContinuousClock.Instant?) in
        let now = ContinuousClock.now
        let due = state.alarms.filter { $0.value.time <= now }
        for number in due.keys { state.alarms[number] = nil }
        state.look = state.alarms.values.map(\.time).min()
        return (due.values.sorted { $0.time < $1.time }, state.look)
      }
      for alarm in due { alarm.call() }
      guard let look else { return }
      _ = state.wait(before: look) { state in state.look.map { $0 < look } == true ? () : nil }
    }
  }
}
