extension DecisionTable: Codable {
  /// Reads `{"version": 1, "name": …, "rules": […]}`.
  ///
  /// Throws a `RoutingError` that lists every problem which can be known without the host.
  public init(from decoder: any Decoder) throws {
    let problems = SchemaProblems()
    self.init(SchemaPlace(try SchemaValue(from: decoder), problems))
    check(noting: problems)
    try problems.refuse(name)
  }

  private init(_ place: SchemaPlace) {
    self.init(rules: [])
    guard place.isObject(of: ["version", "name", "rules"]) else { return }
    version = place["version"].integer() ?? Self.currentVersion
    if place["name"].isGiven { name = place["name"].text() ?? "" }
    rules = place["rules"].array().map(Rule.init)
  }

  /// Writes the schema's form.
  public func encode(to encoder: any Encoder) throws {
    var pairs = [
      "version": .value(.integer(version)), "rules": SchemaValue.array(rules.map(\.schema)),
    ]
    if !name.isEmpty { pairs["name"] = .text(name) }
    try SchemaValue.object(pairs).encode(to: encoder)
  }
}

extension DecisionTable.Rule {
  /// Reads `{"name": …, "match": …, "when": […], "do": …, "priority": 0}`.
  fileprivate init(_ place: SchemaPlace) {
    self.init("", .init(.everything), do: .block("unread"))
    guard place.isObject(of: ["name", "match", "when", "do", "priority"]) else { return }
    // The place is the name where one is missing: that is said once.
    name = place["name"].text() ?? place.path
    match = .init(place["match"])
    if place["when"].isGiven {
      conditions = place["when"].array().compactMap(DecisionTable.Condition.read)
    }
    outcome = .read(place["do"]) ?? outcome
    if place["priority"].isGiven { priority = place["priority"].integer() ?? 0 }
  }

  fileprivate var schema: SchemaValue {
    var pairs = ["name": .text(name), "match": match.schema, "do": outcome.schema]
    if !conditions.isEmpty { pairs["when"] = .array(conditions.map(\.schema)) }
    if priority != 0 { pairs["priority"] = .value(.integer(priority)) }
    return .object(pairs)
  }
}

extension DecisionTable.Match {
  /// Reads `{"url": …}`, `{"target": …, "action": …}` or `{}`, each with an `origin` or without.
  fileprivate init(_ place: SchemaPlace) {
    self.init(.everything)
    guard place.isObject(of: ["url", "target", "action", "origin"]) else { return }
    if place["origin"].isGiven, let text = place["origin"].text() {
      origin = CallOrigin(rawValue: text)
      if origin == nil { place["origin"].note("local or remote belongs here, not \(text)") }
    }
    let hasNames = place["target"].isGiven || place["action"].isGiven
    if place["url"].isGiven {
      if hasNames { place["url"].note("a rule matches by a URL or by names, not by both") }
      subject = place["url"].text().map(Subject.url) ?? subject
    } else if hasNames {
      let names = ["target", "action"].map { place[$0].isGiven ? place[$0].text() ?? "*" : "*" }
      subject = .action(target: names[0], action: names[1])
    }
  }

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
  /// Reads `{"parameter": …, …}`, `{"guard": …, "is": true}`, `{"percent": …, "by": …}`, `{"time": …}` or
  /// `{"any": […]}`; nil where it is none of them.
  fileprivate static func read(_ place: SchemaPlace) -> Self? {
    let kinds = ["parameter", "guard", "percent", "time", "any", "all"]
    switch place.only(kinds) {
    case "parameter": return parameterTest(place)
    case "guard":
      guard place.isObject(of: ["guard", "is"]), let name = place["guard"].text() else {
        return nil
      }
      return .hostGuard(name, place["is"].isGiven ? place["is"].bool() ?? true : true)
    case "percent":
      guard place.isObject(of: ["percent", "by"]), let percent = place["percent"].number(),
        let key = place["by"].text()
      else { return nil }
      return .percent(percent, by: key)
    case "time":
      let window = place["time"]
      guard place.isObject(of: ["time"]), window.isObject(of: ["from", "until"]) else { return nil }
      let times = ["from", "until"].map { window[$0].isGiven ? window[$0].text() : nil }
      return .time(from: times[0], until: times[1])
    case let key?:
      guard place.isObject(of: [key]) else { return nil }
      let conditions = place[key].array().compactMap(read)
      return key == "any" ? .any(conditions) : .all(conditions)
    case nil: return nil
    }
  }

  private static func parameterTest(_ place: SchemaPlace) -> Self? {
    let comparisons = DecisionTable.Comparison.allCases.map(\.rawValue)
    let tests = ["is", "isNot", "in", "notIn", "given", "version"] + comparisons
    guard place.isObject(of: ["parameter"] + tests), let key = place["parameter"].text(),
      let test = place.only(tests)
    else { return nil }
    let value = place[test]
    switch test {
    case "given": return value.bool().map { .given(key, $0) }
    case "in", "notIn":
      return .isOne(key, of: value.array().compactMap { $0.value() }, isNot: test == "notIn")
    case "is", "isNot":
      return value.value().map { .isOne(key, of: [$0], isNot: test == "isNot") }
    case "version": return value.text().map { .version(key, in: $0) }
    default:
      return DecisionTable.Comparison(rawValue: test).flatMap { comparison in
        value.number().map { .compares(key, comparison, $0) }
      }
    }
  }

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
  /// Reads one of `redirect`, `block`, `replace` and `answer`; nil where it is none.
  fileprivate static func read(_ place: SchemaPlace) -> Self? {
    let kinds = ["redirect", "block", "replace", "answer"]
    guard place.isObject(of: kinds), let key = place.only(kinds) else { return nil }
    let value = place[key]
    switch key {
    case "block": return value.text().map(Self.block)
    case "replace": return .replace(value.values())
    case "answer": return value.value().map(Self.answer)
    default:
      if let url = value.ifText { return .redirectToURL(url) }
      guard value.isObject(of: ["target", "action"]), let target = value["target"].text(),
        let action = value["action"].text()
      else { return nil }
      return .redirect(target: target, action: action)
    }
  }

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

extension SchemaValue {
  fileprivate static func text(_ text: String) -> SchemaValue { .value(.text(text)) }
}
