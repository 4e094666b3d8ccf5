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
