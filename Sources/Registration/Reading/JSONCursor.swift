/// A position in a text that the caller lends to each step.
struct JSONCursor {
  /// What a text has in the wrong place.
  struct Failure: Error, CustomStringConvertible {
    /// Where the text is wrong.
    var position: Int
    /// What belongs there.
    var expected: String

    /// One sentence: `expected a string at byte 7`.
    var description: String { "expected \(expected) at byte \(position)" }
  }

  var position = 0
  /// Whether a string with escapes was found.
  private(set) var hasEscapes = false
  /// Whether there is neither an escape nor a control byte, so that a string ends at the next quote.
  private let isPlain: Bool

  init(in text: Span<UInt8>) { isPlain = text.isPrintable(without: UInt8(ascii: "\\")) }

  func peek(_ text: Span<UInt8>) -> UInt8? { position < text.count ? text[position] : nil }

  mutating func skipSpace(_ text: Span<UInt8>) {
    while let byte = peek(text), byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
      position += 1
    }
  }

  mutating func expect(_ text: Span<UInt8>, _ byte: UInt8, _ name: String) throws(Failure) {
    skipSpace(text)
    guard peek(text) == byte else { throw Failure(position: position, expected: name) }
    position += 1
  }

  /// Returns whether a comma and another string come next.
  mutating func hasAnotherString(_ text: Span<UInt8>) throws(Failure) -> Bool {
    skipSpace(text)
    guard peek(text) == UInt8(ascii: ",") else { return false }
    position += 1
    _ = try string(text)
    return true
  }

  /// Reads what ends the object, behind which nothing may come.
  mutating func end(_ text: Span<UInt8>) throws(Failure) {
    try expect(text, UInt8(ascii: "}"), "}")
    skipSpace(text)
    guard peek(text) == nil else {
      throw Failure(position: position, expected: "the end of the text")
    }
  }

  /// Finds a string. Returns its range without the quotes.
  mutating func string(_ text: Span<UInt8>) throws(Failure) -> Range<Int> {
    try expect(text, UInt8(ascii: "\""), "a string")
    let start = position
    if let end = text.first(UInt8(ascii: "\""), from: start),
      isPlain || text.extracting(start..<end).isPrintable(without: UInt8(ascii: "\\"))
    {
      position = end + 1
      return start..<end
    }
    while let byte = peek(text) {
      switch byte {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return start..<position
      case UInt8(ascii: "\\"):
        hasEscapes = true
        _ = try escape(text)
      case 0..<0x20:
        throw Failure(position: position, expected: "an escape instead of a control byte")
      default: position += 1
      }
    }
    throw Failure(position: position, expected: "a closing quote")
  }

  /// Reads what a backslash begins.
  mutating func escape(_ text: Span<UInt8>) throws(Failure) -> Unicode.Scalar {
    position += 1
    guard let byte = peek(text) else {
      throw Failure(position: position, expected: "an escaped character")
    }
    position += 1
    if byte == UInt8(ascii: "u") { return try unicodeEscape(text) }
    let escapes = zip("\"\\/bfnrt".utf8, "\"\\/\u{8}\u{c}\n\r\t".unicodeScalars)
    guard let (_, scalar) = escapes.first(where: { $0.0 == byte }) else {
      throw Failure(position: position - 1, expected: "one of \"\\/bfnrtu after the backslash")
    }
    return scalar
  }

  private mutating func unicodeEscape(_ text: Span<UInt8>) throws(Failure) -> Unicode.Scalar {
    let start = position
    let first = try codeUnit(text)
    // A NUL would end the name early for every reader written in C.
    guard first != 0 else { throw Failure(position: start, expected: "a name without NUL") }
    if let scalar = Unicode.Scalar(first) { return scalar }
    let pair = Failure(position: start, expected: "a surrogate pair")
    for sign in "\\u".utf8 {
      guard UTF16.isLeadSurrogate(first), peek(text) == sign else { throw pair }
      position += 1
    }
    let second = try codeUnit(text)
    guard UTF16.isTrailSurrogate(second),
      let scalar = Unicode.Scalar(
        0x1_0000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
    else { throw pair }
    return scalar
  }

  private mutating func codeUnit(_ text: Span<UInt8>) throws(Failure) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(text), let digit = byte.hexadecimal else {
        throw Failure(position: position, expected: "four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
