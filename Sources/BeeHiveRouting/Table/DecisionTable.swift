/// Rules about calls that come from a document: a file that is shipped, or one that a server sends.
///
///     let table = try JSONDecoder().decode(DecisionTable.self, from: data)
///     try hive.calls.load(table)
///
/// The host decodes it with the decoder it likes; `Docs/decision-table.md` has the schema. A document that is not of it throws a `RoutingError` of the code
/// `bad-table`, which lists every problem with its location.
public struct DecisionTable: Hashable, Sendable {
  /// The version of the schema that this library reads.
  package static let currentVersion = 1

  /// The version of the schema that the table is written in.
  package var version: Int
  /// What the table is called where it is told of.
  package var name: String
  /// In their order, unless a priority says otherwise.
  package var rules: [Rule]

  /// Describes a table; ``EntryPoint/load(_:)`` checks it.
  ///
  /// - Parameters:
  ///   - version: The version of the schema that it is written in.
  ///   - name: What errors call it.
  ///   - rules: In their order, unless a priority says otherwise.
  package init(version: Int = currentVersion, name: String = "", rules: [Rule]) {
    self.version = version
    self.name = name
    self.rules = rules
  }

  /// One rule: for which calls, under which conditions, what.
  package struct Rule: Hashable, Sendable {
    /// What it is called; no other rule of the table is.
    package var name: String
    /// Which calls it is about.
    package var match: Match
    /// All of these have to hold.
    package var conditions: [Condition]
    /// What becomes of the call.
    package var outcome: Outcome
    /// Larger first, among all rules, guards and interceptors.
    package var priority: Int

    /// Describes a rule.
    ///
    /// - Parameters:
    ///   - name: What it is called; no other rule of the table is.
    ///   - match: The calls that it is about.
    ///   - conditions: All of these have to hold.
    ///   - outcome: What becomes of the call.
    ///   - priority: Larger first, among all rules, guards and interceptors.
    package init(
      _ name: String, _ match: Match, when conditions: [Condition] = [], do outcome: Outcome,
      priority: Int = 0
    ) {
      self.name = name
      self.match = match
      self.conditions = conditions
      self.outcome = outcome
      self.priority = priority
    }
  }

  /// Which calls a rule is about.
  package struct Match: Hashable, Sendable {
    /// By a pattern of URLs, by names, or all.
    package enum Subject: Hashable, Sendable {
      /// Calls by a URL that this pattern matches.
      case url(String)
      /// Calls of an action; `*` is every target or every action.
      case action(target: String, action: String)
      /// Every call.
      case everything
    }

    /// What is called.
    package var subject: Subject
    /// Where the calls come from; nil for any origin.
    package var origin: CallOrigin?

    /// Describes calls.
    ///
    /// - Parameters:
    ///   - subject: What is called.
    ///   - origin: Where the calls come from; nil for any origin.
    package init(_ subject: Subject, from origin: CallOrigin? = nil) {
      self.subject = subject
      self.origin = origin
    }
  }

  /// What becomes of a call.
  package enum Outcome: Hashable, Sendable {
    /// It goes to a URL, in which `:name` is filled in with what the path gives.
    case redirectToURL(String)
    /// It goes to an action.
    case redirect(target: String, action: String)
    /// It is refused, with this reason.
    case block(String)
    /// It goes on with these parameters over its own; null takes one away.
    case replace([String: DecisionValue])
    /// It is answered with this value.
    case answer(DecisionValue)
  }
}

/// A value in a decision table: what JSON, property lists and YAML have in common.
///
/// A whole number is the same however it is written: `7` and `7.0` are equal.
package indirect enum DecisionValue: Sendable, Hashable {
  /// No value.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number.
  case integer(Int)
  /// Another number.
  case number(Double)
  /// A text.
  case text(String)
  /// Several values.
  case array([DecisionValue])

  /// The texts that a URL would give instead; none for null.
  var texts: [String] {
    switch self {
    case .null: []
    case .bool(let value): [value.urlText]
    case .integer(let value): [value.urlText]
    case .number(let value): [Int(exactly: value)?.urlText ?? value.urlText]
    case .text(let value): [value]
    case .array(let values): values.flatMap(\.texts)
    }
  }

  /// The value of a number.
  var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  /// The value as a Swift value: what an answer gives to the caller.
  var answer: any Sendable {
    switch self {
    case .null: ()
    case .bool(let value): value
    case .integer(let value): value
    case .number(let value): value
    case .text(let value): value
    case .array(let values):
      Self.answer(ofArray: values, values.map(\.answer))
    }
  }

  /// An array whose elements have one type where they all could.
  private static func answer(
    ofArray values: [DecisionValue], _ answers: [any Sendable]
  ) -> any Sendable {
    if let texts = answers as? [String] { return texts }
    if let numbers = answers as? [Int] { return numbers }
    return values.allSatisfy { $0.double != nil } ? values.compactMap(\.double) : answers
  }

  /// Returns whether both are the same value.
  package static func == (first: DecisionValue, second: DecisionValue) -> Bool {
    first.compared == second.compared
  }

  /// Hashes the value.
  package func hash(into hasher: inout Hasher) { hasher.combine(compared) }

  /// What it is compared by: of `AnyHashable`, a whole number is the same whatever its type.
  private var compared: AnyHashable? {
    switch self {
    case .null: nil
    case .bool(let value): value
    case .integer(let value): value
    case .number(let value): value
    case .text(let value): value
    case .array(let values): values
    }
  }
}
