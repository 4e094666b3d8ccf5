import Adapters
import BeeHiveRouting
import Foundation
import Testing

/// The published cases of flagd, with its flags as rules of a decision table. `scenario` is the name of the case in
/// flagd-testbed, `evaluator/gherkin`; README.md lists the differences.
@Suite("flagd's published cases, where its operators have a counterpart")
struct FlagdCaseTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let scenario: String
    let flag: String
    var key: String?
    var context: [String: FlagValue] = [:]
    let expected: FlagValue
    var reason: FlagReason?

    /// The caller's own value, which no flag has.
    var fallback: FlagValue {
      switch expected {
      case .boolean(let value): .boolean(!value)
      case .integer: .integer(-1)
      case .number: .number(-1)
      case .string: .string("wrong")
      default: .structure(["wrong": .boolean(true)])
      }
    }

    var testDescription: String { "\(scenario): \(flag) \(key ?? "") \(context)" }
  }

  /// Evaluates a flag as the type of the value that the caller would take.
  static func evaluate(
    _ provider: FlagProvider, _ flag: String, _ fallback: FlagValue, _ context: FlagContext
  ) -> (value: FlagValue, reason: FlagReason, code: FlagErrorCode?) {
    func evaluate<Value: FlagType>(_ value: Value, _ wrap: (Value) -> FlagValue) -> (
      FlagValue, FlagReason, FlagErrorCode?
    ) {
      let evaluation = provider.evaluate(flag, default: value, context: context)
      return (wrap(evaluation.value), evaluation.reason, evaluation.errorCode)
    }
    return switch fallback {
    case .boolean(let value): evaluate(value) { .boolean($0) }
    case .integer(let value): evaluate(value) { .integer($0) }
    case .number(let value): evaluate(value) { .number($0) }
    case .string(let value): evaluate(value) { .string($0) }
    default: evaluate(fallback) { $0 }
    }
  }

  private static let provider = Result { try FlagProvider(entryPoint(rules)) }

  private static func entryPoint(_ rules: [String]) throws -> EntryPoint {
    let calls = Router().calls
    let json = #"{"version": 1, "rules": [\#(rules.joined(separator: ",\n"))]}"#
    try calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
    return calls
  }

  /// Returns a rule that answers for a flag, with or without a condition.
  private static func rule(
    _ flag: String, _ variant: String, when condition: String = "", answer: String
  ) -> String {
    rule(flag, variant, when: condition, do: #"{"answer": \#(answer)}"#)
  }

  private static func rule(
    _ flag: String, _ variant: String, when condition: String = "", do outcome: String
  ) -> String {
    #"{"name": "\#(flag) \#(variant)", "match": {"url": "flag://\#(flag)"}, "when": [\#(condition)], "do": \#(outcome)}"#
  }

  /// Returns a rule about the app's version. Its variant is its answer.
  private static func rule(_ flag: String, _ variant: String, version: String) -> String {
    rule(
      flag, variant, when: #"{"context": "version", "version": "\#(version)"}"#,
      answer: #""\#(variant)""#)
  }

  private static func split(_ by: String, salt: String, _ variants: String) -> String {
    #"{"split": {"by": {"context": "\#(by)"}, "salt": "\#(salt)", "variants": [\#(variants)]}}"#
  }

  private static let isBallmer = #"{"context": "email", "is": "ballmer@macrosoft.com"}"#
  private static let isJobs = #"{"context": "email", "is": "jobs@orange.com"}"#
  private static let pictures = #"{\"showImages\": true, \"imagesPerPage\": 100}"#
  private static let suits = ["clubs", "diamonds", "hearts", "spades"]

  private static func suits(_ prefix: String = "") -> String {
    suits.map { #"{"weight": 25, "name": "\#($0)", "answer": "\#(prefix)\#($0)"}"# }
      .joined(separator: ",")
  }

  /// flagd's flags, each with the rules of its variants.
  private static let rules: [String] =
    [
      rule("boolean-flag", "on", answer: "true"),
      rule("string-flag", "greeting", answer: #""hi""#),
      rule("integer-flag", "ten", answer: "10"),
      rule("float-flag", "half", answer: "0.5"),
      rule("object-flag", "template", answer: #""\#(pictures)""#),
      rule("wrong-flag", "one", answer: #""uno""#),
      rule(
        "targeting-key-flag", "hit",
        when: #"{"context": "targetingKey", "is": "5c3d8535-f81a-4478-a6d3-afaa4d51199e"}"#,
        answer: #""hit""#),
      rule("targeting-key-flag", "miss", answer: #""miss""#),
      // Flags without a default variant: no rule answers, or a rule answers null.
      rule("null-default-flag", "none", answer: "null"),
      rule("no-default-flag-null-targeting-variant", "special", when: isJobs, answer: #""CEO""#),
      rule("no-default-flag-null-targeting-variant", "none", answer: "null"),
      rule(
        "no-default-flag-undefined-targeting-variant", "special", when: isJobs, answer: #""CEO""#),
      rule(
        "starts-ends-flag", "prefix", when: #"{"context": "id", "startsWith": "abc"}"#,
        answer: #""prefix""#),
      rule(
        "starts-ends-flag", "postfix", when: #"{"context": "id", "endsWith": "xyz"}"#,
        answer: #""postfix""#),
      rule("starts-ends-flag", "none", answer: #""none""#),
      rule(
        "starts-with-non-string-flag", "true", when: #"{"context": "num", "startsWith": "abc"}"#,
        answer: #""true""#),
      rule("starts-with-non-string-flag", "fallback", answer: #""fallback""#),
      rule(
        "ends-with-non-string-flag", "true", when: #"{"context": "num", "endsWith": "xyz"}"#,
        answer: #""true""#),
      rule("ends-with-non-string-flag", "fallback", answer: #""fallback""#),
      // `~3.0.0` and `^3.0.0` are ranges here.
      rule("equal-greater-lesser-version-flag", "equal", version: "2.0.0"),
      rule("equal-greater-lesser-version-flag", "greater", version: ">2.0.0"),
      rule("equal-greater-lesser-version-flag", "lesser", version: "<2.0.0"),
      rule("equal-greater-lesser-version-flag", "none", answer: #""none""#),
      rule("major-minor-version-flag", "minor", version: ">=3.0.0 <3.1"),
      rule("major-minor-version-flag", "major", version: ">=3.0.0 <4"),
      rule("major-minor-version-flag", "none", answer: #""none""#),
      rule("semver-invalid-version-flag", "true", version: "1.0.0"),
      rule("semver-invalid-version-flag", "fallback", answer: #""fallback""#),
      rule("semver-v-prefix-flag", "match", version: "v1.0.0"),
      rule("semver-v-prefix-flag", "no-match", answer: #""no-match""#),
      rule("semver-partial-version-flag", "match", version: ">=1 <2"),
      rule("semver-partial-version-flag", "no-match", answer: #""no-match""#),
      rule("semver-numeric-context-flag", "match", version: ">1.1"),
      rule("semver-numeric-context-flag", "no-match", answer: #""no-match""#),
      rule("semver-build-metadata-flag", "match", version: "1.0.0+build"),
      rule("semver-build-metadata-flag", "no-match", answer: #""no-match""#),
      rule("fractional-flag", "suit", do: split("user.name", salt: "fractional-flag", suits())),
      rule("fractional-flag", "wild", answer: #""wild""#),
      rule("fractional-flag-A-shared-seed", "suit", do: split("user.name", salt: "s", suits())),
      rule(
        "fractional-flag-B-shared-seed", "suit", do: split("user.name", salt: "s", suits("ace-of-"))
      ),
      rule(
        "fractional-flag-shorthand", "coin",
        do: split(
          "targetingKey", salt: "coin",
          #"{"weight": 1, "answer": "heads"}, {"weight": 1, "answer": "tails"}"#)),
      rule(
        "fractional-single-entry-flag", "only",
        do: split("targetingKey", salt: "", #"{"weight": 1, "answer": "single"}"#)),
      rule(
        "fractional-null-bucket-key-flag", "some",
        do: split(
          "missing_key", salt: "",
          #"{"weight": 50, "answer": "one"}, {"weight": 50, "answer": "two"}"#)),
      rule("fractional-null-bucket-key-flag", "fallback", answer: #""fallback""#),
      // A variant that depends on the context is one rule for each case, with one salt.
      rule(
        "fractional-nested-if-flag", "premium", when: #"{"context": "tier", "is": "premium"}"#,
        do: split(
          "targetingKey", salt: "tier",
          #"{"weight": 50, "answer": "premium"}, {"weight": 50, "answer": "standard"}"#)),
      rule("fractional-nested-if-flag", "standard", answer: #""standard""#),
      rule(
        "fractional-as-condition-flag", "big",
        when: #"{"percent": 100, "by": {"context": "targetingKey"}}"#, answer: #""hundreds""#),
      rule("fractional-as-condition-flag", "small", answer: #""ones""#),
      rule(
        "fractional-as-condition-false-flag", "big",
        when: #"{"percent": 0, "by": {"context": "targetingKey"}}"#, answer: #""hundreds""#),
      rule("fractional-as-condition-false-flag", "small", answer: #""ones""#),
    ]
    + ["boolean", "string", "integer", "float", "object"].map { type in
      rule("disabled-\(type)-flag", "off", do: #"{"block": "disabled"}"#)
    }
    + zeros.flatMap { type, zero in
      [
        rule("\(type)-zero-flag", "zero", answer: zero),
        rule("\(type)-targeted-zero-flag", "targeted", when: isBallmer, answer: zero),
        rule("\(type)-targeted-zero-flag", "zero", answer: zero),
      ]
    }

  private static let zeros: KeyValuePairs = [
    "boolean": "false", "string": #""""#, "integer": "0", "float": "0.0", "object": #""{}""#,
  ]

  private static let zeroValues: KeyValuePairs<String, FlagValue> = [
    "boolean": .boolean(false), "string": .string(""), "integer": .integer(0), "float": .number(0),
    "object": .structure([:]),
  ]

  // MARK: evaluation, targeting, string, zero values

  static let plainCases: [Case] =
    [
      Case(scenario: "Resolve basic values", flag: "boolean-flag", expected: .boolean(true)),
      Case(scenario: "Resolve basic values", flag: "string-flag", expected: .string("hi")),
      Case(scenario: "Resolve basic values", flag: "integer-flag", expected: .integer(10)),
      Case(scenario: "Resolve basic values", flag: "float-flag", expected: .number(0.5)),
      Case(
        scenario: "Resolve basic values", flag: "object-flag",
        expected: .structure(["showImages": .boolean(true), "imagesPerPage": .integer(100)])),
      Case(
        scenario: "Targeting by targeting key", flag: "targeting-key-flag",
        key: "5c3d8535-f81a-4478-a6d3-afaa4d51199e", expected: .string("hit"),
        reason: .targetingMatch),
      Case(
        scenario: "Targeting by targeting key", flag: "targeting-key-flag",
        key: "f20bd32d-703b-48b6-bc8e-79d53c85134a", expected: .string("miss"), reason: .default),
    ]
    + [("abcdef", "prefix"), ("uvwxyz", "postfix"), ("abcxyz", "prefix"), ("lmnopq", "none")].map {
      Case(
        scenario: "Substring operators", flag: "starts-ends-flag", context: ["id": .string($0)],
        expected: .string($1))
    }
    + ["starts-with-non-string-flag", "ends-with-non-string-flag"].map {
      Case(
        scenario: "starts_with and ends_with return null for non-string input", flag: $0,
        context: ["num": .integer(123)], expected: .string("fallback"), reason: .default)
    }
    + zeroValues.flatMap { type, zero in
      [
        Case(
          scenario: "Resolve zero values statically", flag: "\(type)-zero-flag", expected: zero,
          reason: .static),
        Case(
          scenario: "Resolve zero value with targeting match", flag: "\(type)-targeted-zero-flag",
          context: ["email": .string("ballmer@macrosoft.com")], expected: zero,
          reason: .targetingMatch),
        Case(
          scenario: "Resolve zero value using default when targeting does not match",
          flag: "\(type)-targeted-zero-flag", context: ["email": .string("ballmer@none.com")],
          expected: zero, reason: .default),
      ]
    }

  // MARK: semver

  static let versionCases: [Case] =
    [
      ("2.0.0", "equal"), ("2.1.0", "greater"), ("1.9.0", "lesser"), ("2.0.0-alpha", "lesser"),
      // flagd: "none", since it takes three numbers at most.
      ("2.0.0.0", "equal"),
    ].map {
      Case(
        scenario: "Numeric comparison", flag: "equal-greater-lesser-version-flag",
        context: ["version": .string($0)], expected: .string($1))
    }
    + [("3.0.1", "minor"), ("3.1.0", "major"), ("4.0.0", "none")].map {
      Case(
        scenario: "Semantic comparison (minor/major range)", flag: "major-minor-version-flag",
        context: ["version": .string($0)], expected: .string($1))
    }
    + [
      Case(
        scenario: "sem_ver returns null for invalid input and falls back to default variant",
        flag: "semver-invalid-version-flag", context: ["version": .string("not-a-version")],
        expected: .string("fallback"), reason: .default)
    ]
    + [("1.0.0", "match"), ("v1.0.0", "match"), ("V1.0.0", "match"), ("2.0.0", "no-match")].map {
      Case(
        scenario: "v-prefix handling", flag: "semver-v-prefix-flag",
        context: ["version": .string($0)], expected: .string($1))
    }
    + ([
      (.string("1.5.0"), "match"), (.string("1.0.0"), "match"), (.string("1.0"), "match"),
      (.string("1"), "match"), (.integer(1), "match"), (.number(1), "match"),
      (.number(1.2), "match"), (.string("2.0.0"), "no-match"),
    ] as [(FlagValue, String)]).map {
      Case(
        scenario: "partial version string handling", flag: "semver-partial-version-flag",
        context: ["version": $0], expected: .string($1))
    }
    + ([
      (.number(1.2), "match"), (.number(1.1), "no-match"), (.integer(2), "match"),
      (.integer(1), "no-match"), (.string("1.2"), "match"),
    ] as [(FlagValue, String)]).map {
      Case(
        scenario: "numeric context value coercion", flag: "semver-numeric-context-flag",
        context: ["version": $0], expected: .string($1))
    }
    + [("1.0.0", "match"), ("1.0.0+other", "match"), ("2.0.0", "no-match")].map {
      Case(
        scenario: "build metadata ignored in comparison", flag: "semver-build-metadata-flag",
        context: ["version": .string($0)], expected: .string($1))
    }

  // MARK: fractional, as far as no hash says who

  static let fractionCases: [Case] = [
    Case(
      scenario: "Fractional operator with single entry always resolves to the only variant",
      flag: "fractional-single-entry-flag", key: "some-targeting-key", expected: .string("single"),
      reason: .split),
    Case(
      scenario: "Fractional as condition", flag: "fractional-as-condition-flag",
      key: "some-targeting-key", expected: .string("hundreds")),
    Case(
      scenario: "Fractional as condition evaluates false path",
      flag: "fractional-as-condition-false-flag", key: "some-targeting-key",
      expected: .string("ones")),
    Case(
      scenario: "fractional operator with missing bucket key falls back to default variant",
      flag: "fractional-null-bucket-key-flag", expected: .string("fallback"), reason: .default),
  ]

  @Test(
    "A flag has the value, and the reason", arguments: plainCases + versionCases + fractionCases)
  func values(_ given: Case) throws {
    let context = FlagContext(targetingKey: given.key, attributes: given.context)
    let (value, reason, code) = Self.evaluate(
      try Self.provider.get(), given.flag, given.fallback, context)
    #expect(value == given.expected)
    #expect(given.reason == nil || reason == given.reason)
    #expect(code == nil)
  }

  @Test("Resolve flag with no default variant")
  func noDefault() throws {
    let provider = try Self.provider.get()
    for (flag, email, fallback, expected, reason) in [
      ("null-default-flag", "", .boolean(true), .boolean(true), .default),
      ("null-default-flag", "", .boolean(false), .boolean(false), .default),
      (
        "no-default-flag-null-targeting-variant", "wozniak@orange.com", .string("Inventor"),
        .string("Inventor"), .default
      ),
      (
        "no-default-flag-null-targeting-variant", "jobs@orange.com", .string("CEO"), .string("CEO"),
        .targetingMatch
      ),
      (
        "no-default-flag-undefined-targeting-variant", "wozniak@orange.com", .string("Retired"),
        .string("Retired"), .default
      ),
    ] as [(String, String, FlagValue, FlagValue, FlagReason)] {
      let context = FlagContext(attributes: ["email": .string(email)])
      let (value, why, code) = Self.evaluate(provider, flag, fallback, context)
      #expect((value, why, code) == (expected, reason, nil), "\(flag) \(email)")
    }
  }

  @Test("Flag not found, and type mismatch")
  func errors() throws {
    let provider = try Self.provider.get()
    let missing = Self.evaluate(provider, "missing-flag", .string("uh-oh"), FlagContext())
    #expect(missing == (.string("uh-oh"), .error, .flagNotFound))
    let wrong = Self.evaluate(provider, "wrong-flag", .integer(13), FlagContext())
    #expect(wrong == (.integer(13), .error, .typeMismatch))
  }

  @Test(
    "Resolve disabled flag returns reason DISABLED with the default value",
    arguments: [
      ("boolean", .boolean(false)), ("string", .string("bye")), ("integer", .integer(1)),
      ("float", .number(0.1)), ("object", .structure([:])),
    ] as [(String, FlagValue)])
  func disabled(_ type: String, _ fallback: FlagValue) throws {
    let found = Self.evaluate(
      try Self.provider.get(), "disabled-\(type)-flag", fallback, FlagContext())
    #expect(found == (fallback, .disabled, nil))
  }

  @Test("Fractional operator, shorthand, and shared seed: the proportions, and each time the same")
  func proportions() throws {
    let provider = try Self.provider.get()
    func value(_ flag: String, _ name: String) -> String {
      provider.evaluate(
        flag, default: "wrong",
        context: FlagContext(
          targetingKey: name, attributes: ["user": .structure(["name": .string(name)])])
      ).value
    }
    let names = (0..<400).map { "user\($0)" }
    let suits = names.map { value("fractional-flag", $0) }
    #expect(suits == names.map { value("fractional-flag", $0) })
    for suit in Self.suits {
      let count = suits.count { $0 == suit }
      #expect((60..<140).contains(count), "\(suit): \(count) of 400, not about 100")
    }
    let heads = names.count { value("fractional-flag-shorthand", $0) == "heads" }
    #expect((150..<250).contains(heads), "\(heads) of 400, not about 200")
    // One salt: the same suit, whatever the flag.
    for name in names.prefix(40) {
      let suit = value("fractional-flag-A-shared-seed", name)
      #expect(value("fractional-flag-B-shared-seed", name) == "ace-of-" + suit)
    }
    #expect(
      names.contains { value("fractional-flag-A-shared-seed", $0) != value("fractional-flag", $0) })
  }

  @Test("Fractional operator with nested if expression as variant name")
  func nested() throws {
    let provider = try Self.provider.get()
    func values(_ tier: String) -> [String] {
      (0..<40).map { user in
        provider.evaluate(
          "fractional-nested-if-flag", default: "wrong",
          context: FlagContext(targetingKey: "user\(user)", attributes: ["tier": .string(tier)])
        ).value
      }
    }
    #expect(Set(values("premium")) == ["premium", "standard"])
    #expect(Set(values("basic")) == ["standard"])
  }

  @Test(
    "flagd evaluates these to the default variant, and a table that has them is refused",
    arguments: [
      ("semver-invalid-operator-flag", #"{"context": "version", "version": "===1.0.0"}"#),
      ("semver-wrong-args-flag", #"{"context": "version", "version": "="}"#),
      ("starts-with-wrong-args-flag", #"{"startsWith": "abc"}"#),
      ("ends-with-wrong-args-flag", #"{"endsWith": "xyz"}"#),
    ])
  func refusedConditions(_ flag: String, _ condition: String) {
    let error = #expect(throws: RoutingError.self) {
      try Self.entryPoint([Self.rule(flag, "true", when: condition, answer: "true")])
    }
    #expect(error?.code == .badTable)
  }

  @Test(
    "Weights that flagd takes for none are refused",
    arguments: [("fractional-zero-weights-flag", 0), ("fractional-negative-weight-flag", -50)])
  func refusedWeights(_ flag: String, _ weight: Int) {
    let variants = #"{"weight": \#(weight), "answer": "one"}, {"weight": 100, "answer": "two"}"#
    let error = #expect(throws: RoutingError.self) {
      try Self.entryPoint([Self.rule(flag, "some", do: Self.split("k", salt: "", variants))])
    }
    #expect(error?.message.contains("variants[0].weight") == true)
  }
}
