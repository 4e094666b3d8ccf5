/// What becomes of a call at one interceptor or rule.
public enum Verdict: Sendable, CustomStringConvertible {
  /// The next one decides.
  case proceed
  /// The next one decides, with these arguments over those that were given.
  case replace(Arguments)
  /// Another destination; every interceptor and rule is asked again, the arguments go along.
  case redirect(to: Destination)
  /// An error for the caller, with this reason.
  case refuse(String)
  /// The answer; nothing else is called.
  case answer(any Sendable)

  /// `redirect to app://new`, …
  public var description: String {
    switch self {
    case .proceed: "proceed"
    case .replace(let arguments):
      [("replace", arguments.keys), ("take away", arguments.withheld)]
        .filter { !$0.1.isEmpty }.map { "\($0) \($1.sorted().joined(separator: ", "))" }
        .joined(separator: "; ")
    case .redirect(let destination): "redirect to \(destination)"
    case .refuse(let reason): "refuse: \(reason)"
    case .answer(let value): "answer with \(value)"
    }
  }
}
