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

/// The calls that an interceptor or a rule is for.
public struct CallMatch: Sendable {
  enum Subject: Sendable {
    case everything
    case url(RoutePattern, forms: [RouteTree.Form])
    case action(ActionName)
  }

  let subject: Subject
  let origin: CallOrigin?
  /// The match in words, for people.
  package let description: String

  private init(_ subject: Subject, _ origin: CallOrigin?, _ description: String) {
    self.subject = subject
    self.origin = origin
    self.description = origin.map { "\($0) \(description)" } ?? description
  }

  /// Matches every call, or every call of one origin.
  ///
  /// - Parameter origin: Where the calls come from; nil for any.
  /// - Returns: The match.
  public static func everything(from origin: CallOrigin? = nil) -> CallMatch {
    CallMatch(.everything, origin, "calls")
  }

  /// Matches calls of an action.
  ///
  /// - Parameters:
  ///   - target: The target's name; `*` for every target.
  ///   - action: The action's name; `*` for every action.
  ///   - origin: Where the calls come from; nil for any.
  /// - Returns: The match.
  public static func action(
    _ target: String, _ action: String, from origin: CallOrigin? = nil
  ) -> CallMatch {
    let name = ActionName(target: target, action: action)
    return CallMatch(.action(name), origin, name.description)
  }

  /// Matches calls by a URL that a pattern matches, whether a route answers to it or not.
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it; its query says nothing here.
  ///   - origin: Where the calls come from; nil for any.
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
    let forms = try pattern.variants.map { variant throws(RoutingError) in
      try RouteTree.Form(variant, of: pattern, types: types)
    }
    return CallMatch(.url(pattern, forms: forms), origin, pattern.text)
  }

  /// The names that the path gives values to, whatever the form.
  var names: Set<String> {
    guard case .url(let pattern, _) = subject else { return [] }
    let forms = pattern.variants.map { Set(RoutePattern.names(in: $0)) }
    return forms.dropFirst().reduce(forms.first ?? []) { $0.intersection($1) }
  }
}

/// A target and one of its actions.
struct ActionName: Hashable, Sendable, CustomStringConvertible {
  var target: String
  var action: String

  /// In a match: every name.
  static let any = "*"

  /// `shop.price`
  var description: String { "\(target).\(action)" }
}

/// Who decides about a call before it is answered. Lives under the lock of its `RoutingCore`; a copy of it is a
/// snapshot.
struct RuleList: Sendable {
  /// The table that the rules of that source are of.
  private(set) var table: DecisionTable?
  /// Grows with each table.
  private(set) var tableNumber = 0
  private var ofTable = RuleIndex()
  /// Interceptors and guards.
  var ofCode = RuleIndex()

  /// Replaces the table. Returns the rules of the one before, so that what they hold ends with them.
  mutating func replaceTable(_ table: DecisionTable?, with rules: RuleIndex) -> RuleIndex {
    self.table = table
    tableNumber += 1
    return exchange(&ofTable, with: rules)
  }

  /// The rules that a call meets, in their order.
  func met(by call: Call) -> [MetRule] {
    (ofTable.met(by: call) + ofCode.met(by: call)).sorted { CallRule.isBefore($0.rule, $1.rule) }
  }
}

/// Rules by what they match: a call looks at those that it meets, however many others there are.
struct RuleIndex: Sendable {
  private var rules = [UInt64: CallRule]()
  private var byURL = RouteTree()
  private var byAction = [ActionName: [UInt64]]()
  /// Those that every call meets.
  private var always: [UInt64] = []

  /// Takes in a rule.
  mutating func add(_ rule: CallRule) {
    rules[rule.number] = rule
    switch rule.match.subject {
    case .everything: always.append(rule.number)
    case .action(let name): byAction[name, default: []].append(rule.number)
    case .url(_, let forms):
      for form in forms { _ = byURL.insert(rule.number, priority: 0, at: form, sharing: true) }
    }
  }

  /// Takes a rule out. Returns it, so that what it holds ends with it; nil where it is not here.
  mutating func remove(_ number: UInt64) -> CallRule? {
    guard let rule = rules.removeValue(forKey: number) else { return nil }
    switch rule.match.subject {
    case .everything: always.removeAll { $0 == number }
    case .action(let name):
      byAction[name]?.removeAll { $0 == number }
      if byAction[name]?.isEmpty == true { byAction[name] = nil }
    case .url(_, let forms): for form in forms { byURL.remove(number, at: form) }
    }
    return rule
  }

  /// The rules that a call meets, in no order.
  func met(by call: Call) -> [MetRule] {
    guard !rules.isEmpty else { return [] }
    var found: [MetRule] = []
    func take(_ number: UInt64, _ values: [(name: String, value: any URLConvertible)] = []) {
      guard let rule = rules[number], rule.match.origin ?? call.origin == call.origin else {
        return
      }
      found.append(MetRule(rule: rule, values: values))
    }
    for number in always { take(number) }
    if let (target, action) = call.action {
      let names = [target, ActionName.any].flatMap { target in
        [action, ActionName.any].map { ActionName(target: target, action: $0) }
      }
      for name in Set(names) { for number in byAction[name] ?? [] { take(number) } }
    }
    if let url = call.url {
      for match in RouteSearch.matches(of: url, in: byURL) { take(match.number, match.values) }
    }
    return found
  }
}
