/// A pool of threads for work that may block. They are kept for later work.
///
/// Work begins at once, on an idle thread or on a new one. Once there are `width` threads, work waits for one of them.
/// If none of them has taken work for a while, they are all blocked, and another is added.
package final class ThreadPool: Sendable {
  package typealias Work = @Sendable () -> Void

  /// The number of threads, and of idle threads. The work that waits for a thread, by consecutive numbers from `first`
  /// on. The `first` of the last check whether work is taken; nil while nobody checks.
  private typealias State = (threads: Int, idle: Int, queue: [Int: Work], first: Int, watched: Int?)

  private static let patience: Duration = .milliseconds(10)
  private let state = Lock<State>((0, 0, [:], 0, nil))
  /// The number of threads before work has to wait for one.
  private let width: Int
  /// The number of threads to keep while there is nothing to do.
  private let spare: Int

  /// A pool without threads: the first work starts the first thread.
  package init(width: Int = 64, spare: Int = max(4, POSIXThread.processors)) {
    self.width = width
    self.spare = spare
  }

  /// Runs `work` on a thread of the pool.
  ///
  /// - Returns: False if there is no thread and the system gives none: then `work` does not run.
  package func run(_ work: @escaping Work) -> Bool {
    var needsWatch = state.change(forAll: false) { state -> Bool? in
      guard state.queue.count >= state.idle, state.threads < width else {
        return Self.add(work, to: &state)
      }
      state.threads += 1
      return nil
    }
    if needsWatch == nil {
      if addThread(work) { return true }
      // One of the existing threads takes it.
      needsWatch = state.change(forAll: false) { state in
        state.threads > 0 ? Self.add(work, to: &state) : nil
      }
    }
    if needsWatch == true { watch() }
    return needsWatch != nil
  }

  /// Queues work for a thread. Returns whether somebody has to check that a thread takes it.
  private static func add(_ work: @escaping Work, to state: inout State) -> Bool {
    state.queue[state.first + state.queue.count] = work
    guard state.watched == nil, state.queue.count > state.idle else { return false }
    state.watched = state.first
    return true
  }

  /// Makes sure that there is a thread for the next work. Returns false, with the reason in `errno`, if there is none
  /// and the system gives none.
  package func prepare() -> Bool {
    let needsThread = state.withLock { state in
      guard state.threads == 0 else { return false }
      state.threads += 1
      return true
    }
    return !needsThread || addThread(nil)
  }

  /// Starts a thread that has been counted already; false if the system gives none.
  private func addThread(_ first: Work?) -> Bool {
    let isRunning = POSIXThread.detach { self.work(first) }
    if !isRunning { state.withLock { $0.threads -= 1 } }
    return isRunning
  }

  private func work(_ first: Work?) {
    var next = first
    repeat {
      next?()
      // Released before the thread waits for more.
      next = nil
      state.withLock { $0.idle += 1 }
      next = state.wait { state -> Work?? in
        if let work = state.queue.removeValue(forKey: state.first) {
          state.first += 1
          state.idle -= 1
          return work
        }
        guard state.idle > spare else { return nil }
        state.idle -= 1
        state.threads -= 1
        return .some(nil)
      }
    } while next != nil
  }

  /// Adds threads as long as work waits and no thread takes it.
  private func watch() {
    _ = Alarms.shared.set(after: Self.patience) { [self] in
      let isStuck = state.withLock { state -> Bool? in
        defer { state.watched = state.queue.isEmpty ? nil : state.first }
        if state.queue.isEmpty { return nil }
        guard state.watched == state.first else { return false }
        state.threads += 1
        return true
      }
      guard let isStuck else { return }
      if isStuck { _ = addThread(nil) }
      watch()
    }
  }
}

/// Alarms that call back when a time has passed, on a thread of their own: also while all others are blocked.
///
/// The thread lives only while an alarm is set.
package final class Alarms: Sendable {
  private typealias Alarm = (time: ContinuousClock.Instant, call: @Sendable () -> Void)

  /// The alarms of the process.
  package static let shared = Alarms()
  /// The alarms by their numbers, and the time when the thread looks again; nil while there is no thread.
  private let state = Lock<(alarms: [UInt64: Alarm], last: UInt64, look: ContinuousClock.Instant?)>(
    ([:], 0, nil))

  /// No alarms yet.
  package init() {}

  /// Runs `call`, which must be short, once `delay` has passed, unless it is cancelled before.
  ///
  /// - Returns: The number for `cancel`.
  package func set(after delay: Duration, _ call: @escaping @Sendable () -> Void) -> UInt64 {
    let time = ContinuousClock.now.advanced(by: delay)
    let (number, look) = state.withLock { state -> (UInt64, ContinuousClock.Instant?) in
      state.last += 1
      state.alarms[state.last] = (time, call)
      defer { state.look = min(state.look ?? time, time) }
      return (state.last, state.look)
    }
    if let look {
      // The thread would look later than that.
      if time < look { state.change { _ in } }
    } else if !POSIXThread.detach({ self.watch() }) {
      // The next alarm that is set tries again.
      state.withLock { $0.look = nil }
    }
    return number
  }

  /// Cancels an alarm; it may still be under way.
  package func cancel(_ number: UInt64) {
    // Returned, so that what the call holds ends when the lock is free.
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
