import Adapters
import BeeHive
import BeeHiveRouting
import Foundation
import Testing

@Suite("Flags of OpenFeature from a decision table")
struct FlagProviderTests {
  private let hive = Hive()

  /// Returns a provider over rules, each a JSON object.
  private func provider(_ rules: String...) throws -> FlagProvider {
    let json = #"{"version": 1, "rules": [\#(rules.joined(separator: ","))]}"#
    try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
    return FlagProvider(hive.calls) { call in ["user": "host", "origin": call.origin.rawValue] }
  }

  /// Returns a rule of a flag. The conditions and the outcome are JSON.
  private func rule(_ name: String, _ flag: String = "f", when: String = "", do outcome: String)
    -> String
  {
    #"{"name": "\#(name)", "match": {"url": "flag://\#(flag)"}, "when": [\#(when)], "do": \#(outcome)}"#
  }

  @Test("Each type has its value, and no other is made of it")
  func types() throws {
    let flags = try provider(
      rule("b", "b", do: #"{"answer": true}"#), rule("s", "s", do: #"{"answer": "x"}"#),
      rule("i", "i", do: #"{"answer": 7}"#), rule("n", "n", do: #"{"answer": 0.5}"#),
      rule("u", "u", do: #"{"answer": 18446744073709551615}"#),
      rule("o", "o", do: #"{"answer": "{\"a\": [1, 0.5, null, \"x\"]}"}"#),
      rule("l", "l", do: #"{"answer": [1, "x", [true]]}"#),
      rule("broken", "broken", do: #"{"answer": "{\"a\": "}"#))
    #expect(flags.evaluate("b", default: false).value)
    #expect(flags.evaluate("s", default: "").value == "x")
    #expect(flags.evaluate("i", default: Int64(0)).value == 7)
    #expect(flags.evaluate("i", default: 0.0).value == 7, "a number may be whole")
    #expect(flags.evaluate("n", default: 0.0).value == 0.5)
    let structure = flags.evaluate("o", default: FlagValue.null).value
    let list = FlagValue.list([.integer(1), .number(0.5), .null, .string("x")])
    #expect(structure == .structure(["a": list]))
    let answer = flags.evaluate("l", default: FlagValue.null).value
    #expect(answer == .list([.integer(1), .string("x"), .list([.boolean(true)])]))
    for evaluation in [
      flags.evaluate("s", default: Int64(0)), flags.evaluate("n", default: Int64(0)),
      flags.evaluate("u", default: Int64(0)), flags.evaluate("b", default: Int64(0)),
    ] {
      #expect(evaluation.errorCode == .typeMismatch && evaluation.reason == .error)
      #expect(evaluation.value == 0 && evaluation.variant == nil)
    }
    #expect(flags.evaluate("i", default: true).errorCode == .typeMismatch)
    #expect(flags.evaluate("i", default: "").errorCode == .typeMismatch)
    #expect(flags.evaluate("s", default: FlagValue.null).errorCode == .typeMismatch)
    #expect(flags.evaluate("broken", default: FlagValue.null).errorCode == .parseError)
  }

  @Test("The reason is what the rules say, and the variant the rule's name or the split's variant")
  func reasons() throws {
    let isKnown = #"{"context": "targetingKey", "is": "u"}"#
    let split =
      #"{"split": {"by": {"context": "targetingKey"}, "variants": [{"weight": 1, "name": "new", "answer": "s"}]}}"#
    let flags = try provider(
      // A rule about every call: it does not count as a rule of a flag.
      #"{"name": "all", "match": {}, "when": [{"context": "x", "is": 1}], "do": {"block": "x"}}"#,
      rule("a", "static", do: #"{"answer": "s"}"#),
      rule("b", "target", when: isKnown, do: #"{"answer": "s"}"#),
      rule("c", "target", do: #"{"answer": "d"}"#), rule("d", "split", do: split),
      rule("e", "off", do: #"{"block": "disabled"}"#),
      rule("f", "moved", when: isKnown, do: #"{"redirect": "flag://static"}"#),
      rule("g", "gone", do: #"{"redirect": "flag://nowhere"}"#),
      rule("h", "some", when: isKnown, do: #"{"answer": "s"}"#))
    for (flag, key, value, variant, reason, code) in [
      ("static", nil, "s", "a", .static, nil), ("target", "u", "s", "b", .targetingMatch, nil),
      ("target", "v", "d", "c", .default, nil), ("split", "u", "s", "new", .split, nil),
      ("split", nil, "-", nil, .error, .targetingKeyMissing),
      ("split", "", "-", nil, .error, .targetingKeyMissing),
      ("off", nil, "-", nil, .disabled, nil), ("moved", "u", "s", "a", .targetingMatch, nil),
      ("gone", nil, "-", nil, .error, .general), ("some", nil, "-", nil, .default, nil),
      ("none", "u", "-", nil, .error, .flagNotFound),
      ("no one?", nil, "-", nil, .error, .flagNotFound),
    ] as [(String, String?, String, String?, FlagReason, FlagErrorCode?)] {
      let found = flags.evaluate(flag, default: "-", context: FlagContext(targetingKey: key))
      #expect(found.value == value && found.variant == variant, "\(flag): \(found)")
      #expect(found.reason == reason && found.errorCode == code, "\(flag): \(found)")
      #expect((found.errorMessage == nil) == (code == nil), "\(flag): \(found)")
    }
  }

  @Test("The evaluation context is for the flag's call, over that of the host")
  func context() async throws {
    let flags = try provider(
      rule("structure", when: #"{"context": "user.name", "is": "x"}"#, do: #"{"answer": 1}"#),
      rule("list", when: #"{"context": "tags", "is": ["a", 7, true]}"#, do: #"{"answer": 2}"#),
      rule("over", when: #"{"context": "user", "is": "guest"}"#, do: #"{"answer": 3}"#),
      rule("host", when: #"{"context": "user", "is": "host"}"#, do: #"{"answer": 4}"#),
      rule("none", do: #"{"answer": 5}"#))
    func value(_ attributes: [String: FlagValue]) async -> Int64 {
      await flags.evaluate("f", default: 0, context: FlagContext(attributes: attributes)).value
    }
    #expect(await value(["user": .structure(["name": .string("x")])]) == 1)
    #expect(await value(["tags": .list([.string("a"), .integer(7), .boolean(true)])]) == 2)
    #expect(await value(["user": .string("guest")]) == 3)
    #expect(await value([:]) == 4)
    // Other calls of the table have only the host's context.
    #expect(try await hive.calls.send(.url("flag://f")) as? Int == 4)
  }

  @Test("Code answers too, through suspension and in a function that does not wait")
  func code() async throws {
    let flags = try provider(rule("r", "sent", do: #"{"redirect": "flag://code"}"#))
    try hive.router.register("flag://code") { _ in
      await Task.yield()
      return FlagValue.structure(["a": .integer(1)])
    }
    try hive.router.register("flag://broken") { _ -> String in throw CancellationError() }
    let expected = FlagValue.structure(["a": .integer(1)])
    let answers = [
      await flags.evaluate("code", default: FlagValue.null), waiting(flags, "code"),
      waiting(flags, "sent"),
    ]
    #expect(answers.map(\.value) == [expected, expected, expected])
    #expect(answers.map(\.reason) == [.unknown, .unknown, .static])
    let broken = await flags.evaluate("broken", default: "x")
    #expect(broken.value == "x" && broken.errorCode == .general)
    #expect(await flags.evaluate("code", default: "x").errorCode == .typeMismatch)
  }

  private func waiting(_ flags: FlagProvider, _ flag: String) -> FlagEvaluation<FlagValue> {
    flags.evaluate(flag, default: FlagValue.null)
  }

  @Test(
    "A table that is swapped holds from the next evaluation, and a provider that ends leaves none of its own"
  )
  func swap() async throws {
    var flags: FlagProvider? = try provider(rule("one", do: #"{"answer": "a"}"#))
    #expect(await flags?.evaluate("f", default: "").variant == "one")
    let json =
      #"{"version": 1, "rules": [\#(rule("two", when: #"{"context": "user", "is": "host"}"#, do: #"{"answer": "b"}"#))]}"#
    try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
    let found = await flags?.evaluate("f", default: "")
    #expect(found?.variant == "two" && found?.reason == .targetingMatch)
    #expect(hive.calls.explain("flag://f").error == nil)
    flags = nil
    #expect(hive.calls.explain("flag://f").error?.code == .noRoute, "the context is gone")
  }
}
