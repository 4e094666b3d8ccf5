/// A value of JSON as this project writes it: numbers are integers of 64 bits, and no key comes twice.
///
/// What is read may come from anybody: nesting is bounded, and the value holds no more than the text did.
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

  /// What a text has in the wrong place.
  package struct Failure: Error, CustomStringConvertible {
    /// Where the text is wrong.
    var position: Int
    /// What belongs there.
    var expected: String

    /// One sentence: `expected a string at byte 7`.
    package var description: String { "expected \(expected) at byte \(position)" }
  }

  /// How deep values may lie in others.
  private static let deepest = 16

  /// Reads a text that holds one value.
  ///
  /// - Parameter text: The bytes of the text.
  /// - Throws: ``Failure`` where the text is no such value.
  package init(reading text: Span<UInt8>) throws(Failure) {
    var cursor = JSONCursor(in: text)
    guard text.invalidUTF8 == nil else { throw Failure(position: 0, expected: "UTF-8") }
    self = try cursor.value(text, depth: Self.deepest)
    try cursor.checkEnd(text)
  }

  /// The value of a key; nil where this is no object, or has no such key.
  package subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The text; nil for anything else.
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  /// The number; nil for anything else.
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  /// The truth; nil for anything else.
  package var boolean: Bool? { if case .boolean(let truth) = self { truth } else { nil } }
  /// The elements; nil for anything else.
  package var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

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

extension JSONCursor {
  /// Reads a value, and those in it down to a depth.
  fileprivate mutating func value(
    _ text: Span<UInt8>, depth: Int
  ) throws(Failure) -> JSONValue {
    guard depth > 0 else { throw Failure(position: position, expected: "less nesting") }
    skipSpace(text)
    switch peek(text) {
    case UInt8(ascii: "{"): return try .object(members(text, depth: depth - 1))
    case UInt8(ascii: "["): return try .array(elements(text, depth: depth - 1))
    case UInt8(ascii: "\""):
      let range = try string(text)
      return .string(JSONStringPair.decoded(text.extracting(range)))
    case UInt8(ascii: "t"): return try word("true", text, .boolean(true))
    case UInt8(ascii: "f"): return try word("false", text, .boolean(false))
    case UInt8(ascii: "n"): return try word("null", text, .null)
    default: return try .integer(number(text))
    }
  }

  private mutating func members(
    _ text: Span<UInt8>, depth: Int
  ) throws(Failure) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    var keys: Set<String> = []
    try list(text, "}") { cursor throws(Failure) in
      let start = cursor.position
      let key = JSONStringPair.decoded(text.extracting(try cursor.string(text)))
      // Few objects have more keys than can be compared at once.
      let isNew = members.count < 16 ? !members.contains { $0.key == key } : !keys.contains(key)
      guard isNew else { throw Failure(position: start, expected: "another key") }
      if members.count == 15 { keys = Set(members.map(\.key)) }
      if members.count >= 15 { keys.insert(key) }
      try cursor.expect(text, UInt8(ascii: ":"), ":")
      members.append(JSONValue.Member(key, try cursor.value(text, depth: depth)))
    }
    return members
  }

  private mutating func elements(
    _ text: Span<UInt8>, depth: Int
  ) throws(Failure) -> [JSONValue] {
    var elements: [JSONValue] = []
    try list(text, "]") { cursor throws(Failure) in
      elements.append(try cursor.value(text, depth: depth))
    }
    return elements
  }

  /// Reads what commas part, up to a closing bracket.
  private mutating func list(
    _ text: Span<UInt8>, _ closing: Character, _ element: (inout Self) throws(Failure) -> Void
  ) throws(Failure) {
    position += 1
    skipSpace(text)
    let end = closing.asciiValue
    guard peek(text) != end else {
      position += 1
      return
    }
    while true {
      try element(&self)
      skipSpace(text)
      guard let byte = peek(text), byte == UInt8(ascii: ",") || byte == end else {
        throw Failure(position: position, expected: "a comma or \(closing)")
      }
      position += 1
      if byte == end { return }
    }
  }

  private mutating func word(
    _ word: StaticString, _ text: Span<UInt8>, _ value: JSONValue
  ) throws(Failure) -> JSONValue {
    for byte in word.description.utf8 {
      guard peek(text) == byte else { throw Failure(position: position, expected: "\(word)") }
      position += 1
    }
    return value
  }

  private mutating func number(_ text: Span<UInt8>) throws(Failure) -> Int64 {
    let start = position
    let isNegative = peek(text) == UInt8(ascii: "-")
    if isNegative { position += 1 }
    var (number, digits): (Int64, Int) = (0, 0)
    while let byte = peek(text), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
      let digit = Int64(byte - UInt8(ascii: "0"))
      let (tens, isLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = tens.addingReportingOverflow(isNegative ? -digit : digit)
      guard !isLarge, !isLarger, digits == 0 || number != 0 else {
        throw Failure(position: start, expected: "an integer of 64 bits")
      }
      number = sum
      digits += 1
      position += 1
    }
    let rest = peek(text)
    guard digits > 0, rest != UInt8(ascii: "."), rest != UInt8(ascii: "e"),
      rest != UInt8(ascii: "E")
    else { throw Failure(position: start, expected: digits > 0 ? "an integer" : "a value") }
    return number
  }
}
