import TestSupport
import Testing

@testable import BeeHiveRouting

@Suite("A call looks at the rules that it meets, however many others there are")
struct RuleGrowthTests {
  /// Returns how often a call tests a condition or converts a segment, with `count` rules for other URLs and actions.
  private func looks(among count: Int, byCode: Bool) async throws -> Int {
    let (router, looks) = (Router(), Counter())
    try router.define("Counted") { text in
      looks.next()
      return Int(text)
    }
    router.calls.define(guard: "counted") { _ in
      looks.next()
      return false
    }
    try router.mediator.register("shop") { ShopTarget() }
    try router.register("app://page/:id") { _ in "answered" }
    if byCode {
      for number in 0..<count {
        for scope in [
          try CallMatch.url("app://other\(number)/:id"), .action("target\(number)", "price"),
        ] {
          router.calls.intercept("\(number)", scope) { _ in
            Issue.record("asked in vain")
            return .proceed
          }
        }
      }
      router.calls.intercept("met", try .url("app://page/:id")) { _ in
        looks.next()
        return .proceed
      }
    } else {
      var rules = (0..<count).map { number in
        rule(
          "r\(number)", #"{"url": "app://old\#(number)/:id<Counted>"}"#,
          when: #"{"guard": "counted"}"#, do: #"{"redirect": "app://page/:id"}"#)
      }
      rules.append(
        rule(
          "met", #"{"url": "app://page/:id<Counted>"}"#, when: #"{"guard": "counted"}"#,
          do: #"{"block": "never"}"#))
      try router.calls.load(table(of: rules))
    }
    let before = looks.count
    #expect(await router.answer("app://page/7") == "answered")
    #expect(router.calls.explain("app://page/7").steps.count == 1)
    return looks.count - before
  }

  @Test(
    "An unrelated call costs the same beside 10, 1,000 and 100,000 rules", arguments: [false, true])
  func unrelated(byCode: Bool) async throws {
    let few = try await looks(among: 10, byCode: byCode)
    #expect(few > 0)
    for count in [1_000, Effort.times(10_000, full: 100_000)] {
      #expect(try await looks(among: count, byCode: byCode) == few)
    }
  }

  @Test("Rules that redirect are checked for loops in as many looks as there are rules")
  func loops() throws {
    let (router, looks) = (Router(), Counter())
    try router.define("Counted") { text in
      looks.next()
      return Int(text)
    }
    let rules = (0..<3_000).map { number in
      rule(
        "r\(number)", #"{"url": "app://old/\#(number)/:id<Counted>"}"#,
        do: #"{"redirect": "app://old/\#(number)x/7"}"#)
    }
    let redirections = try table(of: rules)
    let before = looks.count
    try router.calls.load(redirections)
    #expect(looks.count - before <= 3_000)
  }

  @Test(
    "Rules that redirect to URLs that all of them match load in looks that grow as the rules do")
  func loopsOfOnePage() throws {
    let looks = try [300, 600].map { count in
      let (router, looks) = (Router(), Counter())
      let rules = try (0..<count).map { number in
        try router.define("T\(number)") { text in
          looks.next()
          return Int(text)
        }
        return rule(
          "r\(number)", #"{"url": "app://a/:id<T\#(number)>"}"#,
          do: #"{"redirect": "app://a/7"}"#)
      }
      let redirections = try table(of: rules)
      let before = looks.count
      try router.calls.load(redirections)
      return looks.count - before
    }
    #expect(looks[0] > 0 && looks[1] < 3 * looks[0], "\(looks)")
  }

  @Test("A call of an action looks at as many nodes, however many schemes the rules have")
  func schemes() throws {
    let steps = try [10, 1_000].map { count in
      var index = RuleIndex()
      for number in 0..<count {
        for pattern in ["s\(number)://other/price", "s\(number):/shop/other"] {
          index.add(
            try .declared("r", priority: 0, .url(pattern), when: [], then: .refuse("closed")))
        }
      }
      let call = Call(to: .action(target: "shop", action: "price"), origin: .local)
      let (rules, steps) = index.met(
        by: call, paths: [ResolvedPath(target: "shop", action: "price")])
      #expect(rules.isEmpty)
      return steps
    }
    #expect(steps[0] > 0 && steps[0] == steps[1], "\(steps)")
  }

  @Test("The check for loops ends where patterns that share segments make many ways")
  func loopsOfManyWays() throws {
    // Each of 2^n patterns has a literal or a parameter in each of n segments: a URL looks at all of them.
    let looks = try [5, 8].map { count in
      let (router, looks) = (Router(), Counter())
      try router.define("Counted") { text in
        looks.next()
        return text
      }
      let rules = (0..<(1 << count)).map { number in
        let segments = (0..<count).map { number >> $0 & 1 == 0 ? "a" : ":p\($0)<Counted>" }
        return rule(
          "r\(number)", #"{"url": "app://x/\#(segments.joined(separator: "/"))/\#(number)"}"#,
          do: #"{"redirect": "app://x/\#(String(repeating: "a/", count: count))none"}"#)
      }
      let redirections = try table(of: rules)
      let before = looks.count
      try router.calls.load(redirections)
      return looks.count - before
    }
    #expect(looks[0] > 0 && looks[1] < 10 * looks[0], "\(looks)")
  }

  @Test func `A key of a query that is there again is added to the texts that are there`() {
    var arguments = Arguments()
    var places: Set<UInt> = []
    for _ in 0..<10_000 {
      arguments.append("v", for: "k")
      guard case .texts(let texts) = arguments.values["k"] else { continue }
      places.insert(unsafe texts.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
    }
    #expect(arguments.texts("k").count == 10_000)
    #expect(places.count <= 30, "they are moved when they have doubled: \(places.count) times")
  }
}
