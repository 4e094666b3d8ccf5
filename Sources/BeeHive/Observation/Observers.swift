internal import Synchronization
internal import Threads

/// Who is told of what a Hive does, or of what happens to calls.
package final class Observers<Notice: Sendable>: Sendable {
  private typealias Observer = (number: UInt64, tell: @Sendable (Notice) -> Void)

  private let observers = Lock<[Observer]>([])
  private let lastNumber = Atomic<UInt64>(0)
  private let count = Atomic<Int>(0)
  /// Notices of a time under a lock, which observers get when it is free again.
  private let outbox = Lock<[Notice]>([])

  /// Has none yet.
  package init() {}

  /// Whether there are observers; without any, notices are not even put together.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  package func add(_ tell: @escaping @Sendable (Notice) -> Void) -> Handle {
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    change { $0.append((number, tell)) }
    return Handle { [self] in change { $0.removeAll { $0.number == number } } }
  }

  private func change(_ body: (inout [Observer]) -> Void) {
    // Returned: what an observer holds ends with it, when the lock is free.
    _ = observers.withLock { observers in
      let before = observers
      body(&observers)
      count.store(observers.count, ordering: .releasing)
      return before
    }
  }

  /// Keeps a notice for `deliver`: the caller holds a lock.
  func post(_ notice: @autoclosure () -> Notice) {
    guard !isEmpty else { return }
    let notice = notice()
    outbox.withLock { $0.append(notice) }
  }

  /// Tells every observer what was posted. The caller holds no lock.
  func deliver() {
    guard !isEmpty else { return }
    let notices = outbox.withLock { exchange(&$0, with: []) }
    let observers = observers.withLock { $0 }
    for notice in notices { for observer in observers { observer.tell(notice) } }
  }

  /// Tells every observer at once. The caller holds no lock.
  package func tell(_ notice: @autoclosure () -> Notice) {
    guard !isEmpty else { return }
    let notice = notice()
    for observer in observers.withLock({ $0 }) { observer.tell(notice) }
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
