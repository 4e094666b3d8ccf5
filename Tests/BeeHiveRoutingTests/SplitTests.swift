import Foundation
import Testing
import Yams

@testable import BeeHiveRouting

@Suite("A rule splits calls among variants")
struct SplitTests {
  private let router = Router()

  /// Returns a split by the parameter `user`, with variants in JSON.
  private func split(_ variants: String...) -> String {
    #"{"split": {"by": {"parameter": "user"}, "variants": [\#(variants.joined(separator: ","))]}}"#
  }

  /// Loads one rule, which splits the calls of `app://a`.
  private func load(_ outcome: String) throws {
    let table = try table(rule("r", #"{"url": "app://a"}"#, do: outcome))
    #expect(
      try YAMLDecoder().decode(DecisionTable.self, from: YAMLEncoder().encode(table)) == table)
    try router.calls.load(table)
  }

  /// Returns the index of each user's choice among the weights.
  private func choices(_ weights: [Int]) -> [Int?] {
    (0..<4000).map { stableChoice(among: weights, of: "r", ["user\($0)"]) }
  }

  @Test(
    "Weights take values in their proportions, and each time the same",
    arguments: [[1], [25, 75], [25, 25, 50], [1, 2, 3, 4], [1, 9_999], [7, 7, 7, 7, 7, 7, 7]])
  func proportions(_ weights: [Int]) {
    let choices = choices(weights)
    #expect(choices == self.choices(weights))
    let whole = Double(weights.reduce(0, +))
    for (index, weight) in weights.enumerated() {
      let (part, wanted) = (Double(choices.count { $0 == index }) / 4000, Double(weight) / whole)
      #expect(abs(part - wanted) < 0.03, "the weight \(weight) of \(weights) takes \(part)")
    }
  }

  @Test("A weight that grows takes values, and moves none between the others")
  func growth() {
    let before = choices([25, 25, 50])
    for (weights, grown) in [([50, 25, 50], 0), ([25, 75, 50], 1), ([25, 25, 50, 20], 3)] {
      let moves = zip(before, choices(weights)).filter { $0 != $1 }
      #expect(!moves.isEmpty && moves.allSatisfy { $0.1 == grown }, "\(weights)")
    }
  }

  @Test("The first of two variants has the values of the same percentage")
  func percent() {
    for percent in [1, 7, 25, 50, 93] {
      for user in 0..<1000 {
        let isFirst = stableChoice(among: [percent, 100 - percent], of: "s", ["\(user)"]) == 0
        #expect(isFirst == (stableShare(of: "s", ["\(user)"]) < Double(percent)))
      }
    }
  }

  @Test("A server computes the same choice")
  func pinned() {
    // A program in another language computed these from the comment of `stableChoice`.
    let others = [2, 2, 2, 2, 1, 2, 0, 0, 0, 2, 1, 2, 1, 0, 0, 2, 2, 2, 0, 1]
    #expect(Array(choices([25, 25, 50]).prefix(20)) == others)
  }

  @Test("A variant does what a rule does, and explanations and notices name it")
  func verdicts() async throws {
    try router.answering("app://a", "app://b/:user")
    try router.register("app://c?user") { _ in "c" }
    try load(
      split(
        #"{"weight": 1, "answer": "red"}"#, #"{"weight": 1, "redirect": "app://c"}"#,
        #"{"weight": 1, "name": "changed", "replace": {"user": "x"}}"#,
        #"{"weight": 1, "block": "no"}"#))
    let notices = AsyncStream.makeStream(of: String.self)
    router.calls.observe { notice in
      if case .ruled(_, let name, let verdict) = notice {
        notices.continuation.yield("table \(name): \(verdict)")
      }
    }
    var heard: [String: String] = [:]
    for url in (0..<40).map({ "app://a?user=\($0)" }) {
      let said = router.calls.explain(url).steps.joined(separator: " ")
      heard[said] = await router.answer(url)
      if heard[said] == nil { heard[said] = await router.failure(url)?.rawValue }
    }
    notices.continuation.finish()
    #expect(
      heard == [
        "table r, variant 1: answer with red": "red",
        "table r, variant 2: redirect to app://c": "c",
        // Only once: no other variant judges the new user.
        "table r, variant changed: replace user": "app://a user=x",
        "table r, variant 4: refuse: no": "refused",
      ])
    let ruled = await notices.stream.reduce(into: Set()) { $0.insert($1) }
    #expect(ruled == Set(heard.keys))
  }

  @Test("Without the value a rule has no say, and the next one decides")
  func missing() async throws {
    try router.answering("app://a")
    try load(split(#"{"weight": 1, "answer": "red"}"#))
    #expect(await router.answer("app://a?user=7") == "red")
    #expect(await router.answer("app://a") == "app://a")
    #expect(
      router.calls.explain("app://a").steps == [
        "table r: has no say: parameter user is given does not hold"
      ])
  }

  @Test("A variant fills in the places of its redirection, and salts are as those of a percentage")
  func salts() async throws {
    try router.answering("app://b/:id")
    let variants = #"[{"weight": 1, "redirect": "app://b/:id"}, {"weight": 1, "answer": "red"}]"#
    let shares = try ["r", "another name"].map { name in
      let by = #"{"by": {"parameter": "id"}, "salt": "s", "variants": \#(variants)}"#
      try router.calls.load(
        table(rule(name, #"{"url": "app://a/:id"}"#, do: #"{"split": \#(by)}"#)))
      return (0..<100).map { router.calls.explain("app://a/\($0)").trail.count == 2 }
    }
    #expect(shares[0] == shares[1])
    #expect(shares[0] == (0..<100).map { stableShare(of: "s", ["\($0)"]) < 50 })
    let first = try #require(shares[0].firstIndex(of: true))
    #expect(await router.answer("app://a/\(first)") == "app://b/:id id=\(first)")
  }

  @Test(
    "What the schema does not have is found where it stands",
    arguments: [
      ("", "variants (r): a split has 1 to 100 variants, not 0"),
      (#"{"weight": 0, "answer": 1}"#, "variants[0].weight (r): 0 is no weight; write a whole"),
      (#"{"weight": 10001, "answer": 1}"#, "variants[0].weight (r): 10001 is no weight"),
      (#"{"weight": 0.5, "answer": 1}"#, "variants[0].weight (r): a whole number belongs here"),
      (#"{"answer": 1}"#, "variants[0].weight (r): a whole number is missing"),
      (#"{"weight": 1}"#, "variants[0] (r): exactly one of redirect, block, replace, answer"),
      (#"{"weight": 1, "answer": 1, "block": "x"}"#, "variants[0] (r): exactly one of"),
      (#"{"weight": 1, "split": {}}"#, "variants[0].split (r): the schema has no such key here"),
      (#"{"weight": 1, "name": "", "answer": 1}"#, "variants[0] (r): it has no name"),
      (
        #"{"weight": 1, "name": "2", "answer": 1}, {"weight": 1, "answer": 1}"#,
        "variants[1] (r): it has the name of an earlier variant"
      ),
      (
        #"{"weight": 1, "redirect": "app://b/:id"}"#,
        "variants[0] (r): app://b/:id has the place :id"
      ),
      ("7", "variants[0] (r): an object belongs here, not a number"),
    ])
  func refused(_ variants: String, _ problem: String) {
    expectError(.badTable, saying: "rules[0].do.split." + problem) { try load(split(variants)) }
  }

  @Test("A split names its value, and stands alone")
  func shape() {
    let variants = #""variants": [{"weight": 1, "answer": 1}]"#
    for (outcome, problem) in [
      (#"{"split": {\#(variants)}}"#, "do.split.by (r): an object is missing"),
      (#"{"split": {"by": {"guard": "g"}, \#(variants)}}"#, "do.split.by.guard (r)"),
      (#"{"split": {"by": {"context": "u"}, \#(variants), "salts": "s"}}"#, "did you mean salt?"),
      (
        #"{"split": {"by": {"context": "u"}, \#(variants)}, "block": "x"}"#,
        "do (r): exactly one of redirect, block, replace, answer, split"
      ),
      (#"{"split": 7}"#, "do.split (r): an object belongs here"),
    ] { expectError(.badTable, saying: problem) { try load(outcome) } }
    let many = Array(repeating: #"{"weight": 1, "answer": 1}"#, count: 101)
    expectError(.badTable, saying: "1 to 100 variants, not 101") {
      try load(split(many.joined(separator: ",")))
    }
  }
}
