internal import BeeHive
internal import BinaryImage
internal import Threads

/// What happens to a call; observers are told.
public enum CallNotice: Sendable {
  /// Somebody calls.
  case began(Call)
  /// An interceptor or a rule decided something.
  case ruled(Call, by: String, Verdict)
  /// The call is answered, or has failed.
  case ended(Call, (any Error)?)
}

/// Who is told of calls.
final class CallObservers: Sendable {
  private struct State {
    var next: UInt64 = 0
    var observers: [(number: UInt64, tell: @Sendable (CallNotice) -> Void)] = []
  }

  private let state = Lock(State())

  func add(_ tell: @escaping @Sendable (CallNotice) -> Void) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.observers.append((state.next, tell))
      return state.next
    }
  }

  func remove(_ number: UInt64) {
    // Returned: what an observer holds ends with it, when the lock is free.
    _ = state.withLock { state in
      let before = state.observers
      state.observers.removeAll { $0.number == number }
      return before
    }
  }

  /// Tells every observer, with no lock held.
  func tell(_ notice: @autoclosure () -> CallNotice) {
    let observers = state.withLock { $0.observers }
    guard !observers.isEmpty else { return }
    let notice = notice()
    for observer in observers { observer.tell(notice) }
  }
}

extension CallNotice: CustomStringConvertible {
  /// One line for a log.
  public var description: String {
    switch self {
    case .began(let call): "\(call) begins"
    case .ruled(let call, let rule, let verdict): "\(call): \(rule) says \(verdict)".escaped
    case .ended(let call, nil): "\(call) is answered"
    case .ended(let call, let error?): "\(call) failed: \(error)".escaped
    }
  }
}
