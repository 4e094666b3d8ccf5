extension DecisionTable: Encodable {
  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var pairs = [
      "version": .value(.integer(version)), "rules": SchemaValue.array(rules.map(\.schema)),
    ]
    if !name.isEmpty { pairs["name"] = .text(name) }
    try SchemaValue.object(pairs).encode(to: encoder)
  }
}

extension SchemaValue {
  fileprivate static func text(_ text: String) -> SchemaValue { .value(.text(text)) }
}

extension DecisionTable.Rule {
  fileprivate var schema: SchemaValue {
    var pairs = ["name": .text(name), "match": match.schema, "do": outcome.schema]
    if !conditions.isEmpty { pairs["when"] = .array(conditions.map(\.schema)) }
    if priority != 0 { pairs["priority"] = .value(.integer(priority)) }
    return .object(pairs)
  }
}

extension DecisionTable.Match {
  fileprivate var schema: SchemaValue {
    var pairs: [String: SchemaValue] = [:]
    switch subject {
    case .url(let url): pairs["url"] = .text(url)
    case .action(let target, let action):
      pairs = ["target": .text(target), "action": .text(action)]
    case .everything: break
    }
    if let origin { pairs["origin"] = .text(origin.rawValue) }
    return .object(pairs)
  }
}

extension DecisionTable.Condition {
  fileprivate var schema: SchemaValue {
    switch self {
    case .given(let key, let value):
      return .object(["parameter": .text(key), "given": .value(.bool(value))])
    case .isOne(let key, let values, let isNot):
      let only = values.count == 1 ? values.first : nil
      let value = only.map(SchemaValue.value) ?? .array(values.map(SchemaValue.value))
      let test = only == nil ? (isNot ? "notIn" : "in") : (isNot ? "isNot" : "is")
      return .object(["parameter": .text(key), test: value])
    case .compares(let key, let comparison, let bound):
      return .object(["parameter": .text(key), comparison.rawValue: .value(.number(bound))])
    case .version(let key, let range):
      return .object(["parameter": .text(key), "version": .text(range)])
    case .percent(let percent, let key):
      return .object(["percent": .value(.number(percent)), "by": .text(key)])
    case .time(let from, let until):
      let window = ["from": from, "until": until].compactMapValues { $0.map(SchemaValue.text) }
      return .object(["time": .object(window)])
    case .hostGuard(let name, let value):
      return .object(["guard": .text(name), "is": .value(.bool(value))])
    case .any(let conditions): return .object(["any": .array(conditions.map(\.schema))])
    case .all(let conditions): return .object(["all": .array(conditions.map(\.schema))])
    }
  }
}

extension DecisionTable.Outcome {
  fileprivate var schema: SchemaValue {
    switch self {
    case .redirectToURL(let url): .object(["redirect": .text(url)])
    case .redirect(let target, let action):
      .object(["redirect": .object(["target": .text(target), "action": .text(action)])])
    case .block(let reason): .object(["block": .text(reason)])
    case .replace(let values): .object(["replace": .object(values.mapValues(SchemaValue.value))])
    case .answer(let value): .object(["answer": .value(value)])
    }
  }
}
