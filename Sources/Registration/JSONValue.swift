internal import BinaryImage

/// A value of JSON as this project writes it: numbers are integers of 64 bits.
package enum JSONValue: Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case string(String)
  case array([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// Returns an array of texts.
  package static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

  /// Reads an object that is a list of texts without escapes under one key; nil if it is another text.
  package static func texts(in bytes: [UInt8], under key: String) -> [String]? {
    let parts = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\"", omittingEmptySubsequences: false)
    // Texts in quotes, and signs between them.
    let all = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
    let signs = parts.indices.filter { $0 % 2 == 0 }.map { index in
      String(parts[index].filter { ![" ", "\t", "\n", "\r", "\r\n"].contains($0) })
    }
    let (texts, commas) = (all.dropFirst(), max(0, all.count - 2))
    let expected =
      ["{"] + (texts.isEmpty ? [":[]}"] : [":["] + Array(repeating: ",", count: commas) + ["]}"])
    return all.first == key && signs == expected ? Array(texts) : nil
  }

  /// Returns an object of the members that are not nil, as encoders write it.
  package static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(members.compactMap { key, value in value.map { (key, $0) } })
  }

  /// The value as JSON text, on one line.
  package var text: String {
    switch self {
    case .null: "null"
    case .boolean(let truth): truth ? "true" : "false"
    case .integer(let number): String(number)
    case .string(let text): text.quotedForJSON
    case .array(let elements): "[\(elements.map(\.text).joined(separator: ","))]"
    case .object(let members):
      "{\(members.map { "\($0.quotedForJSON):\($1.text)" }.joined(separator: ","))}"
    }
  }
}

extension JSONValue: Encodable {
  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      try Dictionary(members.map { ($0.key, $0.value) }) { first, _ in first }.encode(to: encoder)
    case .array(let elements): try elements.encode(to: encoder)
    case .string(let text): try text.encode(to: encoder)
    case .integer(let number): try number.encode(to: encoder)
    case .boolean(let truth): try truth.encode(to: encoder)
    case .null: try String?.none.encode(to: encoder)
    }
  }
}

extension [String] {
  /// The elements of an array of JSON, a line for each.
  package var lines: String { isEmpty ? "[]" : "[\n    \(joined(separator: ",\n    "))\n  ]" }
}

extension String {
  /// The text as a JSON string, quotes included: always valid, whatever the text holds.
  package var quotedForJSON: String {
    "\"" + unicodeScalars.map(\.textInJSON).joined() + "\""
  }
}

extension Unicode.Scalar {
  /// The scalar as a string of JSON has it, escaped if it could not be seen.
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
