internal import BeeHive

/// A table turned into rules, as a whole or not at all.
struct CompiledTable {
  private(set) var rules: [RuleList.Rule] = []
  private var problems: [String] = []

  /// Throws every problem of the table at once.
  init(
    _ table: DecisionTable, types: SegmentTypes,
    guards: [String: @Sendable (Call) -> Bool]
  ) throws(RoutingError) {
    if table.version != DecisionTable.currentVersion {
      problems.append(
        "version \(table.version) is not the \(DecisionTable.currentVersion) that is read here")
    }
    var names: Set<String> = []
    for (index, rule) in table.rules.enumerated() {
      let place = "rules[\(index)]\(rule.name.isEmpty ? "" : " (\(rule.name))")"
      if rule.name.isEmpty { problems.append("\(place) has no name") }
      if !names.insert(rule.name).inserted {
        problems.append("\(place) has the name of an earlier rule")
      }
      if let compiled = compile(rule, at: place, types: types, guards: guards) {
        rules.append(compiled)
      }
    }
    if problems.isEmpty { findCircles() }
    guard problems.isEmpty else {
      throw RoutingError(
        .badTable,
        "the decision table \(table.name) was not taken: " + problems.joined(separator: "; "))
    }
  }

  private mutating func compile(
    _ rule: DecisionTable.Rule, at place: String, types: SegmentTypes,
    guards: [String: @Sendable (Call) -> Bool]
  ) -> RuleList.Rule? {
    let match: CallMatch
    switch rule.match.subject {
    case .everything: match = .everything(from: rule.match.origin)
    case .action(let target, let action):
      if target.isEmpty || action.isEmpty { problems.append("\(place) matches an empty name") }
      match = .action(target, action, from: rule.match.origin)
    case .url(let text):
      do throws(RoutingError) {
        match = try .url(RoutePattern(text), types: types, from: rule.match.origin)
      } catch {
        problems.append("\(place): \(error)")
        return nil
      }
    }
    var conditions: [RuleList.Condition] = []
    for condition in rule.conditions {
      if case .hostGuard(let name, let expected) = condition {
        guard let hostGuard = guards[name] else {
          problems.append("\(place) names the guard \(name), which the host has not defined")
          continue
        }
        conditions.append { call, _ in hostGuard(call) == expected }
      } else {
        conditions.append { _, parameters in condition.holds(for: parameters) }
      }
    }
    guard let verdict = verdict(of: rule.outcome, at: place) else { return nil }
    var holds: RuleList.Condition?
    if !conditions.isEmpty {
      let all = conditions
      holds = { call, values in all.allSatisfy { $0(call, values) } }
    }
    return RuleList.Rule(
      name: rule.name, priority: rule.priority, match: match,
      decision: .declared(when: holds, then: verdict), source: .table, number: 0)
  }

  private mutating func verdict(of outcome: DecisionTable.Outcome, at place: String) -> Verdict? {
    switch outcome {
    case .redirectToURL(let text):
      do throws(RoutingError) { _ = try URLText(text) } catch {
        problems.append("\(place) redirects to what is no URL: \(error)")
        return nil
      }
      return .redirect(to: .url(text))
    case .redirect(let target, let action):
      if target.isEmpty || action.isEmpty { problems.append("\(place) redirects to an empty name") }
      return .redirect(to: .action(target: target, action: action))
    case .block(let reason):
      if reason.isEmpty { problems.append("\(place) blocks without a reason") }
      return .refuse(reason)
    case .replace(let values): return .replace(Arguments(values))
    case .answer(let value): return .answer(value.answer)
    }
  }

  /// Finds redirections that hold whatever the call and lead back to where they were.
  private mutating func findCircles() {
    for rule in rules {
      guard case .declared(nil, .redirect(let first)) = rule.decision else { continue }
      var destination = first
      var way = [first]
      while way.count <= RoutingCore.mostRedirections {
        let call = Call(probing: destination)
        let next = rules.first { rule in
          guard case .declared(nil, .redirect) = rule.decision else { return false }
          return rule.match.parameters(of: call) != nil
        }
        guard case .declared(_, .redirect(let onward))? = next?.decision else { break }
        if way.contains(onward) {
          let text = (way + [onward]).map(\.description).joined(separator: " → ")
          problems.append("\(rule.name) redirects in a circle: \(text)")
          break
        }
        way.append(onward)
        destination = onward
      }
    }
  }
}

extension Call {
  /// A call that asks what would become of it.
  fileprivate init(probing destination: Destination) {
    self.init(
      number: 0, origin: .local, destination: destination, arguments: [:], url: nil,
      originalURL: nil, trail: [destination])
    if case .url(let text) = destination { url = try? URLText(text) }
  }
}

extension Arguments {
  /// Values of a table: texts, since any type that a receiver declares is read of them.
  fileprivate init(_ values: [String: DecisionValue]) {
    self.init()
    for (key, value) in values {
      if case .null = value {
        withheld.insert(key)
      } else {
        self.values[key] = .texts(value.texts)
      }
    }
  }
}

extension DecisionTable.Condition {
  fileprivate func holds(for parameters: Arguments) -> Bool {
    switch self {
    case .given(let key, let expected): return (parameters.values[key] != nil) == expected
    case .isOne(let key, let values, let isNot):
      let given = parameters.texts(key)
      return values.contains { given == $0.texts } != isNot
    case .hostGuard: return false
    }
  }
}

extension Arguments {
  /// The texts that a URL would have for a key; none where it is missing or no URL can hold it.
  fileprivate func texts(_ key: String) -> [String] {
    switch values[key] {
    case .texts(let texts): texts
    case .value(let value): (value as? any URLConvertible)?.urlTexts ?? []
    case nil: []
    }
  }
}
