internal import BinaryImage

extension String {
  /// The text as a JSON string, quotes included: always valid, whatever the text holds.
  package var quotedForJSON: String {
    "\"" + unicodeScalars.map(\.textInJSON).joined() + "\""
  }
}

extension Unicode.Scalar {
  /// How it is written in a string of JSON: what would not be seen as its escape.
  package var textInJSON: String {
    switch self {
    case "\"": return "\\\""
    case "\\": return "\\\\"
    case "\n": return "\\n"
    case "\t": return "\\t"
    case _ where isUnprintable:
      return (UTF16.encode(self) ?? UTF16.encodedReplacementCharacter).map { unit in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      }.joined()
    default: return String(self)
    }
  }
}
