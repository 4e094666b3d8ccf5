/// The problems of a document, in the order in which they are found.
final class SchemaProblems {
  private(set) var list: [String] = []

  func add(_ place: String, _ problem: String) {
    list.append(place.isEmpty ? problem : "\(place): \(problem)")
  }

  /// Throws the problems, if there are any.
  func refuse(_ table: String) throws(RoutingError) {
    guard !list.isEmpty else { return }
    let name = table.isEmpty ? "the decision table" : "the decision table \(table)"
    throw RoutingError(.badTable, "\(name) was not taken: " + list.joined(separator: "; "))
  }
}

/// A place of a document that is read by the schema: what is wrong there is noted, and reading goes on.
struct SchemaPlace {
  /// Nil where there is nothing.
  private let found: SchemaValue?
  /// `rules[0].match`
  let path: String
  /// The name of the rule that it is of, once that is known.
  private let rule: String
  let problems: SchemaProblems

  init(
    _ found: SchemaValue? = nil, at path: String = "", of rule: String = "",
    _ problems: SchemaProblems
  ) {
    (self.found, self.path, self.rule, self.problems) = (found, path, rule, problems)
  }

  /// False where there is nothing; null is something.
  var isGiven: Bool { found != nil }

  func note(_ problem: String) {
    problems.add(rule.isEmpty ? path : "\(path) (\(rule))", problem)
  }

  /// The place of a key.
  subscript(key: String) -> SchemaPlace {
    var value: SchemaValue?
    if case .object(let pairs) = found { value = pairs[key] }
    return SchemaPlace(value, at: path.isEmpty ? key : "\(path).\(key)", of: rule, problems)
  }

  /// The place of an element.
  subscript(index: Int) -> SchemaPlace {
    var value: SchemaValue?
    if case .array(let values) = found, values.indices.contains(index) { value = values[index] }
    return SchemaPlace(value, at: "\(path)[\(index)]", of: rule, problems)
  }

  /// Returns whether this is an object; notes the keys that the schema does not have here.
  func isObject(of keys: [String]) -> Bool {
    guard case .object(let pairs) = found else { return missing("an object") ?? false }
    for key in pairs.keys.sorted() where !keys.contains(key) {
      let question = near(key, in: keys)
      self[key].note(
        "the schema has no such key here; it has \(keys.joined(separator: ", "))\(question)")
    }
    return true
  }

  /// The one key of these that is there.
  func only(_ keys: [String]) -> String? {
    let given = keys.filter { self[$0].isGiven }
    if given.count == 1 { return given[0] }
    var others: [String] = []
    if given.isEmpty, case .object(let pairs) = found { others = pairs.keys.sorted() }
    let question = others.lazy.map { near($0, in: keys) }.first {
      !$0.isEmpty
    }
    note("exactly one of \(keys.joined(separator: ", ")) belongs here\(question ?? "")")
    return nil
  }

  /// The text that is here; nil where there is another thing, which is fine.
  var ifText: String? {
    if case .value(.text(let text)) = found { text } else { nil }
  }

  // Each of these is nil or empty where there is another thing, which is noted.

  /// The text that is here.
  func text() -> String? { ifText ?? missing("a text") }

  /// The whole number that is here.
  func integer() -> Int? {
    if case .value(.integer(let number)) = found { number } else { missing("a whole number") }
  }

  /// The number that is here.
  func number() -> Double? {
    switch found {
    case .value(.integer(let number)): Double(number)
    case .value(.number(let number)): number
    default: missing("a number")
    }
  }

  /// The truth value that is here.
  func bool() -> Bool? {
    if case .value(.bool(let value)) = found { value } else { missing("true or false") }
  }

  /// The value that is here.
  func value() -> DecisionValue? { found?.plain ?? missing("a value") }

  /// The places of the array that is here.
  func array() -> [SchemaPlace] {
    guard case .array(let values) = found else { return missing("an array") ?? [] }
    return values.indices.map { self[$0] }
  }

  /// The values of the object that is here, by key.
  func values() -> [String: DecisionValue] {
    guard case .object(let pairs) = found else { return missing("an object") ?? [:] }
    var values: [String: DecisionValue] = [:]
    for key in pairs.keys.sorted() { values[key] = self[key].value() }
    return values
  }

  /// Notes what belongs here.
  private func missing<Value>(_ wanted: String) -> Value? {
    note(found.map { "\(wanted) belongs here, not \($0.kind)" } ?? "\(wanted) is missing")
    return nil
  }
}
