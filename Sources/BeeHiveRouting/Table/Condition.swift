internal import BeeHive
internal import Registration

extension DecisionTable {
  /// Something that has to hold.
  public indirect enum Condition: Hashable, Sendable {
    /// Whether a parameter is given at all.
    case given(String, Bool)
    /// Whether a parameter is one of these values, or none of them.
    case isOne(String, of: [DecisionValue], isNot: Bool)
    /// How a parameter that is a number compares with one.
    case compares(String, Comparison, Double)
    /// Whether a parameter is a version of this range: `>=2.1 <3`.
    case version(String, in: String)
    /// Whether the value of a parameter is among this part of all values, in percent: always the same part.
    case percent(Double, by: String)
    /// Whether it is not before the first and before the second of these times: `2026-12-24T18:00:00Z`.
    case time(from: String?, until: String?)
    /// What a guard that the host has defined says.
    case hostGuard(String, Bool)
    /// Whether one of these holds.
    case any([Condition])
    /// Whether all of these hold.
    case all([Condition])
  }

  /// A comparison of numbers.
  public enum Comparison: String, Hashable, Sendable, CaseIterable {
    /// Greater.
    case above
    /// Greater or equal.
    case atLeast
    /// Less.
    case below
    /// Less or equal.
    case atMost

    func holds(_ value: Double, _ bound: Double) -> Bool {
      switch self {
      case .above: value > bound
      case .atLeast: value >= bound
      case .below: value < bound
      case .atMost: value <= bound
      }
    }
  }
}

extension DecisionTable.Condition {
  /// What the condition of a rule asks a call; notes what is wrong with it. Without a host it never holds
  /// where it needs one.
  func compiled(
    of rule: String, for host: DecisionTable.Host?, noting note: (String) -> Void
  ) -> CallRule.Condition {
    switch self {
    case .given(let key, let expected):
      return { _, parameters in (parameters.values[key] != nil) == expected }
    case .isOne(let key, let values, let isNot):
      return { _, parameters in
        let texts = parameters.texts(key)
        return values.contains { $0.isWritten(texts) } != isNot
      }
    case .compares(let key, let comparison, let bound):
      return { _, parameters in
        let texts = parameters.texts(key)
        guard texts.count == 1, let value = Double(urlText: texts[0]) else { return false }
        return comparison.holds(value, bound)
      }
    case .version(let key, let text):
      guard let range = VersionRange(text) else {
        note("\(text) is no range of versions, as >=2.1 <3 is")
        return Self.never
      }
      return { _, parameters in
        let texts = parameters.texts(key)
        return texts.count == 1 && Version(texts[0]).map(range.contains) == true
      }
    case .percent(let percent, let key):
      if !(0...100).contains(percent) { note("\(percent) percent are none between 0 and 100") }
      return { _, parameters in
        let texts = parameters.texts(key)
        return !texts.isEmpty && StableShare.of(rule, texts) < percent
      }
    case .time(let from, let until):
      let times = [from, until].map { text -> Double? in
        guard let text else { return nil }
        if let time = Timestamp(text) { return time.seconds }
        note("\(text) is no time, as 2026-12-24T18:00:00Z and 2026-12-24T18:00:00+01:00 are")
        return nil
      }
      if from == nil, until == nil { note("a window of time has from, until or both") }
      if let first = times[0], let second = times[1], first >= second {
        note("the window of time ends before it begins")
      }
      guard let now = host?.now else { return Self.never }
      return { _, _ in
        let time = now()
        return times[0].map { time >= $0 } ?? true && times[1].map { time < $0 } ?? true
      }
    case .hostGuard(let name, let expected):
      guard let guards = host?.guards else { return Self.never }
      guard let hostGuard = guards[name] else {
        let question = SimilarNames(to: name, among: guards.keys).question
        note("the guard \(name) is named, which the host has not defined\(question)")
        return Self.never
      }
      return { call, _ in hostGuard(call) == expected }
    case .any(let conditions):
      if conditions.isEmpty { note("any of no conditions never holds") }
      let compiled = conditions.map { $0.compiled(of: rule, for: host, noting: note) }
      return { call, parameters in compiled.contains { $0(call, parameters) } }
    case .all(let conditions):
      let compiled = conditions.map { $0.compiled(of: rule, for: host, noting: note) }
      return { call, parameters in compiled.allSatisfy { $0(call, parameters) } }
    }
  }

  private static let never: CallRule.Condition = { _, _ in false }
}

extension DecisionValue {
  /// Whether texts are a way to write the value: a number and a truth value count by their value, since a
  /// receiver reads `07` and `+7` as 7.
  fileprivate func isWritten(_ texts: [String]) -> Bool {
    if case .array(let values) = self {
      return values.count == texts.count && zip(values, texts).allSatisfy { $0.isWritten([$1]) }
    }
    guard texts.count == 1 else { return self.texts == texts }
    return switch self {
    case .integer(let value): Int(urlText: texts[0]).map { $0 == value } ?? isNumber(texts[0])
    case .number: isNumber(texts[0])
    case .bool(let value): Bool(urlText: texts[0]) == value
    default: self.texts == texts
    }
  }

  private func isNumber(_ text: String) -> Bool {
    guard let given = Double(urlText: text) else { return false }
    return switch self {
    case .integer(let value): given == Double(value)
    case .number(let value): given == value
    default: false
    }
  }
}
