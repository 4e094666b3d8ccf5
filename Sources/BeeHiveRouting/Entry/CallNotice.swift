internal import Threads

/// What happens to a call; observers are told.
public enum CallNotice: Sendable, CustomStringConvertible {
  /// Somebody calls.
  case began(Call)
  /// An interceptor or a rule decided something.
  case ruled(Call, by: String, Verdict)
  /// The call is answered, or has failed.
  case ended(Call, (any Error)?)

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

extension RoutingCore {
  /// Tells every observer, with no lock held.
  func tell(_ notice: @autoclosure () -> CallNotice) {
    let observers = observers.withLock { $0 }
    guard !observers.isEmpty else { return }
    let notice = notice()
    for observer in observers { observer.handler(notice) }
  }
}
