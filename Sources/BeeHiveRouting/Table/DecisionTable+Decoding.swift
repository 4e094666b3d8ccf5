extension DecisionTable: Decodable {
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
}

extension SchemaProblems {
  /// Throws the problems, if there are any.
  func refuse(_ table: String) throws(RoutingError) {
    guard !list.isEmpty else { return }
    let name = table.isEmpty ? "the decision table" : "the decision table \(table)"
    throw RoutingError(.badTable, "\(name) was not taken: " + list.joined(separator: "; "))
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
}
