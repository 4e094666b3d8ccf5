internal import BinaryImage

/// A value of JSON as this project writes it: numbers are integers of 64 bits.
package enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A key and its value.
  package struct Member: Hashable, Sendable {
    /// The key.
    package var key: String
    /// The value.
    package var value: JSONValue

    /// Pairs a key with a value.
    package init(_ key: String, _ value: JSONValue) { (self.key, self.value) = (key, value) }
  }

  /// The value as it is written, on one line.
  package var text: String {
    switch self {
    case .null: "null"
    case .boolean(let truth): truth ? "true" : "false"
    case .integer(let number): String(number)
    case .string(let text): text.quotedForJSON
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let members):
      "{\(members.map { "\($0.key.quotedForJSON):\($0.value.text)" }.joined(separator: ","))}"
    }
  }
}

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
