/// A place in a document, read by the schema. Problems are noted, and reading goes on.
final class SchemaPlace {
  /// The value here; nil if there is none.
  private let found: DecisionValue?
  /// The place that contains this one; nil for the whole document.
  private let parent: SchemaPlace?
  /// The key or the index of this place: `.match`, `[0]`.
  private let step: String
  /// The name of the rule at this place, once it is known.
  var rule: String?
  /// The problems of the whole document, in the order that they are found, up to `mostProblems`.
  private(set) var problems: [String] = []
  private static let mostProblems = 100
  /// Whether there are more problems.
  private var hasMore = false
  /// The segments that further forms of patterns may still have, in the whole document: six optional parts make 64.
  private var formSegments = 1 << 16

  init(_ found: DecisionValue?, at step: String = "", in parent: SchemaPlace? = nil) {
    (self.found, self.step, self.parent) = (found, step, parent)
  }

  /// `.rules[0].match`
  private var path: String { (parent?.path ?? "") + step }

  /// The place of the whole document.
  private var document: SchemaPlace { parent?.document ?? self }

  /// The name of the rule that has this place; empty for none.
  var ruleName: String { rule ?? parent?.ruleName ?? "" }

  /// Takes the further forms of a pattern from the document's budget. Returns false if that is too small.
  func pays(forFormsOf pattern: RoutePattern) -> Bool {
    let document = document
    document.formSegments -= pattern.variants.dropFirst().map(\.count).reduce(0, +)
    if document.formSegments >= 0 { return true }
    note("the optional parts of all patterns make more than 65536 segments; write fewer of them")
    return false
  }

  /// Notes a problem of this place; its quotes are excerpts.
  func note(_ problem: @autoclosure () -> String) {
    let document = document
    guard document.problems.count < Self.mostProblems else {
      if !document.hasMore { document.problems[Self.mostProblems - 1] = "there are more problems" }
      document.hasMore = true
      return
    }
    let rule = ruleName.isEmpty ? "" : " (\(ruleName.excerpt))"
    let place = path.dropFirst().excerpt + rule
    document.problems.append(place.isEmpty ? problem() : "\(place): \(problem())")
  }

  /// The place of a key.
  subscript(key: String) -> SchemaPlace {
    var value: DecisionValue?
    if case .object(let pairs) = found { value = pairs[key] }
    return SchemaPlace(value, at: ".\(key)", in: self)
  }

  /// Returns the place of a key; nil if the key is not given. Null counts as given.
  func given(_ key: String) -> SchemaPlace? {
    let place = self[key]
    return place.found == nil ? nil : place
  }

  /// Returns whether this is an object; notes the keys that the schema does not have here.
  func isObject(of keys: [String]) -> Bool {
    guard case .object(let pairs) = found else { return missing("an object") ?? false }
    for key in pairs.keys.filter({ !keys.contains($0) }).sorted() {
      self[key].note(
        "the schema has no such key here; it has \(keys.joined(separator: ", "))"
          + near(key, in: keys))
    }
    return true
  }

  /// Returns the one key of these that is given; notes a problem if it is not one.
  func only(_ keys: [String]) -> String? {
    let given = keys.filter { self.given($0) != nil }
    if given.count == 1 { return given[0] }
    var others: [String] = []
    if given.isEmpty, case .object(let pairs) = found { others = pairs.keys.sorted() }
    note(
      "exactly one of \(keys.joined(separator: ", ")) belongs here"
        + (others.lazy.map { near($0, in: keys) }.first { !$0.isEmpty } ?? ""))
    return nil
  }

  /// The text that is here; nil for anything else, which is fine.
  var ifText: String? {
    if case .text(let text) = found { text } else { nil }
  }

  // Each of these returns nil or nothing if another kind of value is here, and notes it.

  /// Returns the text that is here.
  func text() -> String? { ifText ?? missing("a text") }

  /// Returns the whole number that is here.
  func integer() -> Int? {
    if case .integer(let number) = found, let number = Int(exactly: number) {
      number
    } else {
      missing("a whole number")
    }
  }

  /// Returns the number that is here.
  func number() -> Double? { found?.double ?? missing("a number") }

  /// Returns the truth value that is here.
  func bool() -> Bool? {
    if case .bool(let value) = found { value } else { missing("true or false") }
  }

  /// Returns the value that is here, which holds no object.
  func value() -> DecisionValue? {
    if let found, !found.hasObject { found } else { missing("a value") }
  }

  /// Whether an array without values is here.
  var isEmptyArray: Bool { found == .array([]) }

  /// Returns the places of the array that is here.
  func array() -> [SchemaPlace] {
    guard case .array(let values) = found else { return missing("an array") ?? [] }
    return values.enumerated().map { SchemaPlace($1, at: "[\($0)]", in: self) }
  }

  /// Returns the values of the object that is here, by key.
  func values() -> [String: DecisionValue] {
    guard case .object(let pairs) = found else { return missing("an object") ?? [:] }
    let keys = pairs.keys.sorted()
    return Dictionary(uniqueKeysWithValues: keys.map { ($0, self[$0].value() ?? .null) })
  }

  /// Notes which kind of value belongs here.
  private func missing<Value>(_ wanted: String) -> Value? {
    note(found.map { "\(wanted) belongs here, not \($0.kind)" } ?? "\(wanted) is missing")
    return nil
  }
}
