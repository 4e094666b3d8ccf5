import Testing

@testable import Registration

@Suite("The JSON text of a service entry")
struct PointerGrammarTests {
  @Test(
    "One pair of strings, however it is spaced and escaped",
    arguments: [
      (#"{"A":"B"}"#, "A", "B"),
      (" \t\r\n{ \"A\" \n:\t\"B\" } \n", "A", "B"),
      (#"{"Shop.Home":"Cache<Key, Value>"}"#, "Shop.Home", "Cache<Key, Value>"),
      (#"{"a\"b":"c\\d\/e"}"#, "a\"b", "c\\d/e"),
      (#"{"\b\f\n\r\t":"x"}"#, "\u{8}\u{c}\n\r\t", "x"),
      (#"{"\u0041\u00e9":"\u20AC!"}"#, "Aé", "€!"),
      (#"{"\ud83d\udC1D":"bee"}"#, "🐝", "bee"),
      (#"{"é🐝":"\u0042"}"#, "é🐝", "B"),
      (#"{"":""}"#, "", ""),
    ])
  func pairs(_ text: String, _ key: String, _ value: String) throws {
    let bytes = Array(text.utf8)
    let pair = try PointerGrammar.pair(bytes.span)
    #expect(pair == (key, value))
  }

  @Test(
    "Anything else says where and what was expected",
    arguments: [
      ("", 0, "{"), ("null", 0, "{"), (#"["A","B"]"#, 0, "{"), ("{", 1, "a string"),
      ("{}", 1, "a string"), ("{A:B}", 1, "a string"), ("{'A':'B'}", 1, "a string"),
      (#"{"A"}"#, 4, ":"), (#"{"A":}"#, 5, "a string"), (#"{"A":1}"#, 5, "a string"),
      (#"{"A":{"B":"C"}}"#, 5, "a string"), (#"{"A":"B""#, 8, "}"),
      (#"{"A":"B"} x"#, 10, "the end of the text"), (#"{"A":"B"}{}"#, 9, "the end of the text"),
      (#"{"A":"B"#, 7, "a closing quote"), (#"{"A\n":"B"#, 9, "a closing quote"),
      (#"{"A":"B",}"#, 9, "a string"), ("{\"A\n\":\"B\"}", 3, "control byte"),
      (#"{"\x":"B"}"#, 3, "backslash"), (#"{"\"#, 3, "an escaped character"),
      (#"{"\u12"#, 6, "hexadecimal"), (#"{"\u12g4":"B"}"#, 6, "hexadecimal"),
      (#"{"\u0000":"B"}"#, 4, "NUL"), (#"{"\ud83d":"B"}"#, 4, "surrogate"),
      (#"{"\udc1d":"B"}"#, 4, "surrogate"), (#"{"\ud83d\u0041":"B"}"#, 4, "surrogate"),
      (#"{"\ud83d\n":"B"}"#, 4, "surrogate"),
    ])
  func malformed(_ text: String, _ position: Int, _ expected: String) throws {
    let refusal = try refusal(of: Array(text.utf8))
    #expect(refusal.reason == .malformedJSON)
    #expect(refusal.message.hasPrefix("expected "))
    #expect(refusal.message.contains("\(expected)"), "\(refusal.message)")
    #expect(refusal.message.contains(" at byte \(position);"), "\(refusal.message)")
  }

  @Test("A second key is called that", arguments: [#"{"A":"B","C":"D"}"#, #"{"A":"B" , "A":1}"#])
  func several(_ text: String) throws {
    #expect(try refusal(of: Array(text.utf8)).reason == .severalJSONKeys)
  }

  @Test(
    "Bytes that are no UTF-8 are called that, wherever they stand",
    arguments: [
      ([0xff], 0), (Array(#"{"A"#.utf8) + [0xed, 0xa0, 0x80, 0x22], 3),
      (Array(#"{"\n"#.utf8) + [0xc0, 0x80] + Array(#"":"B"}"#.utf8), 4),
    ] as [([UInt8], Int)])
  func invalidUTF8(_ bytes: [UInt8], _ position: Int) throws {
    let refusal = try refusal(of: bytes)
    #expect(refusal.reason == .invalidUTF8)
    #expect(refusal.message.contains("from its byte \(position) on"), "\(refusal.message)")
  }

  /// Returns the reason why a text is no such object.
  private func refusal(of bytes: [UInt8]) throws -> Refusal {
    do throws(Refusal) { _ = try PointerGrammar.pair(bytes.span) } catch { return error }
    struct Taken: Error {}
    throw Taken()
  }
}
