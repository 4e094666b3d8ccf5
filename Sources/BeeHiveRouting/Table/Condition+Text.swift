extension DecisionTable.Condition: CustomStringConvertible {
  /// `parameter from is mail`, `20 percent by user`, …: as `explain` names it.
  public var description: String {
    switch self {
    case .given(let key, let isGiven): "parameter \(key) is \(isGiven ? "" : "not ")given"
    case .isOne(let key, let values, let isNot):
      "parameter \(key) is \(isNot ? "not " : "")"
        + values.map { $0.texts.joined(separator: " ") }.joined(separator: " or ")
    case .compares(let key, let comparison, let bound):
      "parameter \(key) is \(comparison.words) \(Self.text(bound))"
    case .version(let key, let range): "parameter \(key) is a version of \(range)"
    case .percent(let percent, let key): "\(Self.text(percent)) percent by \(key)"
    case .time(let from, let until):
      "time" + (from.map { " from \($0)" } ?? "") + (until.map { " until \($0)" } ?? "")
    case .hostGuard(let name, let expected): "guard \(name) says \(expected)"
    case .any(let conditions): Self.list(conditions, " or ")
    case .all(let conditions): Self.list(conditions, " and ")
    }
  }

  private static func text(_ number: Double) -> String {
    DecisionValue.number(number).texts.joined()
  }

  private static func list(_ conditions: [Self], _ separator: String) -> String {
    "(" + conditions.map(\.description).joined(separator: separator) + ")"
  }
}

extension DecisionTable.Comparison {
  fileprivate var words: String {
    switch self {
    case .above: "above"
    case .atLeast: "at least"
    case .below: "below"
    case .atMost: "at most"
    }
  }
}
