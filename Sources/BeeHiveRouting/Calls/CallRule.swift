/// A rule about calls: an interceptor, a guard, or a rule of the table.
struct CallRule: Sendable {
  /// Returns whether a declared verdict holds for a call and its given values. Changes nothing.
  typealias Condition = @Sendable (Call, Arguments) -> Bool

  /// A condition, and its text for people.
  typealias Requirement = (text: String, holds: Condition)

  let name: String
  let priority: Int
  let match: CallMatch
  /// The conditions. The rule has no say unless all of them hold.
  var requirements: [Requirement] = []
  /// The verdict, if it is known beforehand; for an interceptor, the verdict that a dry run assumes.
  var verdict = Verdict.proceed
  /// The host's code, if that decides.
  var interceptor: (@Sendable (Call) async throws -> Verdict)?
  /// Whether the rule belongs to the decision table.
  var isOfTable = false
  /// Returns the variant that decides about a call instead of this rule; nil if the rule has no variants.
  var variant: (@Sendable (Call, Arguments) -> CallRule?)?
  /// The URL of a declared redirection, if it has places to fill in.
  var template: RedirectTemplate?
  /// A number that no other rule has. Later rules have larger numbers.
  let number = nextNumber()

  /// Returns a rule with a known verdict; throws if it redirects to a place that the match does not fill in.
  static func declared(
    _ name: String, priority: Int, _ match: CallMatch, when requirements: [Requirement],
    then verdict: Verdict, isOfTable: Bool = false
  ) throws(RoutingError) -> CallRule {
    var rule = CallRule(
      name: name, priority: priority, match: match, requirements: requirements,
      verdict: verdict, isOfTable: isOfTable)
    if case .redirect(.url(let text)) = verdict {
      rule.template = try RedirectTemplate(text, given: match.names)
    }
    return rule
  }

  /// Returns whether the first rule comes first: by larger priority, the table before code, then by arrival.
  static func isBefore(_ first: MetRule, _ second: MetRule) -> Bool {
    let (first, second) = (first.rule, second.rule)
    return (second.priority, first.isOfTable ? 0 : 1, first.number)
      < (first.priority, second.isOfTable ? 0 : 1, second.number)
  }
}

/// The decision of one interceptor or rule about a call.
public enum Verdict: Sendable, CustomStringConvertible {
  /// The next interceptor or rule decides.
  case proceed
  /// The next interceptor or rule decides, with these arguments over the given ones.
  case replace(Arguments)
  /// Another destination. The arguments go along, and every interceptor and rule applies again.
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

/// The calls that an interceptor or a rule is for.
public struct CallMatch: Sendable {
  /// The forms of the pattern of the calls' URLs; empty unless the match is by URL.
  private(set) var forms: [RouteTree.Form] = []
  /// The pattern of the calls' URLs, or of the route that answers them; nil without one.
  private(set) var pattern: RoutePattern?
  /// The action that is called (`*` for every target or action), or the route that answers, as a URL with the path of
  /// its pattern; nil if the match names neither.
  private(set) var subject: Destination?
  let origin: CallOrigin?

  /// Matches every call, or every call of one origin.
  ///
  /// - Parameter origin: The origin of the calls; nil for any.
  /// - Returns: The match.
  public static func everything(from origin: CallOrigin? = nil) -> CallMatch {
    CallMatch(origin: origin)
  }

  /// Matches calls of an action.
  ///
  /// - Parameters:
  ///   - target: The target's name; `*` for every target.
  ///   - action: The action's name; `*` for every action.
  ///   - origin: The origin of the calls; nil for any.
  /// - Returns: The match.
  public static func action(
    _ target: String, _ action: String, from origin: CallOrigin? = nil
  ) -> CallMatch {
    CallMatch(subject: .action(target: target, action: action), origin: origin)
  }

  /// Matches calls that the routes of a pattern answer, whatever the keys of its query.
  static func route(_ pattern: RoutePattern, from origin: CallOrigin?) -> CallMatch {
    CallMatch(pattern: pattern, subject: .url(pattern.path), origin: origin)
  }

  /// Matches calls by a URL that a pattern matches, whether or not a route answers it.
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it; its query has no effect here.
  ///   - origin: The origin of the calls; nil for any.
  /// - Returns: The match.
  /// - Throws: ``RoutingError`` with `badPattern` if the pattern cannot be read, with `unknownType` if it
  ///   names a type that is not built in: types of ``Router/define(_:_:)`` are not known here.
  public static func url(
    _ pattern: String, from origin: CallOrigin? = nil
  ) throws(RoutingError) -> CallMatch {
    try url(RoutePattern(pattern), types: SegmentTypes(), from: origin)
  }

  static func url(
    _ pattern: RoutePattern, types: SegmentTypes, from origin: CallOrigin?
  ) throws(RoutingError) -> CallMatch {
    let variants = pattern.variants.flatMap {
      [$0] + (pattern.decodingHost(in: $0).map { [$0] } ?? [])
    }
    let forms = try variants.map { variant throws(RoutingError) in
      try RouteTree.Form(variant, of: pattern, types: types)
    }
    return CallMatch(forms: forms, pattern: pattern, origin: origin)
  }

  /// The names that the path gives values to, whatever the form.
  var names: Set<String> {
    guard let pattern else { return [] }
    return pattern.variants.reduce(Set(pattern.names)) { names, variant in
      names.intersection(RoutePattern.names(in: variant))
    }
  }
}
