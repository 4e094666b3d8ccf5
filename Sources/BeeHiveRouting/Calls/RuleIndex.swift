/// A rule that a call meets, and what the path of the call's URL gives by the rule's pattern.
typealias MetRule = (rule: CallRule, values: PathValues)

/// Rules by what they match: a call looks at those that it meets, however many others there are.
struct RuleIndex: Sendable {
  private var rules = [UInt64: CallRule]()
  private var byURL = RouteTree()
  /// By the same patterns, whatever their schemes: for what any scheme leads to.
  private var byPath = RouteTree()
  /// By the action or route that they name; nil for those that every call meets.
  private var bySubject = [Destination?: [UInt64]]()
  /// The number of rules that the routes of a call have a say about.
  private var patterns = 0

  /// Takes in a rule.
  mutating func add(_ rule: CallRule) {
    rules[rule.number] = rule
    for form in rule.match.forms {
      byURL.insert(rule.number, priority: 0, at: form)
      byPath.insert(rule.number, priority: 0, at: form.ofAnyScheme)
    }
    if rule.match.forms.isEmpty { bySubject[rule.match.subject, default: []].append(rule.number) }
    if rule.match.pattern != nil { patterns += 1 }
  }

  /// Takes a rule out. Returns it, so that what it holds ends with it; nil where it is not here.
  mutating func remove(_ number: UInt64) -> CallRule? {
    guard let rule = rules.removeValue(forKey: number) else { return nil }
    for form in rule.match.forms {
      byURL.remove(number, at: form)
      byPath.remove(number, at: form.ofAnyScheme)
    }
    if rule.match.forms.isEmpty {
      let others = bySubject[rule.match.subject]?.filter { $0 != number }
      bySubject[rule.match.subject] = others?.isEmpty == false ? others : nil
    }
    if rule.match.pattern != nil { patterns -= 1 }
    return rule
  }

  /// Whether a rule matches by a URL or a route.
  var hasPatterns: Bool { patterns > 0 }

  /// The rules that match by a URL or a route, in the order of their arrival.
  var withPatterns: [CallRule] {
    rules.values.filter { $0.match.pattern != nil }.sorted { $0.number < $1.number }
  }

  /// The rules that a call meets, in no order: by its action, by the route that answers it, by its URL, and by the paths that
  /// lead to its end; and how many steps that took.
  func met(
    by call: Call, route: (pattern: RoutePattern, values: PathValues)? = nil,
    paths: [ResolvedPath] = []
  ) -> (rules: [MetRule], steps: Int) {
    guard !rules.isEmpty else { return ([], 0) }
    var numbers = bySubject[nil] ?? []
    if let (target, action) = call.action {
      let names = [target, "*"].flatMap { target in
        [action, "*"].map { Destination.action(target: target, action: $0) }
      }
      numbers += Set(names).flatMap { bySubject[$0] ?? [] }
    }
    var met: [(number: UInt64, values: PathValues)] = numbers.map { ($0, []) }
    if let route {
      met += (bySubject[.url(route.pattern.path)] ?? []).map { ($0, route.values) }
    }
    let urls = call.aliases + (call.url.map { [$0] } ?? [])
    // The values of the first are those that the route takes.
    let searches =
      paths.map { RouteSearch.rules(met: $0, in: $0.scheme == nil ? byPath : byURL) }
      + urls.reversed().map { RouteSearch.rules(met: $0, in: byURL) }
    met += searches.flatMap { $0.matches.map { ($0.number, $0.values) } }
    var seen: Set<UInt64> = []
    let found = met.compactMap { number, values -> MetRule? in
      guard let rule = rules[number], rule.match.origin ?? call.origin == call.origin,
        seen.insert(number).inserted
      else { return nil }
      return (rule, values)
    }
    return (found, met.count + searches.map(\.visits).reduce(0, +))
  }
}
