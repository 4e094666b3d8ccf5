internal import Synchronization
internal import Threads

/// Who is told of what a Hive does, or of what happens to calls.
package final class Observers<Notice: Sendable>: Sendable {
  private struct State {
    var next: UInt64 = 0
    var observers: [(number: UInt64, tell: @Sendable (Notice) -> Void)] = []
    /// What happened under a lock and is told when that is free again.
    var outbox: [Notice] = []
  }

  private let state = Lock(State())
  private let count = Atomic<Int>(0)

  /// Has none yet.
  package init() {}

  /// Whether there are observers; without any, notices are not even put together.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  package func add(_ tell: @escaping @Sendable (Notice) -> Void) -> Handle {
    let number = state.withLock { state -> UInt64 in
      state.next += 1
      state.observers.append((state.next, tell))
      count.store(state.observers.count, ordering: .releasing)
      return state.next
    }
    return Handle { [self] in remove(number) }
  }

  private func remove(_ number: UInt64) {
    // Returned: what an observer holds ends with it, when the lock is free.
    _ = state.withLock { state in
      let before = state.observers
      state.observers.removeAll { $0.number == number }
      count.store(state.observers.count, ordering: .releasing)
      return before
    }
  }

  /// Keeps a notice for `deliver`: the caller holds a lock.
  func post(_ notice: @autoclosure () -> Notice) {
    guard !isEmpty else { return }
    let notice = notice()
    state.withLock { $0.outbox.append(notice) }
  }

  /// Tells every observer what was posted. The caller holds no lock.
  func deliver() {
    guard !isEmpty else { return }
    let (notices, observers) = state.withLock { state in
      defer { state.outbox = [] }
      return (state.outbox, state.observers)
    }
    for notice in notices { for observer in observers { observer.tell(notice) } }
  }

  /// Tells every observer at once. The caller holds no lock.
  package func tell(_ notice: @autoclosure () -> Notice) {
    guard !isEmpty else { return }
    let notice = notice()
    for observer in state.withLock({ $0.observers }) { observer.tell(notice) }
  }
}

extension Hive {
  /// Tells an observer what this Hive does from now on, on the thread that does it.
  ///
  /// What a module adds from inside of its steps and events ends when the module is unmounted.
  ///
  /// - Parameters:
  ///   - fromStart: Whether to tell it of the present entries too, on the calling thread: the process's
  ///     Hive has found some before anything could observe it. What happens on other threads meanwhile
  ///     may be told before, and what was just happening twice.
  ///   - observer: Called with no lock held, so it may ask the Hive; several threads may call it at once.
  /// - Returns: Its `cancel()` ends the observation; forgetting the value does not.
  @discardableResult
  public func observe(
    fromStart: Bool = false, _ observer: @escaping @Sendable (HiveNotice) -> Void
  ) -> Handle {
    if fromStart { bindUnbound() }
    // At one go, so that nothing comes between what is there and what is told from now on.
    let (observation, present, problems) = state.withLock { state in
      fromStart
        ? (observers.add(observer), state.table.all.map(\.snapshot), state.images.problems)
        : (observers.add(observer), [], [])
    }
    own { observation.cancel() }
    for entry in present { observer(entry.notice) }
    for error in problems { observer(.imageNotInspected(error)) }
    return observation
  }
}

extension Entry {
  /// What observers are told when this entry comes.
  var notice: HiveNotice {
    if case .rejected = state { .entryRejected(self) } else { .entryRegistered(self) }
  }
}
