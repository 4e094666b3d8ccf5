/// Who has a say about calls: an interceptor, a guard, a rule of the table.
struct CallRule: Sendable {
  /// Whether a declared verdict holds: told of the call, and of what it is given. Changes nothing.
  typealias Condition = @Sendable (Call, Arguments) -> Bool

  /// A condition, and what it says for people.
  typealias Requirement = (text: String, holds: Condition)

  enum Decision: Sendable {
    /// The verdict is known beforehand, and holds where all of these do.
    case declared(when: [Requirement], then: Verdict)
    /// Whatever the host's code says.
    case code(@Sendable (Call) async throws -> Verdict)
  }

  let name: String
  let priority: Int
  let match: CallMatch
  let decision: Decision
  let source: RuleSource
  /// The URL of a declared redirection, where it has places to fill in.
  var template: RedirectTemplate?
  /// Differs from that of all others, and grows.
  let number = RoutingCore.nextNumber()

  /// A verdict that is known beforehand; throws where it redirects to a place that the match does not fill in.
  static func declared(
    _ name: String, priority: Int, _ match: CallMatch, when requirements: [Requirement],
    then verdict: Verdict, source: RuleSource
  ) throws(RoutingError) -> CallRule {
    var rule = CallRule(
      name: name, priority: priority, match: match,
      decision: .declared(when: requirements, then: verdict), source: source)
    if case .redirect(.url(let text)) = verdict {
      rule.template = try RedirectTemplate(text, given: match.names)
    }
    return rule
  }

  /// Larger priority first, the table before code, then in the order of arrival.
  static func isBefore(_ first: CallRule, _ second: CallRule) -> Bool {
    (second.priority, first.source.rank, first.number)
      < (first.priority, second.source.rank, second.number)
  }
}

/// Where a rule comes from.
package enum RuleSource: String, Hashable, Sendable {
  /// The decision table.
  case table
  /// A call of `guardCalls`.
  case guardian = "guard"
  /// A call of `intercept`.
  case interceptor

  fileprivate var rank: Int { self == .table ? 0 : 1 }
}

/// A rule that a call meets.
struct MetRule: Sendable {
  let rule: CallRule
  /// What the path of the call's URL gives by the rule's pattern.
  let values: [(name: String, value: any URLConvertible)]

  /// What the call is given, as far as a rule can know it: the query below the path below what is given
  /// beside the URL.
  func parameters(of call: Call) -> Arguments {
    var parameters = Arguments()
    if call.action == nil, let url = call.url { parameters = Arguments(items: url.items) }
    for (name, value) in values { parameters.values[name] = .texts(value.urlTexts) }
    for key in call.withheld { parameters.values[key] = nil }
    return parameters.merging(call.arguments)
  }
}

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
