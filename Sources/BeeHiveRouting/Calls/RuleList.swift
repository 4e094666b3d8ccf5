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

  /// The rules that a call meets, in the order in which they are asked.
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
