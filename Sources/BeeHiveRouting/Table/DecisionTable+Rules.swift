internal import Threads

extension DecisionTable {
  /// What the host brings to a table.
  struct Host {
    var types: SegmentTypes
    var guards: [String: @Sendable (Call) -> Bool]
    /// Seconds since 1970.
    var now: @Sendable () -> Double
  }

  /// Notes what can be known to be wrong without the host.
  func check(noting problems: SchemaProblems) { _ = compiled(for: nil, noting: problems) }

  /// The table as rules, as a whole or not at all: throws every problem of it at once.
  func compiled(for host: Host) throws(RoutingError) -> RuleIndex {
    let problems = SchemaProblems()
    let index = compiled(for: host, noting: problems)
    try problems.refuse(name)
    return index
  }

  private func compiled(for host: Host?, noting problems: SchemaProblems) -> RuleIndex {
    if version != Self.currentVersion {
      problems.add("version", "\(version) is not the \(Self.currentVersion) that is read here")
    }
    var names: Set<String> = []
    var index = RuleIndex()
    var added: [(rule: CallRule, place: SchemaPlace)] = []
    for (number, rule) in rules.enumerated() {
      let place = SchemaPlace(at: "rules[\(number)]", of: rule.name, problems)
      if rule.name.isEmpty { place.note("it has no name") }
      if !names.insert(rule.name).inserted { place.note("it has the name of an earlier rule") }
      do throws(RoutingError) {
        let compiled = try rule.compiled(for: host, at: place)
        index.add(compiled)
        added.append((compiled, place))
      } catch {
        place.note(error.message)
      }
    }
    for (rule, place) in added {
      let origins: [CallOrigin] = rule.match.origin.map { [$0] } ?? [.local, .remote]
      let way = origins.lazy.compactMap { index.loop(from: rule, for: $0) }.first
      if let way { place.note("it redirects for ever: \(way)") }
    }
    return index
  }
}

extension DecisionTable.Rule {
  fileprivate func compiled(
    for host: DecisionTable.Host?, at place: SchemaPlace
  ) throws(RoutingError) -> CallRule {
    let all = place["when"].compile(conditions, of: name, for: host)
    let requirements: [CallRule.Requirement] = zip(conditions, all).map { ("\($0)", $1) }
    let verdict = outcome.verdict(at: place["do"])
    let calls = try match.compiled(for: host, at: place["match"])
    return try .declared(
      name, priority: priority, calls, when: requirements, then: verdict, source: .table)
  }
}

extension DecisionTable.Match {
  fileprivate func compiled(
    for host: DecisionTable.Host?, at place: SchemaPlace
  ) throws(RoutingError) -> CallMatch {
    switch subject {
    case .everything: return .everything(from: origin)
    case .action(let target, let action):
      if target.isEmpty || action.isEmpty { place.note("it matches an empty name") }
      return .action(target, action, from: origin)
    case .url(let text):
      let pattern = try RoutePattern(text)
      if !pattern.keys.isEmpty {
        place.note("a rule does not look at the query of \(text); ask for a parameter under when")
      }
      // Which types there are is known to the host alone.
      return try .url(pattern, types: host?.types ?? pattern.anyTypes, from: origin)
    }
  }
}

extension DecisionTable.Outcome {
  fileprivate func verdict(at place: SchemaPlace) -> Verdict {
    switch self {
    case .redirectToURL(let text):
      let path = text.prefix { $0 != "?" && $0 != "#" }
      do throws(RoutingError) {
        if !RedirectTemplate.hasPlaces(inPath: path) { _ = try URLText(text) }
      } catch {
        place.note("it redirects to what is no URL: \(error)")
      }
      return .redirect(to: .url(text))
    case .redirect(let target, let action):
      if target.isEmpty || action.isEmpty { place.note("it redirects to an empty name") }
      return .redirect(to: .action(target: target, action: action))
    case .block(let reason):
      if reason.isEmpty { place.note("it blocks without a reason") }
      return .refuse(reason)
    case .replace(let values): return .replace(Arguments(values))
    case .answer(let value): return .answer(value.answer)
    }
  }
}

extension RuleIndex {
  /// The way of a redirection that holds whatever the call and comes back to where it was; nil where it ends.
  fileprivate func loop(from rule: CallRule, for origin: CallOrigin) -> String? {
    guard case .declared(let when, .redirect(let first)) = rule.decision, when.isEmpty else {
      return nil
    }
    var way = [first]
    while way.count <= Call.mostRedirections {
      let here = way[way.count - 1]
      guard let next = certainRedirection(of: here, for: origin), next != here else { return nil }
      if way.contains(next) { return (way + [next]).map(\.description).joined(separator: " → ") }
      way.append(next)
    }
    return nil
  }

  /// Where a call is sent whatever it is given: by the first rule without a condition that ends its way here.
  private func certainRedirection(of destination: Destination, for origin: CallOrigin)
    -> Destination?
  {
    var call = Call(number: 0, to: destination, origin: origin)
    if case .url(let text) = destination { call.url = try? URLText(text) }
    for met in met(by: call).sorted(by: { CallRule.isBefore($0.rule, $1.rule) }) {
      guard case .declared(let when, let verdict) = met.rule.decision, when.isEmpty else {
        continue
      }
      switch verdict {
      case .redirect(let next) where next != destination: return next
      case .refuse, .answer: return nil
      default: continue
      }
    }
    return nil
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

extension EntryPoint {
  /// Replaces the decision table, as a whole.
  ///
  /// A call that is under way goes on by the rules that it began with. A table with a problem changes
  /// nothing. What a module loads is removed when it is unmounted.
  ///
  /// - Parameter table: The table. Types and guards that it names have to be defined before.
  /// - Returns: Its `cancel()` removes the table, unless another has been loaded since.
  /// - Throws: ``RoutingError`` with `badTable`; the message lists every problem.
  @discardableResult
  public func load(_ table: DecisionTable) throws(RoutingError) -> Handle {
    let types = core.routes.withLock { $0.types }
    let guards = core.guards.withLock { $0.mapValues(\.value) }
    let rules = try table.compiled(for: .init(types: types, guards: guards, now: core.now))
    let (number, _) = core.rules.withLock { list in
      let before = list.replaceTable(table, with: rules)
      return (list.tableNumber, before)
    }
    return core.owned { [core] in
      _ = core.rules.withLock { list in
        list.tableNumber == number ? list.replaceTable(nil, with: RuleIndex()) : nil
      }
    }
  }

  /// The decision table that is loaded; nil for none.
  public var table: DecisionTable? { core.rules.withLock { $0.table } }

  /// Defines a guard that tables may name: `{"guard": "detail-is-healthy", "is": false}`.
  ///
  /// Tables that are loaded later use it; it replaces the one before of its name.
  ///
  /// - Parameters:
  ///   - name: The name that tables use.
  ///   - holds: Returns whether it holds for a call. It changes nothing, since a dry run asks it too. Called
  ///     on any thread, with no lock held.
  /// - Returns: Its `cancel()` removes the guard; a table that was loaded with it keeps it.
  @discardableResult
  public func define(
    guard name: String, _ holds: @escaping @Sendable (Call) -> Bool
  ) -> Handle {
    core.replace(\.[name], in: core.guards, with: holds)
  }
}
