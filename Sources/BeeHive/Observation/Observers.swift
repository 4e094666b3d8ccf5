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

/// Takes back what was given to a Hive, a router, a mediator or an entry point: an observer, a binding, a rule.
///
/// Forgetting the value takes nothing back. What a module gives is taken back when the module is unmounted.
public struct Handle: Sendable {
  private let undo: @Sendable () -> Void

  /// Wraps what takes it back, which does nothing the second time.
  package init(_ undo: @escaping @Sendable () -> Void) { self.undo = undo }

  /// Takes it back; what is under way on another thread may still meet it. Does nothing the second time.
  ///
  /// A later replacement stays, and the value that it had replaced does not come back.
  public func cancel() { undo() }
}
