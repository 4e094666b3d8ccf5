import Foundation
import Testing
import Yams

@testable import BeeHiveRouting

@Suite("The document of a table is read within a budget, and each refusal has its place")
struct TableDocumentTests {
  /// Reads a table from YAML, and from JSON, which is YAML too.
  private func read(_ text: String) throws -> DecisionTable {
    try DecisionTable { try YAMLDecoder().decode(DecisionTable.self, from: text) }
  }

  /// Returns a document of one rule.
  private func document(
    name: String = #""r""#, match: String = "{}", when: String = "", do outcome: String
  ) -> String {
    #"{"version": 1, "rules": [{"name": \#(name), "match": \#(match), "when": [\#(when)], "do": \#(outcome)}]}"#
  }

  private func expectRefusal(
    of text: String, saying texts: String..., at location: SourceLocation = #_sourceLocation
  ) {
    var messages: Set<String> = []
    for json in [true, false] {
      let error = #expect(throws: RoutingError.self, sourceLocation: location) {
        try Router().calls.load(
          json ? JSONDecoder().decode(DecisionTable.self, from: Data(text.utf8)) : read(text))
      }
      #expect(error?.code == .badTable, sourceLocation: location)
      let message = error?.message ?? ""
      for text in texts { #expect(message.contains(text), sourceLocation: location) }
      #expect(message.utf8.count < 1_500, "it is for people", sourceLocation: location)
      messages.insert(message)
    }
    #expect(messages.count == 1, "they are the same in JSON and YAML", sourceLocation: location)
  }

  @Test("A document that is too deep, or has an object of too many keys, is refused where that is")
  func limits() throws {
    func nested(_ depth: Int) -> String {
      let value =
        String(repeating: "[", count: depth) + "1.5" + String(repeating: "]", count: depth)
      return document(do: #"{"answer": \#(value)}"#)
    }
    #expect(throws: Never.self) { try read(nested(120)) }
    expectRefusal(of: nested(200), saying: "rules[0].do.answer[0][0]", "more than 128 levels")
    let pairs = (0...1_024).map { #""k\#($0)": 1"# }.joined(separator: ",")
    expectRefusal(
      of: document(do: #"{"replace": {\#(pairs)}}"#), saying: "rules[0].do.replace: ",
      "more than 1024 keys in an object")
  }

  @Test(
    "Reading takes as many steps as a document has values, and aliases count as what they stand for"
  )
  func work() throws {
    func left(_ text: String) throws -> DecisionValue.Budget {
      try YAMLDecoder().decode(Measured.self, from: text).left
    }
    func used(_ count: Int) throws -> (values: Int, bytes: Int) {
      let list = Array(repeating: "{k: [1.5, text]}", count: count).joined(separator: ",")
      let left = try left("[\(list)]")
      #expect(left.levels == Measured.budget.levels)
      return (Measured.budget.values - left.values, Measured.budget.bytes - left.bytes)
    }
    let (few, many) = (try used(100), try used(1_000))
    #expect(few == (401, 500))
    #expect(many == (4_001, 5_000))
    // Nine times nine times … values.
    var lists = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    for number in 1...9 {
      let aliases = Array(repeating: "*a\(number - 1)", count: 9).joined(separator: ", ")
      lists += "a\(number): &a\(number) [\(aliases)]\n"
    }
    #expect(throws: DecodingError.self) { try left(lists) }
    #expect(throws: DecodingError.self) { try left("[\(String(repeating: "x", count: 50_001))]") }
  }

  @Test("No message quotes more than 200 bytes of a text, and none has more than 100 problems")
  func quotes() throws {
    let long = String(repeating: "é%:", count: 100_000)
    let block = #"{"block": "x"}"#
    for text in [
      document(match: #"{"url": "/\#(long)"}"#, do: block),
      document(match: #"{"url": "/:id<T\#(String(repeating: "é", count: 5_000))>"}"#, do: block),
      document(match: #"{"\#(String(repeating: "k", count: 1_000))": 1}"#, do: block),
      document(match: #"{"origin": "\#(long)"}"#, do: block),
      document(do: #"{"redirect": "\#(long)"}"#),
      document(match: #"{"url": "/:id"}"#, do: #"{"redirect": "/:\#(long)"}"#),
      document(match: #"{"url": "/:id"}"#, do: #"{"redirect": "/:id#\#(long):id"}"#),
      document(name: #""\#(long)""#, do: #"{"block": ""}"#),
      document(when: #"{"parameter": "p", "version": "\#(long)"}"#, do: block),
      document(when: #"{"time": {"from": "\#(long)"}}"#, do: block),
      #"{"version": 1, "name": "\#(long)", "rules": 1}"#,
    ] { expectRefusal(of: text) }
    let rules = Array(repeating: "{}", count: 1_000).joined(separator: ",")
    let error = #expect(throws: RoutingError.self) {
      try read(#"{"version": 1, "rules": [\#(rules)]}"#)
    }
    #expect(error?.message.components(separatedBy: "; ").count == 100)
    #expect(error?.message.hasSuffix("; there are more problems") == true)
    #expect("é".excerpt == "é")
    #expect(long.excerpt.utf8.count <= 200 && long.excerpt.hasPrefix("é%:é"))
  }

  @Test("What a decoder refuses is a RoutingError with the place")
  func decoders() throws {
    let block = #"{"block": "x"}"#
    expectRefusal(
      of: document(match: #"{"url": 7}"#, do: block), saying: "rules[0].match.url (r): ")
    func message(_ decode: () throws -> DecisionTable) -> String {
      let error = #expect(throws: RoutingError.self) { try DecisionTable(decode) }
      #expect(error?.code == .badTable)
      return error?.message ?? ""
    }
    func json(_ text: String) -> String {
      message { try JSONDecoder().decode(DecisionTable.self, from: Data(text.utf8)) }
    }
    // Half a surrogate pair is not a text; a number that no type holds is not a number.
    #expect(
      json(document(name: #""\ud800""#, do: block)).contains("rules[0].name: this is no text"))
    #expect(
      json(document(do: #"{"answer": 1e999}"#)).contains("rules[0].do.answer: this is no text"))
    #expect(json("{").contains("not taken: The given data was not valid JSON"))
    // A key that occurs twice: Foundation takes the first, and Yams refuses the document.
    let twice = #"{"version": 1, "name": "a", "name": "b", "rules": []}"#
    #expect(try JSONDecoder().decode(DecisionTable.self, from: Data(twice.utf8)).name == "a")
    #expect(message { try YAMLDecoder().decode(DecisionTable.self, from: twice) }.contains("name"))
  }

  @Test("A number is read with all its digits, or refused; YAML has a text then")
  func numbers() throws {
    for (text, answer) in [
      ("18446744073709551615", "18446744073709551615"), ("1e15", "1000000000000000"),
      ("0.1", "0.1"), ("-9223372036854775808", "-9223372036854775808"),
      ("18446744073709551616", nil), ("-1e300", nil),
    ] as [(String, String?)] {
      let document = document(do: #"{"answer": \#(text)}"#)
      let json = { try JSONDecoder().decode(DecisionTable.self, from: Data(document.utf8)) }
      for (read, expected) in [(json, answer), ({ try read(document) }, answer ?? text)] {
        let (router, table) = (Router(), try? read())
        if let table { try router.calls.load(table) }
        let end = table.map { _ in router.calls.explain("app://x").end }
        #expect(end == expected.map { "answered with \($0)" }, "\(text)")
      }
    }
  }

  @Test("Optional parts and combining marks are read as far as the document may have them")
  func forms() {
    let parts = "(a)(b)(c)(d)(e)(f)/" + String(repeating: "x/", count: 50)
    let rules = (0..<30).map {
      rule("r\($0)", #"{"url": "/r\#($0)/\#(parts)"}"#, do: #"{"answer": 1}"#)
    }
    expectError(.badTable, saying: "make more than 65536 segments") { try table(of: rules) }
    let marks = String(repeating: "\u{0f73}", count: 16)
    expectError(.badTable, saying: "more than 30 combining marks in a row") {
      try DecisionTable { try table(rule("a\(marks)", "{}", do: #"{"answer": 1}"#)) }
    }
  }
}

/// A value that is read within a budget, and the rest of the budget.
private struct Measured: Decodable {
  static let budget: DecisionValue.Budget = (values: 20_000, bytes: 50_000, levels: 20)
  let left: DecisionValue.Budget

  init(from decoder: any Decoder) throws {
    var budget = Self.budget
    _ = try DecisionValue(from: decoder, within: &budget)
    left = budget
  }
}
