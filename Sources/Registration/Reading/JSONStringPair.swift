/// The text of a service entry: a JSON object of exactly one pair of strings.
///
/// Strict RFC 8259, and nothing of it that an entry does not need: no nesting, no numbers.
struct JSONStringPair {
  /// The ranges of the strings, without their quotes.
  var key, value: Range<Int>
  /// Whether one of them has escapes, which `decoded` resolves.
  var hasEscapes: Bool

  /// Finds the strings, and throws where the text is no such object.
  init(parsing text: Span<UInt8>) throws(Refusal) {
    try text.checkUTF8("the text")
    var cursor = JSONCursor(in: text)
    let isSeveral: Bool
    do throws(JSONCursor.Failure) {
      try cursor.expect(text, UInt8(ascii: "{"), "{")
      key = try cursor.string(text)
      try cursor.expect(text, UInt8(ascii: ":"), ":")
      value = try cursor.string(text)
      isSeveral = try cursor.hasAnotherString(text)
      if !isSeveral { try cursor.end(text) }
    } catch {
      throw Refusal(
        .malformedJSON,
        "\(error); write { \"Service\" : \"Implementation\" }")
    }
    try Refusal.check(
      !isSeveral, .severalJSONKeys, "names several services; write one entry for each")
    hasEscapes = cursor.hasEscapes
  }

  /// The text of a string that was found, its escapes resolved.
  static func decoded(_ string: Span<UInt8>) -> String {
    var result = ""
    var cursor = JSONCursor(in: string)
    while cursor.position < string.count {
      let start = cursor.position
      cursor.position = string.first(UInt8(ascii: "\\"), from: start) ?? string.count
      result += String(checked: string.extracting(start..<cursor.position))
      // The escape was read before, when the string was found.
      guard cursor.position < string.count, let scalar = try? cursor.escape(string) else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
