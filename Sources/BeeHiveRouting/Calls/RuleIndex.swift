/// A rule that a call meets, and what the path of the call's URL gives by the rule's pattern.
typealias MetRule = (rule: CallRule, values: PathValues)

/// Rules by what they match: a call looks at those that it meets, however many others there are.
struct RuleIndex: Sendable {
  private var rules = [UInt64: CallRule]()
  private var byURL = RouteTree()
  /// By the action that they match; nil for those that every call meets.
  private var byAction = [Destination?: [UInt64]]()

  /// Takes in a rule.
  mutating func add(_ rule: CallRule) {
    rules[rule.number] = rule
    for form in rule.match.forms { byURL.insert(rule.number, priority: 0, at: form) }
    if rule.match.forms.isEmpty { byAction[rule.match.action, default: []].append(rule.number) }
  }

  /// Takes a rule out. Returns it, so that what it holds ends with it; nil where it is not here.
  mutating func remove(_ number: UInt64) -> CallRule? {
    guard let rule = rules.removeValue(forKey: number) else { return nil }
    for form in rule.match.forms { byURL.remove(number, at: form) }
    if rule.match.forms.isEmpty {
      let others = byAction[rule.match.action]?.filter { $0 != number }
      byAction[rule.match.action] = others?.isEmpty == false ? others : nil
    }
    return rule
  }

  /// Whether a rule matches by a URL.
  var hasPatterns: Bool { !byURL.roots.isEmpty }

  /// The rules that a call meets, in no order: by its action, by its URL, and by paths that lead to its end by any scheme.
  func met(by call: Call, paths: [[String]] = []) -> [MetRule] {
    guard !rules.isEmpty else { return [] }
    var numbers = byAction[nil] ?? []
    if let (target, action) = call.action {
      let names = [target, "*"].flatMap { target in
        [action, "*"].map { Destination.action(target: target, action: $0) }
      }
      numbers += Set(names).flatMap { byAction[$0] ?? [] }
    }
    var met: [(number: UInt64, values: PathValues)] = numbers.map { ($0, []) }
    let urls = call.aliases + (call.url.map { [$0] } ?? [])
    let found =
      urls.reversed().flatMap { RouteSearch.matches(of: $0, in: byURL) }
      + paths.flatMap { RouteSearch.matches(ofPath: $0, in: byURL) }
    met += found.map { ($0.number, $0.values) }
    var seen: Set<UInt64> = []
    return met.compactMap { number, values in
      guard let rule = rules[number], rule.match.origin ?? call.origin == call.origin,
        seen.insert(number).inserted
      else { return nil }
      return (rule, values)
    }
  }
}
