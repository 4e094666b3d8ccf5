import Foundation
import TestSupport
import Testing
import Yams

@testable import BeeHiveRouting

@Suite("Conditions of a decision table")
struct ConditionTests {
  /// Returns whether a condition holds for a URL with a query.
  private func holds(
    _ condition: String, _ query: String, now: @escaping @Sendable () -> Double = { 0 }
  ) async throws -> Bool {
    let router = Router(core: RoutingCore(now: now))
    try router.register("app://a") { _ in "no" }
    let table = try Self.answering(condition)
    #expect(
      try YAMLDecoder().decode(DecisionTable.self, from: YAMLEncoder().encode(table)) == table)
    try router.calls.load(table)
    return await router.answer("app://a?\(query)") == "yes"
  }

  @Test(
    "A dry run names the condition that does not hold",
    arguments: [
      (#"{"parameter": "n", "above": 2}"#, "parameter n is above 2"),
      (#"{"parameter": "n", "in": [1, "x"]}"#, "parameter n is 1 or x"),
      (#"{"parameter": "n", "isNot": 0}"#, "parameter n is not 0"),
      (#"{"parameter": "n", "version": ">=2"}"#, "parameter n is a version of >=2"),
      (#"{"percent": 0, "by": {"parameter": "n"}}"#, "0 percent by parameter n"),
      (#"{"not": {"parameter": "n", "is": 0}}"#, "not (parameter n is 0)"),
      (#"{"context": "n", "startsWith": "0"}"#, "context n is a text that starts with 0"),
      (#"{"parameter": "n", "cidr": "::/0"}"#, "parameter n is an address of ::/0"),
      (#"{"time": {"from": "2026-12-24T18:00:00Z"}}"#, "time from 2026-12-24T18:00:00Z"),
      (
        #"{"any": [{"parameter": "n", "is": 7}, {"all": [{"parameter": "m", "given": true}]}]}"#,
        "(parameter n is 7 or (parameter m is given))"
      ),
    ])
  func unmet(_ condition: String, _ text: String) throws {
    let router = Router(core: RoutingCore(now: { 0 }))
    try router.register("app://a") { _ in "no" }
    try router.calls.load(Self.answering(condition))
    let explanation = router.calls.explain("app://a?n=0")
    #expect(explanation.description.hasPrefix("table r: has no say: \(text) does not hold\nroute"))
    #expect(explanation.error == nil)
  }

  /// Returns a table of one rule, which answers if a condition holds.
  private static func answering(_ condition: String) throws -> DecisionTable {
    try table(
      rule("r", #"{"url": "app://a"}"#, when: condition, do: #"{"answer": "yes"}"#))
  }

  @Test(
    "hold for some values and not for others",
    arguments: [
      (
        #"{"parameter": "n", "above": 2}"#, ["n=3", "n=2.5"], ["n=2", "n=1", "", "n=x", "n=1&n=2"]
      ),
      (#"{"parameter": "n", "atLeast": 2}"#, ["n=2", "n=1e3"], ["n=1.9", "n=nan"]),
      (#"{"parameter": "n", "below": -1.5}"#, ["n=-2"], ["n=-1.5", "n=0"]),
      (#"{"parameter": "n", "atMost": 10}"#, ["n=10", "n=9"], ["n=10.1", "n=100"]),
      (#"{"parameter": "c", "notIn": ["de", "at"]}"#, ["c=fr", ""], ["c=de", "c=at"]),
      (#"{"parameter": "c", "in": ["de", "at"]}"#, ["c=de"], ["c=fr", ""]),
      (
        #"{"any": [{"parameter": "c", "is": "de"}, {"parameter": "n", "above": 2}]}"#,
        ["c=de", "n=3"], ["c=fr&n=1", ""]
      ),
      (
        #"{"any": [{"all": [{"parameter": "a", "given": true}, {"parameter": "b", "given": true}]}, {"parameter": "c", "is": 1}]}"#,
        ["a=1&b=1", "c=1"], ["a=1", "b=1", "c=2"]
      ),
      (
        #"{"parameter": "v", "version": ">=2.1 <3"}"#, ["v=2.1", "v=2.1.0", "v=2.10", "v=2.99.9"],
        ["v=2.0.9", "v=3", "v=3.0.0", "v=2.1-beta", "v=x", ""]
      ),
      (
        #"{"parameter": "v", "version": ">1.0.0-alpha.2 <=1.0.0"}"#,
        ["v=1.0.0-alpha.10", "v=1.0.0-beta", "v=1.0.0", "v=1.0.0%2Bbuild7"],
        ["v=1.0.0-alpha.2", "v=1.0.0-alpha", "v=1.0.0-1", "v=1.0.1", "v=1..0", "v=1.0.0-"]
      ),
      (#"{"parameter": "v", "version": "2"}"#, ["v=2", "v=2.0"], ["v=2.0.1", "v=2-rc"]),
      (
        #"{"parameter": "t", "startsWith": "é"}"#, ["t=e%CC%81x", "t=a&t=%C3%A9"],
        ["t=e", "t=xé", ""]
      ),
      (#"{"parameter": "t", "endsWith": ".example"}"#, ["t=a.example"], ["t=a.example.org", ""]),
      (#"{"parameter": "t", "contains": "/../"}"#, ["t=a%2F..%2Fb"], ["t=a..b", ""]),
      (
        #"{"not": {"parameter": "c", "is": "de"}}"#, ["c=fr", ""], ["c=de", "c=fr&c=de"]
      ),
      (
        #"{"parameter": "a", "cidr": "10.32.0.0/11"}"#,
        ["a=10.32.0.0", "a=10.63.255.255", "a=::ffff:10.40.0.1"],
        ["a=10.31.255.255", "a=10.64.0.0", "a=10.32", "a=::1", "a=x", ""]
      ),
      (
        #"{"parameter": "a", "cidr": "2001:db8::/33"}"#, ["a=2001:db8:7fff::1", "a=2001:DB8::"],
        ["a=2001:db8:8000::", "a=2001:db9::", "a=32.1.13.184"]
      ),
      (#"{"parameter": "a", "cidr": "127.0.0.1"}"#, ["a=127.0.0.1"], ["a=127.0.0.2", "a=127.1"]),
      (#"{"parameter": "a", "cidr": "0.0.0.0/0"}"#, ["a=1.2.3.4"], ["a=::1"]),
      (
        #"{"parameter": "a", "cidr": "::ffff:10.0.0.0/104"}"#, ["a=10.1.2.3", "a=::ffff:10.9.9.9"],
        ["a=11.0.0.0", "a=::1"]
      ),
      (#"{"parameter": "t", "contains": "\n"}"#, ["t=a%0d%0ab", "t=%0A"], ["t=a%0db"]),
      (
        #"{"parameter": "t", "contains": "aab\u00e9"}"#, ["t=aaabe%CC%81", "t=aab%C3%A9"],
        ["t=aabe", "t=aaab"]
      ),
      (#"{"parameter": "t", "startsWith": "evil"}"#, ["t=evil%E2%80%8D.example"], ["t=devil"]),
      (#"{"parameter": "t", "endsWith": "\n"}"#, ["t=%0d%0a"], ["t=%0a%0d"]),
      // A version may begin with a `v`.
      (
        #"{"parameter": "v", "version": ">=v2 <3"}"#, ["v=v2", "v=V2.1", "v=2.1.1", "v=v2.1.1-rc"],
        ["v=v1.9", "v=v3", "v=vv2", "v=v", "v=2v"]
      ),
      // Conditions compare numbers and truth values by value, however a URL writes them.
      (
        #"{"parameter": "p", "is": 7}"#, ["p=7", "p=07", "p=%2B7", "p=007", "p=7.0"],
        ["p=8", "p=7x", ""]
      ),
      (#"{"parameter": "p", "is": 1.5}"#, ["p=1.5", "p=1.50", "p=15e-1"], ["p=1", "p=1.51"]),
      // All digits count, also those that a Double does not hold.
      (
        #"{"parameter": "p", "is": 9007199254740993}"#,
        ["p=9007199254740993", "p=09007199254740993.0", "p=9.007199254740993e15"],
        ["p=9007199254740992", "p=9007199254740993.5"]
      ),
      (
        #"{"parameter": "p", "in": [18446744073709551615, -9223372036854775808]}"#,
        ["p=18446744073709551615", "p=-9223372036854775808"],
        ["p=18446744073709551614", "p=18446744073709551616", "p=-9223372036854775807"]
      ),
      (
        #"{"parameter": "p", "above": 9007199254740992}"#,
        ["p=9007199254740993", "p=9007199254740992.1", "p=1e300"],
        ["p=9007199254740992", "p=-9007199254740993", "p=0", "p=1e999", "p=1e-9223372036854775808"]
      ),
      (
        #"{"parameter": "p", "below": -0.001}"#, ["p=-0.0010001", "p=-1"],
        ["p=-0.001", "p=-1e-4", "p=-0", "p=0.0"]
      ),
      (#"{"parameter": "p", "is": true}"#, ["p=true", "p=1", "p"], ["p=false", "p=0", "p=yes"]),
      (#"{"parameter": "p", "is": "7"}"#, ["p=7"], ["p=07"]),
      (#"{"parameter": "p", "is": [1, 2]}"#, ["p=1&p=02"], ["p=1", "p=2&p=1"]),
      // One value of a key is enough, so giving the key twice does not evade a rule.
      (#"{"parameter": "c", "is": "yen"}"#, ["c=yen&c=euro", "c=euro&c=yen"], ["c=euro&c=won"]),
      (#"{"parameter": "c", "isNot": "yen"}"#, ["c=yen&c=euro", ""], ["c=yen&c=yen", "c=yen"]),
      (#"{"parameter": "c", "in": ["yen", "won"]}"#, ["c=euro&c=won"], ["c=euro&c=mark"]),
      (#"{"parameter": "c", "notIn": ["yen", "won"]}"#, ["c=yen&c=euro"], ["c=yen&c=won"]),
      (#"{"parameter": "c", "isNot": ["a", "b"]}"#, ["c=b&c=a", "c=a"], ["c=a&c=b"]),
      (#"{"parameter": "n", "below": 2}"#, ["n=3&n=1", "n=x&n=1"], ["n=3&n=2"]),
      (#"{"parameter": "v", "version": "<2"}"#, ["v=1&v=3", "v=3&v=1"], ["v=2&v=3"]),
    ])
  func values(_ condition: String, _ yes: [String], _ no: [String]) async throws {
    for query in yes { #expect(try await holds(condition, query), "\(query)") }
    for query in no { #expect(try await !holds(condition, query), "\(query)") }
  }

  @Test(
    "Numbers that the host gives count, of whatever type",
    arguments: [
      Int8(7), UInt8(7), Int16(7), UInt16(7), Int128(7), Float(7), Decimal(7),
      Decimal(string: "7.0") ?? 0, Decimal?(7), Int?(7),
    ] as [any Sendable])
  func numbers(_ seven: any Sendable) async throws {
    for condition in [#""is": 7"#, #""above": 6.5"#, #""in": [6, 7]"#] {
      let router = Router()
      try router.calls.load(Self.answering(#"{"parameter": "n", \#(condition)}"#))
      #expect(try await router.object(for: "app://a", with: ["n": seven]) == "yes", "\(condition)")
    }
  }

  @Test("Null is a parameter that is missing or nil")
  func null() async throws {
    let none = Int?.none
    for (condition, given) in [
      (#""is": null"#, false), (#""in": [null, 7]"#, false), (#""given": false"#, false),
      (#""isNot": null"#, true), (#""given": true"#, true),
    ] {
      let router = Router()
      try router.register("app://a") { _ in "no" }
      try router.calls.load(Self.answering(#"{"parameter": "n", \#(condition)}"#))
      for arguments in [["n": none], [:]] as [Arguments] {
        let answer: String = try await router.object(for: "app://a", with: arguments)
        #expect(answer == (given ? "no" : "yes"), "\(condition)")
      }
      // A URL cannot express the second value.
      for arguments in [["n": 8], ["n": Duration.seconds(8)]] as [Arguments] {
        let answer: String = try await router.object(for: "app://a", with: arguments)
        #expect(answer == (given ? "yes" : "no"), "\(condition)")
      }
    }
  }

  @Test("A rule that is renamed keeps its share if it has a salt")
  func salts() throws {
    let half = #"{"percent": 50, "by": {"parameter": "user"}, "salt": "s"}"#
    let shares = try ["r", "another name"].map { name in
      let router = Router()
      try router.calls.load(
        table(rule(name, #"{"url": "app://a"}"#, when: half, do: #"{"answer": 1}"#)))
      return (0..<100).map { router.canOpen("app://a?user=\($0)") }
    }
    #expect(shares[0] == shares[1] && shares[0].contains(true) && shares[0].contains(false))
    #expect(shares[0] == (0..<100).map { stableShare(of: "s", ["\($0)"]) < 50 })
  }

  @Test("The share of a typed segment is that of its value")
  func typedShares() throws {
    let half = #"{"percent": 50, "by": {"parameter": "user"}}"#
    let router = Router()
    try router.calls.load(
      table(rule("r", #"{"url": "app://a/:user<Int>"}"#, when: half, do: #"{"answer": null}"#)))
    let shares = [0..<40].joined().map { user in
      ["", "0", "+"].map { router.canOpen("app://a/\($0)\(user)") }
    }
    #expect(shares.allSatisfy { Set($0).count == 1 } && Set(shares.map { $0[0] }).count == 2)
  }

  @Test("A value is found among thousands, and null is answered as nothing")
  func choices() async throws {
    let list = (0..<Effort.times(2_000, full: 100_000)).map { "\"v\($0)\"" }.joined(separator: ",")
    let condition = #"{"parameter": "p", "in": [\#(list)]}"#
    #expect(try await holds(condition, "p=v1999"))
    #expect(try await !holds(condition, "p=v100000"))
    let router = Router()
    try router.calls.load(table(rule("r", "{}", do: #"{"answer": null}"#)))
    #expect(try await router.open("app://a/1") is Void)
  }

  @Test("A share in percent is the same for the same value, and grows without losing any")
  func shares() async throws {
    let shares = (0..<2000).map { stableShare(of: "r", ["user\($0)"]) }
    #expect(shares == (0..<2000).map { stableShare(of: "r", ["user\($0)"]) })
    for percent in [1.0, 10, 50] {
      let part = Double(shares.count { $0 < percent }) / 20
      #expect(abs(part - percent) < 4, "\(percent) percent are \(part)")
    }
    let other = (0..<2000).map { stableShare(of: "s", ["user\($0)"]) }
    let both = zip(shares, other).count { $0 < 50 && $1 < 50 }
    #expect((400..<600).contains(both), "another rule has another half: \(both) in both")
    // Equal texts have equal shares, however they are composed.
    #expect(stableShare(of: "r", ["e\u{301}"]) == stableShare(of: "r", ["é"]))
    #expect(stableShare(of: "e\u{301}", ["x"]) == stableShare(of: "é", ["x"]))
    #expect(stableShare(of: "r", ["7"]) != stableShare(of: "r", ["07"]), "texts are not numbers")
    // A server computes the same share.
    #expect(stableShare(of: "r", ["user1"]) == shares[1])
    let inside = (0..<2000).first { shares[$0] < 10 } ?? 0
    let outside = (0..<2000).first { shares[$0] >= 10 } ?? 0
    let condition = #"{"percent": 10, "by": {"parameter": "user"}}"#
    #expect(try await holds(condition, "user=user\(inside)"))
    #expect(try await !holds(condition, "user=user\(outside)"))
    #expect(try await !holds(condition, ""), "without the key it never holds")
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0.0), ("2026-12-24T18:00:00Z", 1_798_135_200),
      ("2026-12-24T19:00:00+01:00", 1_798_135_200), ("2026-12-24t12:30:00.25-05:30", 1_798_135_200),
      ("2024-02-29T00:00:00Z", 1_709_164_800), ("1969-12-31T23:59:59Z", -1),
      ("0001-01-01T00:00:00Z", -62_135_596_800), ("", nil), ("2026-12-24", nil),
      ("2026-12-24T18:00:00", nil), ("2026-13-01T00:00:00Z", nil), ("2026-02-29T00:00:00Z", nil),
      ("2026-12-24T24:00:00Z", nil), ("2026-12-24T18:00:00Zx", nil), ("2026-12-24T18:00:00.Z", nil),
      ("+026-12-24T18:00:00Z", nil), ("2026-12-24T18:00:00+1:00", nil),
    ] as [(String, Double?)])
  func `Times are read as RFC 3339 writes them, or not at all`(_ text: String, _ seconds: Double?) {
    #expect(secondsSince1970(at: text) == seconds)
  }

  @Test func `A window of time begins and ends`() async throws {
    let begin = try #require(secondsSince1970(at: "2026-12-24T18:00:00Z"))
    let window =
      #"{"time": {"from": "2026-12-24T18:00:00Z", "until": "2026-12-26T00:00:00+01:00"}}"#
    for (time, expected) in [
      (begin - 1, false), (begin, true), (begin + 29 * 3600 - 1, true), (begin + 29 * 3600, false),
    ] {
      #expect(try await holds(window, "", now: { time }) == expected, "\(time - begin)")
    }
    #expect(
      try await holds(#"{"time": {"until": "2026-12-24T18:00:00Z"}}"#, "", now: { begin - 9 }))
    let second =
      #"{"time": {"from": "2026-12-24T18:00:00Z", "until": "2026-12-24T18:00:01Z"}}"#
    for (time, expected) in [(begin - 1, false), (begin, true), (begin + 1, false)] {
      #expect(try await holds(second, "", now: { time }) == expected, "\(time - begin)")
    }
  }

  @Test(
    "A time by the clocks of a zone is the moment when they show it",
    arguments: [
      ("2026-12-24T18:00:00", "2026-12-24T17:00:00Z"),
      ("2026-07-01T00:00:00", "2026-06-30T22:00:00Z"),
      // The clocks are put forward, then back.
      ("2026-03-29T01:59:59", "2026-03-29T00:59:59Z"),
      ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
      ("2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
      ("2026-10-25T01:59:59", "2026-10-24T23:59:59Z"),
      ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
      ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
    ])
  func zones(clock: String, moment: String) async throws {
    let begin = try #require(secondsSince1970(at: moment))
    let table = try Self.answering(#"{"time": {"from": "\#(clock)[Europe/Berlin]"}}"#)
    for (time, expected) in [(begin - 1, false), (begin, true)] {
      let router = Router(core: RoutingCore(now: { time }))
      #expect(throws: RoutingError.self) { try router.calls.load(table) }
      try router.calls.load(table) { name, moment in
        TimeZone(identifier: name)?.secondsFromGMT(for: Date(timeIntervalSince1970: moment))
      }
      #expect(await (router.answer("app://a") == "yes") == expected, "\(time - begin)")
    }
  }

  @Test(
    "What cannot be is named when the table is read",
    arguments: [
      (#"{"parameter": "v", "version": "2.x"}"#, "no range of versions"),
      (#"{"parameter": "v", "version": ""}"#, "no range of versions"),
      (#"{"percent": 101, "by": {"context": "u"}}"#, "rules[0].when[0] (r): 101 is no share"),
      (#"{"percent": 10}"#, "rules[0].when[0].by (r): an object is missing"),
      (#"{"percent": 10, "by": "u"}"#, "rules[0].when[0].by (r): an object belongs here"),
      (#"{"context": "", "is": 1}"#, "a context has a name"),
      (#"{"context": "c", "parameter": "p", "is": 1}"#, "exactly one of context, parameter"),
      (#"{"parameter": "p", "contains": ""}"#, "no text that it leaves out"),
      (#"{"parameter": "p", "cidr": "10.0.0/8"}"#, "10.0.0/8 is no network"),
      (#"{"parameter": "p", "cidr": "10.0.0.0/33"}"#, "no network"),
      (#"{"parameter": "p", "cidr": "10.0.0.0/"}"#, "no network"),
      (#"{"not": {"parameter": "p", "abov": 1}}"#, "rules[0].when[0].not (r): exactly one of is"),
      (#"{"time": {}}"#, "from, until or both"),
      (#"{"time": {"from": "tomorrow"}}"#, "rules[0].when[0].time.from (r): tomorrow is no time"),
      (#"{"time": {"from": "2026-12-26T00:00:00Z[UTC]"}}"#, "is no time"),
      (
        #"{"time": {"from": "2026-12-26T00:00:00Z", "until": "2026-12-24T00:00:00Z"}}"#,
        "ends before or when it begins"
      ),
      (#"{"any": []}"#, "it has no conditions"),
      (#"{"parameter": "v", "version": ">3 <2"}"#, "no range of versions"),
      (#"{"parameter": "v", "version": "v <3"}"#, "v <3 is no range of versions"),
      (#"{"parameter": "p", "cidr": "::ffff:10.0.0.0/8"}"#, "no network"),
      (#"{"parameter": "p", "cidr": "10.0.0.0/+8"}"#, "no network"),
      (
        #"{"parameter": "p", "in": 1}"#,
        "taken: rules[0].when[0].in (r): an array belongs here, not a number"
      ),
      (#"{"parameter": "v", "version": ">2 <2"}"#, "no range of versions"),
      (#"{"parameter": "v", "version": ">2 =2.0"}"#, "no range of versions"),
      (
        #"{"time": {"from": "2026-12-24T00:00:00.2Z", "until": "2026-12-24T00:00:00.9Z"}}"#,
        "ends before or when it begins"
      ),
      (#"{"parameter": "v", "in": []}"#, "a list of no values"),
      (#"{"parameter": "", "is": 1}"#, "a parameter has a name"),
      (
        #"{"any": [{"all": [{"parameter": "v", "version": "x"}]}]}"#,
        "rules[0].when[0].any[0].all[0].version (r): x is no range"
      ),
      (#"{"parameter": "n", "above": "two"}"#, "rules[0].when[0].above (r): a number belongs here"),
      (#"{"parameter": "n", "abov": 2}"#, "did you mean above?"),
    ])
  func refused(_ condition: String, _ text: String) async {
    await expectError(.badTable, saying: text) { try await holds(condition, "") }
  }

  @Test func `All problems of a document are told at once, in the words of the schema`() {
    let json = """
      {"version": 1, "rulez": 1, "rules": [
        {"name": "a", "match": {"url": "/:"}, "do": {"redirect": "%"}},
        {"name": 7, "match": {"host": "x"}, "when": [{"parameter": "p"}], "do": {"block": "x"}},
        {"name": "c", "match": {"origin": "moon"}, "do": {"blok": "x"}},
        {"name": "a", "match": {}, "do": {"block": ""}}]}
      """
    expectError(
      .badTable,
      saying:
        "rulez: the schema has no such key here; it has version, name, rules; did you mean rules?",
      "rules[0] (a): the pattern /:", "rules[1].name: a text belongs here, not a number",
      "rules[1].match.host: the schema has no such key", "rules[1].when[0]: exactly one of is,",
      "rules[2].match.origin (c): local or remote belongs here, not moon",
      "rules[2].do.blok (c): the schema has no such key here", "did you mean block?",
      "rules[3] (a): it has the name of an earlier rule",
      "rules[3].do (a): it blocks without a reason"
    ) { try JSONDecoder().decode(DecisionTable.self, from: Data(json.utf8)) }
  }

  @Test(
    "YAML's numbers and truth values come back as they were written",
    arguments: [
      ("01234", "01234"), ("no", "no"), ("0x1f", "0x1f"), ("12:30", "12:30"), ("1_000", "1_000"),
      ("7", "7"), ("12345678901234567890", "12345678901234567890"), ("1e400", "1e400"),
      ("1e3", "1000"), ("-2.50", "-2.5"), ("true", "true"), ("yes", "yes"),
      // The tag of a text does not reach a table, but quotation marks do.
      ("!!str 7", "7"), ("'07'", "07"), ("!!str true", "true"),
    ])
  func yaml(_ written: String, _ text: String) async throws {
    let yaml = """
      version: 1
      rules:
        - name: r
          match: {url: "app://a"}
          when: [{parameter: p, is: \(written)}]
          do: {answer: \(written)}
      """
    let table = try YAMLDecoder().decode(DecisionTable.self, from: yaml)
    #expect(
      try YAMLDecoder().decode(DecisionTable.self, from: YAMLEncoder().encode(table)) == table)
    let router = Router()
    try router.calls.load(table)
    let answer = try await router.open("app://a?p=\(text)")
    #expect(
      (answer as? Double).map { Int(exactly: $0)?.urlText ?? $0.urlText } ?? "\(answer)" == text)
  }
}
