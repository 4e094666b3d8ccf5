/// The grammar of the texts that the classic sections point to.
enum PointerGrammar {
  /// Longer texts are taken for a pointer that leads astray.
  static let limit = 16 << 10

  /// Reads the text of one slot.
  static func parts(of text: Span<UInt8>, kind: RecordKind) throws(Refusal) -> EntryParts {
    kind == .module ? try module(text) : try service(text)
  }

  /// A slot of `BeehiveMods`: the name itself.
  private static func module(_ text: Span<UInt8>) throws(Refusal) -> EntryParts {
    try Refusal.check(!text.isEmpty, .emptyName, "points at an empty name; give the module one")
    try text.checkUTF8("the name")
    return EntryParts(kind: .module, name: text.indices)
  }

  /// A slot of `BeehiveServices`: `{ "Service" : "Implementation" }`.
  private static func service(_ text: Span<UInt8>) throws(Refusal) -> EntryParts {
    let pair = try JSONStringPair(parsing: text)
    try Refusal.check(
      !pair.key.isEmpty, .emptyName, "names no service; write { \"Service\" : \"Implementation\" }")
    let parts = EntryParts(
      kind: .service, name: pair.key, implementation: pair.value, hasEscapes: pair.hasEscapes)
    guard !pair.value.isEmpty else {
      let name = JSONStringPair.decoded(text.extracting(pair.key))
      throw Refusal(.emptyName, "names no implementation of \(name); write one behind the colon")
    }
    return parts
  }
}

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
    var cursor = JSONCursor()
    try cursor.expect(text, UInt8(ascii: "{"), "{")
    key = try cursor.string(text)
    try cursor.expect(text, UInt8(ascii: ":"), ":")
    value = try cursor.string(text)
    try Refusal.check(
      try !cursor.hasAnotherString(text), .severalJSONKeys,
      "names several services; write one entry for each")
    try cursor.end(text)
    hasEscapes = cursor.hasEscapes
  }

  /// The text of a string that was found, its escapes resolved.
  static func decoded(_ string: Span<UInt8>) -> String {
    var result = ""
    var cursor = JSONCursor()
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

/// A position in a text that the caller lends to each step.
struct JSONCursor {
  var position = 0
  /// Whether a string with escapes was found.
  private(set) var hasEscapes = false

  /// Says what belongs to a position of the text.
  private static func expected(at position: Int, _ what: String) -> Refusal {
    Refusal(
      .malformedJSON,
      "expected \(what) at byte \(position); write { \"Service\" : \"Implementation\" }")
  }

  func peek(_ text: Span<UInt8>) -> UInt8? { position < text.count ? text[position] : nil }

  mutating func skipSpace(_ text: Span<UInt8>) {
    while let byte = peek(text), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      position += 1
    }
  }

  mutating func expect(_ text: Span<UInt8>, _ byte: UInt8, _ name: String) throws(Refusal) {
    skipSpace(text)
    guard peek(text) == byte else { throw Self.expected(at: position, name) }
    position += 1
  }

  /// Returns whether a comma and another string come next.
  mutating func hasAnotherString(_ text: Span<UInt8>) throws(Refusal) -> Bool {
    skipSpace(text)
    guard peek(text) == UInt8(ascii: ",") else { return false }
    position += 1
    _ = try string(text)
    return true
  }

  /// Reads what ends the object, behind which nothing may come.
  mutating func end(_ text: Span<UInt8>) throws(Refusal) {
    try expect(text, UInt8(ascii: "}"), "}")
    skipSpace(text)
    guard peek(text) == nil else {
      throw Self.expected(at: position, "the end of the text")
    }
  }

  /// Finds a string. Returns its range without the quotes.
  mutating func string(_ text: Span<UInt8>) throws(Refusal) -> Range<Int> {
    try expect(text, UInt8(ascii: "\""), "a string")
    let start = position
    while let byte = peek(text) {
      switch byte {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return start..<position
      case UInt8(ascii: "\\"):
        hasEscapes = true
        _ = try escape(text)
      case 0..<0x20:
        throw Self.expected(at: position, "an escape instead of a control byte")
      default: position += 1
      }
    }
    throw Self.expected(at: position, "a closing quote")
  }

  /// Reads what a backslash begins.
  mutating func escape(_ text: Span<UInt8>) throws(Refusal) -> Unicode.Scalar {
    position += 1
    guard let byte = peek(text) else {
      throw Self.expected(at: position, "an escaped character")
    }
    position += 1
    if byte == UInt8(ascii: "u") { return try unicodeEscape(text) }
    let escapes = zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{c}\n\r\t".unicodeScalars)
    guard let (_, scalar) = escapes.first(where: { $0.0 == byte }) else {
      throw Self.expected(at: position - 1, "one of \"\\/bfnrtu after the backslash")
    }
    return scalar
  }

  private mutating func unicodeEscape(_ text: Span<UInt8>) throws(Refusal) -> Unicode.Scalar {
    let start = position
    let first = try codeUnit(text)
    // A NUL would end the name early for every reader written in C.
    guard first != 0 else { throw Self.expected(at: start, "a name without NUL") }
    if let scalar = Unicode.Scalar(first) { return scalar }
    func pair() -> Refusal { Self.expected(at: start, "a surrogate pair") }
    for sign in "\\u".utf8 {
      guard UTF16.isLeadSurrogate(first), peek(text) == sign else { throw pair() }
      position += 1
    }
    let second = try codeUnit(text)
    guard UTF16.isTrailSurrogate(second),
      let scalar = Unicode.Scalar(
        0x1_0000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
    else { throw pair() }
    return scalar
  }

  private mutating func codeUnit(_ text: Span<UInt8>) throws(Refusal) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(text), let digit = byte.hexadecimal else {
        throw Self.expected(at: position, "four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
