internal import Synchronization
internal import Threads

/// The observers of a Hive, or of calls.
package final class Observers<Notice: Sendable>: Sendable {
  private typealias Observer = (number: UInt64, tell: @Sendable (Notice) -> (any TaskSetting)?)

  private let observers = Lock<[Observer]>([])
  private let lastNumber = Atomic<UInt64>(0)
  private let count = Atomic<Int>(0)
  /// Notices that were posted under a lock. Observers get them after the lock is released.
  private let outbox = Lock<[Notice]>([])

  /// Creates a list without observers.
  package init() {}

  /// Whether there are no observers: then notices are not even created.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  package func add(_ tell: @escaping @Sendable (Notice) -> Void) -> Handle {
    insert { notice in
      tell(notice)
      return nil
    }
  }

  /// Adds an observer that sets a task local for a step or call that begins: to its result, unless that is nil.
  package func add<Value: Sendable>(
    setting local: TaskLocal<Value>, _ tell: @escaping @Sendable (Notice) -> Value?
  ) -> Handle {
    insert { notice in tell(notice).map { Setting(local: local, value: $0) } }
  }

  private func insert(_ tell: @escaping @Sendable (Notice) -> (any TaskSetting)?) -> Handle {
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    change { $0.append((number, tell)) }
    return Handle { [self] in change { $0.removeAll { $0.number == number } } }
  }

  private func change(_ body: (inout [Observer]) -> Void) {
    // Returned, so that what an observer holds ends after the lock is released.
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

  /// Passes the posted notices to every observer. The caller holds no lock.
  func deliver() {
    guard !isEmpty else { return }
    let notices = outbox.withLock { exchange(&$0, with: []) }
    let observers = observers.withLock { $0 }
    for notice in notices { for observer in observers { _ = observer.tell(notice) } }
  }

  /// Passes a notice to every observer at once. The caller holds no lock. Returns the task locals that they set.
  @discardableResult
  package func tell(_ notice: @autoclosure () -> Notice) -> ArraySlice<any TaskSetting> {
    guard !isEmpty else { return [] }
    let notice = notice()
    return observers.withLock { $0 }.compactMap { $0.tell(notice) }[...]
  }
}

/// A task local that is set while a step or a call is under way.
package protocol TaskSetting: Sendable {
  /// Runs `body` with it.
  nonisolated(nonsending) func during<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result
}

private struct Setting<Value: Sendable>: TaskSetting {
  let local: TaskLocal<Value>
  let value: Value

  nonisolated(nonsending) func during<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await local.withValue(value) { try await body() }
  }
}

extension ArraySlice<any TaskSetting> {
  /// Runs `body` with all of them.
  package nonisolated(nonsending) func during<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    guard let first else { return try await body() }
    return try await first.during { try await dropFirst().during(body) }
  }
}

/// A handle that undoes what was given to a Hive, router, mediator or entry point: an observer, a binding, a rule.
///
/// Dropping the handle undoes nothing. The Hive undoes what a module gives when the module is unmounted.
public struct Handle: Sendable {
  private let undo: @Sendable () -> Void

  /// Wraps the undoing function, whose second call does nothing.
  package init(_ undo: @escaping @Sendable () -> Void) { self.undo = undo }

  /// Undoes it. Work that is under way on another thread may still use what was given. A second call does nothing.
  ///
  /// A later replacement stays. The value that was replaced does not come back.
  public func cancel() { undo() }
}
