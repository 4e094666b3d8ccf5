/// A rule that a call meets, and the values that the rule's pattern takes from the path of the call's URL.
typealias MetRule = (rule: CallRule, values: PathValues)

/// An index of rules. A call looks only at the rules that it meets, however many others there are.
struct RuleIndex: Sendable {
  private var rules = [UInt64: CallRule]()
  private var byURL = RouteTree()
  /// The same patterns without their schemes, for ends that any scheme leads to.
  private var byPath = RouteTree()
  /// The rules by the action or route that they name; under nil, the rules that every call meets.
  private var bySubject = [Destination?: [UInt64]]()
  /// The number of rules that name a route.
  private var ofRoutes = 0

  /// Adds a rule.
  mutating func add(_ rule: CallRule) {
    rules[rule.number] = rule
    for form in rule.match.forms {
      byURL.insert(rule.number, priority: 0, at: form)
      byPath.insert(rule.number, priority: 0, at: form.ofAnyScheme)
    }
    if rule.match.forms.isEmpty { bySubject[rule.match.subject, default: []].append(rule.number) }
    if case .url? = rule.match.subject { ofRoutes += 1 }
  }

  /// Removes a rule and returns it, so that what it holds ends with it; nil if it is not here.
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
    if case .url? = rule.match.subject { ofRoutes -= 1 }
    return rule
  }

  var isEmpty: Bool { rules.isEmpty }
  /// Whether a rule matches by the route that answers.
  var hasRoutes: Bool { ofRoutes > 0 }
  /// Whether a rule matches by a URL.
  var hasURLs: Bool { !byURL.isEmpty }

  /// The rules that match by a URL or a route, in the order of their arrival.
  var withPatterns: [CallRule] {
    rules.values.filter { $0.match.pattern != nil }.sorted { $0.number < $1.number }
  }

  /// Returns the rules that a call meets, in no order, and the number of steps. Finds them by its action, by the route
  /// that answers it, by its URL, and by the paths that lead to its end.
  func met(
    by call: Call, route: (pattern: RoutePattern, values: PathValues)? = nil,
    paths: [ResolvedPath] = []
  ) -> (rules: [MetRule], steps: Int) {
    var numbers = bySubject[nil] ?? []
    if let (target, action) = call.action {
      let names = [target, "*"].flatMap { target in
        [action, "*"].map { Destination.action(target: target, action: $0) }
      }
      numbers += Set(names).flatMap { bySubject[$0] ?? [] }
    }
    var met: [(number: UInt64, values: PathValues)] = numbers.map { ($0, []) }
    if let route, hasRoutes {
      met += (bySubject[.url(route.pattern.path)] ?? []).map { ($0, route.values) }
    }
    var steps = 0
    func add(_ search: (matches: [RouteSearch.Match], visits: Int)) {
      met += search.matches.map { ($0.number, $0.values) }
      steps += search.visits
    }
    // The values of the first path are those that the route takes.
    for path in paths {
      add(RouteSearch.rules(met: path, of: call.url, in: path.scheme == nil ? byPath : byURL))
    }
    if let url = call.url { add(RouteSearch.rules(met: url, in: byURL)) }
    for url in call.aliases.reversed() { add(RouteSearch.rules(met: url, in: byURL)) }
    var seen: Set<UInt64> = []
    let origin = call.origin
    let found = met.compactMap { number, values -> MetRule? in
      guard let rule = rules[number], rule.match.origin ?? origin == origin,
        seen.insert(number).inserted
      else { return nil }
      return (rule, values)
    }
    return (found, met.count + steps)
  }
}
