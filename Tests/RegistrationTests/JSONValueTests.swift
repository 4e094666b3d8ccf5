import Registration
import Testing

@Suite("Values of JSON")
struct JSONValueTests {
  private static func read(_ text: String) throws -> JSONValue {
    try JSONValue(reading: Array(text.utf8).span)
  }

  @Test(
    "are read and written alike",
    arguments: [
      "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808",
      "\"\"", "[]", "{}", "[1,[2,null],{\"a\":\"b\"}]",
      "{\"a\":{\"b\":[]},\"c\":\"\\\"\\\\\\n\\u0007ä\"}",
    ])
  func alike(text: String) throws {
    #expect(try Self.read(text).text == text)
    #expect(try Self.read(" \n\t" + text + "\r ").text == text)
  }

  @Test(
    "are refused where they are none",
    arguments: [
      "", "{", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{a:1}", "1 2", "tru", "nul", "1.5",
      "1e3",
      "01", "-", "9223372036854775808", "\"", "\"\u{1}\"", "\"\\x\"", "\"\\ud800\"", "'a'",
      "{\"a\":1,\"a\":2}", "\u{feff}1",
      "{\((0..<40).map { "\"\($0)\":0" }.joined(separator: ",")),\"30\":1}",
      String(repeating: "[", count: 1_000_000),
      String(repeating: "{\"a\":", count: 17) + "1" + String(repeating: "}", count: 17),
    ])
  func refused(text: String) {
    #expect(throws: JSONValue.Failure.self) { try Self.read(text) }
  }

  @Test("are refused where the bytes are not UTF-8")
  func bytes() {
    let bytes: [UInt8] = [0x22, 0xff, 0x22]
    #expect(throws: JSONValue.Failure.self) { try JSONValue(reading: bytes.span) }
  }

  @Test("are asked by key and by kind")
  func members() throws {
    let value = try Self.read("{\"a\":7,\"b\":\"x\",\"c\":[true],\"d\":null}")
    #expect(value["a"]?.integer == 7 && value["a"]?.string == nil)
    #expect(value["b"]?.string == "x" && value["b"]?.array == nil)
    #expect(value["c"]?.array?.first?.boolean == true)
    #expect(value["d"] == .null && value["e"] == nil && JSONValue.null["a"] == nil)
  }
}
