/// The grammar of the texts that the classic sections point to.
///
/// A service is a JSON object of exactly one pair of strings. The grammar is strict RFC 8259 without what an entry
/// does not need: no nesting, no numbers.
struct PointerGrammar {
  /// Longer texts count as a pointer that leads astray.
  static let limit = 16 << 10

  /// The position in the text of a service. The caller lends the text to each step.
  private var position = 0

  /// Reads the text of one slot: in `BeehiveMods` the name itself, in `BeehiveServices` a pair of names,
  /// `{ "Service" : "Implementation" }`.
  static func names(
    in text: Span<UInt8>, kind: RecordKind
  ) throws(Refusal) -> (name: String, implementation: String?) {
    guard kind != .module else {
      try Refusal.check(!text.isEmpty, .emptyName, "points at an empty name; give the module one")
      return (try text.text("the name"), nil)
    }
    let (service, implementation) = try pair(text)
    try Refusal.check(
      !service.isEmpty, .emptyName, "names no service; write { \"Service\" : \"Implementation\" }")
    try Refusal.check(
      !implementation.isEmpty, .emptyName,
      "names no implementation of \(service); write one behind the colon")
    return (service, implementation)
  }

  /// Reads both strings of a service; throws if the text is no such object.
  static func pair(_ text: Span<UInt8>) throws(Refusal) -> (key: String, value: String) {
    try text.checkUTF8("the text")
    var cursor = Self()
    try cursor.expect(text, UInt8(ascii: "{"), "{")
    let key = try cursor.string(text)
    try cursor.expect(text, UInt8(ascii: ":"), ":")
    let value = try cursor.string(text)
    cursor.skipSpace(text)
    if cursor.peek(text) == UInt8(ascii: ",") {
      cursor.position += 1
      _ = try cursor.string(text)
      throw Refusal(.severalJSONKeys, "names several services; write one entry for each")
    }
    try cursor.expect(text, UInt8(ascii: "}"), "}")
    cursor.skipSpace(text)
    guard cursor.peek(text) == nil else { throw cursor.expected("the end of the text") }
    return (key, value)
  }

  /// Returns a refusal that says what belongs to a position of the text.
  private func expected(_ what: String, at place: Int? = nil) -> Refusal {
    Refusal(
      .malformedJSON,
      "expected \(what) at byte \(place ?? position); write { \"Service\" : \"Implementation\" }")
  }

  private func peek(_ text: Span<UInt8>) -> UInt8? { position < text.count ? text[position] : nil }

  private mutating func skipSpace(_ text: Span<UInt8>) {
    while let byte = peek(text), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      position += 1
    }
  }

  private mutating func expect(
    _ text: Span<UInt8>, _ byte: UInt8, _ name: String
  ) throws(Refusal) {
    skipSpace(text)
    guard peek(text) == byte else { throw expected(name) }
    position += 1
  }

  /// Reads a string, its escapes resolved.
  private mutating func string(_ text: Span<UInt8>) throws(Refusal) -> String {
    try expect(text, UInt8(ascii: "\""), "a string")
    var result = ""
    while true {
      var end = position
      while end < text.count, text[end] >= 0x20, text[end] != UInt8(ascii: "\""),
        text[end] != UInt8(ascii: "\\")
      { end += 1 }
      result += String(checked: text.extracting(position..<end))
      position = end
      switch peek(text) {
      case UInt8(ascii: "\""):
        position += 1
        return result
      case UInt8(ascii: "\\"): result.unicodeScalars.append(try escape(text))
      case nil: throw expected("a closing quote")
      default: throw expected("an escape instead of a control byte")
      }
    }
  }

  /// Reads an escape, beginning at its backslash.
  private mutating func escape(_ text: Span<UInt8>) throws(Refusal) -> Unicode.Scalar {
    position += 1
    guard let byte = peek(text) else { throw expected("an escaped character") }
    position += 1
    if byte == UInt8(ascii: "u") { return try unicodeEscape(text) }
    let escapes = zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{c}\n\r\t".unicodeScalars)
    guard let (_, scalar) = escapes.first(where: { $0.0 == byte }) else {
      throw expected("one of \"\\/bfnrtu after the backslash", at: position - 1)
    }
    return scalar
  }

  private mutating func unicodeEscape(_ text: Span<UInt8>) throws(Refusal) -> Unicode.Scalar {
    let start = position
    var units = [try codeUnit(text)]
    // A NUL would end the name early for every reader written in C.
    guard units != [0] else { throw expected("a name without NUL", at: start) }
    if UTF16.isLeadSurrogate(units[0]), peek(text) == UInt8(ascii: "\\") {
      position += 1
      guard peek(text) == UInt8(ascii: "u") else { throw expected("a surrogate pair", at: start) }
      position += 1
      units.append(try codeUnit(text))
    }
    guard let scalar = String(validating: units, as: UTF16.self)?.unicodeScalars.first else {
      throw expected("a surrogate pair", at: start)
    }
    return scalar
  }

  private mutating func codeUnit(_ text: Span<UInt8>) throws(Refusal) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(text), let digit = byte.hexadecimal else {
        throw expected("four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
