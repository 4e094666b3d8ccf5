public import BinaryImage
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

extension Entry {
  /// What observers are told when this entry comes.
  var notice: HiveNotice {
    if case .rejected = state { .entryRejected(self) } else { .entryRegistered(self) }
  }
}

/// Something that a Hive did or found; observers are told.
///
/// More cases may come: a `switch` over it has a `default`.
public enum HiveNotice: Sendable {
  /// An entry came, bound or not yet.
  case entryRegistered(Entry)
  /// An entry that had come before can be made now.
  case entryBound(Entry)
  /// An entry was refused; its state says why.
  case entryRejected(Entry)
  /// An entry was removed, alone or with its image.
  case entryWithdrawn(Entry)
  /// An image with this many entries was taken in.
  case imageArrived(path: String, entryCount: Int)
  /// An image was removed with its entries: it stays mapped.
  case imageWithdrawn(path: String)
  /// An image cannot be inspected.
  case imageNotInspected(ImageError)
  /// A module is about to run a step or to be told of an event.
  case stepBegan(ModuleStep)
  /// A module is through with it, or is not waited for any longer; `failure` says what went wrong.
  case stepEnded(ModuleStep, took: Duration, failure: ModuleFailure?)
  /// A module has been in a step or event for longer than the watchdog allows, and still is.
  case moduleIsSlow(Watchdog.Finding)
  /// A module cannot be made, or is skipped since one that it requires failed: it was not even called.
  case moduleLeftOut(ModuleFailure)
  /// A module answered a question that another one had answered already.
  case surplusReply(SurplusReply)
  /// Every module has been started.
  case started(LaunchReport)
  /// Every module has been torn down, but for those that failed to.
  case stopped(failures: [ModuleFailure])
  /// `run` got a signal.
  case signalArrived(Signal)
  /// `run` asked where memory pressure is told, and this came of it.
  case memoryPressure(MemoryPressure.Availability)
}

/// One call of a module: a step of the lifecycle, or an event.
public struct ModuleStep: Hashable, Sendable {
  /// The module's name.
  public var module: String
  /// The name of the step or event.
  public var event: String
  /// Which event it is.
  public var kind: Event.Kind
  /// Differs from that of every other call of this Hive.
  public var number: UInt64
}

/// An answer that came second.
public struct SurplusReply: Hashable, Sendable {
  /// The question.
  public var event: String
  /// The module whose answer was dropped.
  public var module: String
  /// The module whose answer won.
  public var winner: String
}

extension HiveNotice: CustomStringConvertible {
  /// One line for a log; several where a report is told.
  public var description: String {
    if case .started(let report) = self { report.description } else { line.escaped }
  }

  private var line: String {
    switch self {
    case .entryRegistered(let entry), .entryBound(let entry), .entryRejected(let entry):
      entry.description
    case .entryWithdrawn(let entry): "withdrawn \(entry.kind) \(entry.name) \(entry.source)"
    case .imageArrived(let path, let count): "image \(path): entries \(count)"
    case .imageWithdrawn(let path): "image \(path) was removed"
    case .imageNotInspected(let error): "image not inspected: \(error)"
    case .stepBegan(let step): "module \(step.module) \(step.event) begins"
    case .stepEnded(let step, let took, nil): "module \(step.module) \(step.event) took \(took)"
    case .stepEnded(_, _, let failure?), .moduleLeftOut(let failure): failure.description
    case .moduleIsSlow(let finding): finding.description
    case .surplusReply(let reply):
      "\(reply.event): \(reply.winner) has answered, so the answer of \(reply.module) is dropped"
    case .started(let report): report.description
    case .stopped(let failures):
      failures.isEmpty ? "stopped" : "stopped; modules that failed to: \(failures.count)"
    case .signalArrived(let signal): "\(signal)"
    case .memoryPressure(let availability): "\(availability)"
    }
  }
}
