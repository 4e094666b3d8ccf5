import BeeHiveRouting
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import Yams

@Suite("A decision table decides about calls")
struct DecisionTableTests {
  let router = Router()
  /// A table with a rule of each sort.
  private let whole: String

  init() throws {
    whole = try Repository.fixture("Routing/decision-table.json")
    try router.mediator.register("shop") { ShopTarget() }
    try router.answering("app://new/:id", "app://old/:id", "app://maintenance")
    router.calls.define(guard: "healthy") { _ in false }
  }

  @discardableResult private func load(_ json: String) throws -> Handle {
    try router.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)))
  }

  @Test("A number that a table answers is given as the type that is asked for")
  func numbers() async throws {
    func answer<Value: Sendable>(_ json: String, as type: Value.Type) async throws -> Value {
      try router.calls.load(table(rule("n", "{}", do: #"{"answer": \#(json)}"#)))
      return try await router.object(for: "app://n", as: type)
    }
    let deep = String(repeating: "[", count: 99) + "1.5" + String(repeating: "]", count: 99)
    #expect("\(try await answer(deep, as: [any Sendable].self))".contains("[1.5]"))
    #expect(try await answer("3.0", as: Int.self) == 3)
    #expect(try await answer("3.0", as: Double.self) == 3)
    #expect(try await answer("3.0", as: Double?.self) == 3)
    #expect(try await answer("[1, 2.5]", as: [Double].self) == [1, 2.5])
    #expect(try await answer("[1, 2]", as: [Double].self) == [1, 2])
    let exact = try await answer("[9007199254740993, 0.5]", as: [any Sendable].self)
    #expect("\(exact)" == "[9007199254740993, 0.5]", "no digit is lost")
    await expectError { try await answer("3.0", as: String.self) }
  }

  @Test("Every rule works, and all of them together")
  func rules() async throws {
    try load(whole)
    #expect(await router.answer("app://gone/1?from=x") == "app://new/:id from=x id=1")
    let cost = try await router.object(for: "app://cost?sku=ab", as: Price.self)
    #expect(cost == Price(cents: 200, currency: .euro))
    let price: Price = try await router.mediator.perform(
      "shop", "price", ["sku": "a", "note": "n"])
    #expect(price == Price(cents: 300, currency: .yen), "replaced, and note is taken away")
    let other: Price = try await router.mediator.perform("shop", "price", ["sku": "z"])
    #expect(other.currency == .euro)
    await expectError(.refused, saying: "sold out") {
      try await router.mediator.perform("shop", "price", ["sku": "c"])
    }
    #expect(await router.answer("app://old/7") == "lucky")
    #expect(await router.answer("app://old/8") == "app://old/:id id=8")
  }

  @Test("A dry run says what would happen, and calls nobody")
  func dryRun() throws {
    try load(whole)
    router.calls.intercept("audit", priority: 9) { _ in
      Issue.record("called")
      return .proceed
    }
    try router.calls.guardCalls("local", try .url("app://maintenance"), then: .answer("closed"))
    let explanation = router.calls.explain("app://gone/1", origin: .remote)
    #expect(
      explanation.description == """
        interceptor audit: decides when it is asked
        table moved: redirect to app://new/1
        interceptor audit: decides when it is asked
        table unhealthy: redirect to app://maintenance
        interceptor audit: decides when it is asked
        guard local: answer with closed
        answered with closed
        """)
    #expect(
      explanation.trail.map(\.description) == [
        "app://gone/1", "app://new/1?id=1", "app://maintenance?id=1",
      ])
    #expect(
      router.calls.explain("app://old/8").end.hasPrefix(
        "route app://old/:id of BeeHiveRoutingTests/Answers.swift:"))
    #expect(
      router.calls.explain(.action(target: "shop", action: "nothing")).end
        .hasPrefix("action shop.nothing of BeeHiveRoutingTests/DecisionTableTests.swift:"))
    #expect(router.calls.explain("aaa://shop/nothing", origin: .remote).error?.code == .notRemote)
    #expect(router.calls.explain("aaa://shop/price").error?.code == .missingParameter)
    #expect(router.calls.explain("app://none").error?.code == .noRoute)
  }

  @Test(
    "A table with a mistake changes nothing, and every mistake is named",
    arguments: [
      (#"{"name":"a","match":{"url":"/:m<Month>"},"do":{"block":"x"}}"#, "Month"),
      (#"{"name":"a","match":{},"do":{"redirect":"%"}}"#, "no URL"),
      (#"{"name":"","match":{},"do":{"block":"x"}}"#, "has no name"),
      (#"{"name":"a","match":{},"do":{"redirect":{"target":"","action":"b"}}}"#, "empty name"),
      (#"{"name":"a","match":{},"when":[{"guard":"none"}],"do":{"block":"x"}}"#, "guard none"),
      (
        #"{"name":"a","match":{"url":"/a"},"do":{"redirect":"/b"}},{"name":"b","match":{"url":"/b"},"do":{"redirect":"/a"}}"#,
        "redirects for ever: /b → /a → /b"
      ),
    ])
  func problems(_ rules: String, _ text: String) async throws {
    try load(whole)
    expectError(.badTable, saying: text) { try load(#"{"version":1,"rules":[\#(rules)]}"#) }
    #expect(router.calls.table?.name == "november")
    #expect(await router.answer("app://old/7") == "lucky")
  }

  @Test(
    "What the schema of a table or of a rule does not have is found where it stands",
    arguments: [
      (nil, #"{"version":2,"rules":[]}"#, "version"), (nil, #"{"rules":[]}"#, "version"),
      (nil, #"{"version":1}"#, "rules"), (nil, #"{"version":1,"rules":[],"rule":1}"#, "rule"),
      ("name", nil, "name"), ("match", #"{"host":"x"}"#, "match.host"),
      ("match", #"{"url":"/","target":"t"}"#, "match.url"),
      ("match", #"{"url":"/","action":"a"}"#, "match.url"),
      ("match", #"{"url":null,"target":"t"}"#, "match.url"),
      ("match", #"{"url":"/","route":"/"}"#, "match.route"),
      ("match", #"{"route":"/","action":"a"}"#, "match.route"),
      ("match", #"{"route":null}"#, "match.route"),
      ("match", #"{"url":null}"#, "match.url"), ("match", #"{"target":null}"#, "match.target"),
      ("match", #"{"origin":"moon"}"#, "match.origin"), ("url", #""/""#, "url"),
      ("do", #"{"redirect":{"target":"t","action":"a","url":"/"}}"#, "do.redirect.url"),
      ("do", #"{"redirect":{"target":"t"}}"#, "do.redirect.action"),
      ("do", #"{"redirect":{"url":"/"}}"#, "do.redirect.url"),
      ("do", "{}", "do"), ("do", #"{"block":"x","answer":1}"#, "do"),
      ("do", #"{"block":7}"#, "do.block"), ("when", #"[{"parameter":"p"}]"#, "when[0]"),
      ("when", #"[{"guard":"g","in":[1]}]"#, "when[0].in"),
    ] as [(String?, String?, String)])
  func schema(_ key: String?, _ json: String?, _ place: String) {
    guard let key else {
      return expectError(.badTable, saying: " taken: \(place): ") { try load(json ?? "") }
    }
    var rule = ["name": #""a""#, "match": "{}", "do": #"{"block":"x"}"#]
    rule[key] = json
    let pairs = rule.map { #""\#($0)":\#($1)"# }.joined(separator: ",")
    expectError(.badTable, saying: " taken: rules[0].\(place)") { try table("{\(pairs)}") }
  }

  @Test("A table reads back as it was written, in JSON, property lists and YAML")
  func roundTrip() throws {
    let whole = try JSONDecoder().decode(DecisionTable.self, from: Data(self.whole.utf8))
    let json = try JSONEncoder().encode(whole)
    #expect(try JSONDecoder().decode(DecisionTable.self, from: json) == whole)
    #expect(
      try YAMLDecoder().decode(DecisionTable.self, from: YAMLEncoder().encode(whole)) == whole)
    // A property list has no null.
    let plain = try table(
      rule(
        "a", #"{"url": "/a"}"#, when: #"{"parameter": "k", "given": true}"#,
        do: #"{"replace": {"k": 1}}"#))
    let list = try PropertyListEncoder().encode(plain)
    #expect(try PropertyListDecoder().decode(DecisionTable.self, from: list) == plain)
  }

  @Test("swaps under 4 threads of calls: none is lost, none is a mixture of two tables", .mayHang)
  func swaps() async throws {
    // A redirection of the other table would miss the second rule and reach the route.
    let tables = try (0...1).map { name in
      try table(
        rule("first", #"{"url": "app://a"}"#, do: #"{"redirect": "app://b-\#(name)"}"#),
        rule("second", #"{"url": "app://b-\#(name)"}"#, do: #"{"answer": "\#(name)"}"#))
    }
    try router.calls.load(tables[0])
    try router.answering("app://b-0", "app://b-1")
    let (router, isDone) = (self.router, Flag())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask(executorPreference: OneThread()) {
          var heard: [String: Int] = [:]
          while !isDone.value.load(ordering: .relaxed) || heard.values.reduce(0, +) < 100 {
            heard["\(try await router.calls.send(.url("app://a")))", default: 0] += 1
          }
          #expect(Set(heard.keys).isSubset(of: ["0", "1"]), "\(heard)")
        }
      }
      group.addTask(executorPreference: OneThread()) {
        defer { isDone.value.store(true, ordering: .relaxed) }
        for index in 0..<Effort.times(1_000, full: 10_000) {
          try router.calls.load(tables[index % 2])
        }
      }
      try await group.waitForAll()
    }
  }
}

/// Runs tasks one after the other on a thread of their own.
private final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "one thread")

  func enqueue(_ job: consuming ExecutorJob) {
    // Sound: the job runs once, and this executor lives as long as its tasks.
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

private final class Flag: Sendable { let value = Atomic<Bool>(false) }
