/// The text of a service entry: a JSON object of exactly one pair of strings.
///
/// Strict RFC 8259, and nothing of it that an entry does not need: no nesting, no numbers.
enum JSONStringPair {
  case pair(key: String, value: String)
  case several
  case invalidUTF8(at: Int)
  case malformed(at: Int, expected: String)

  init(parsing text: Span<UInt8>) {
    var cursor = JSONCursor()
    do throws(JSONCursor.Failure) {
      try cursor.expect(text, UInt8(ascii: "{"), "{")
      let key = try cursor.string(text)
      try cursor.expect(text, UInt8(ascii: ":"), ":")
      let value = try cursor.string(text)
      cursor.skipSpace(text)
      if cursor.peek(text) == UInt8(ascii: ",") {
        cursor.position += 1
        _ = try cursor.string(text)
        self = .several
        return
      }
      try cursor.expect(text, UInt8(ascii: "}"), "}")
      cursor.skipSpace(text)
      self =
        cursor.peek(text) == nil
        ? .pair(key: key, value: value)
        : .malformed(at: cursor.position, expected: "the end of the text")
    } catch {
      // A text that is no UTF-8 is called that, wherever the syntax broke first.
      if case .invalid(let offset) = EntryText(copying: text) {
        self = .invalidUTF8(at: offset)
      } else {
        self = .malformed(at: error.position, expected: error.expected)
      }
    }
  }
}

/// A position in a text that the caller lends to each step.
private struct JSONCursor {
  struct Failure: Error {
    var position: Int
    var expected: String
  }

  var position = 0

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

  mutating func string(_ text: Span<UInt8>) throws(Failure) -> String {
    try expect(text, UInt8(ascii: "\""), "a string")
    let start = position
    while let byte = peek(text) {
      if byte == UInt8(ascii: "\"") {
        defer { position += 1 }
        return try copy(text, start..<position)
      }
      if byte == UInt8(ascii: "\\") { return try escapedString(text, from: start) }
      guard byte >= 0x20 else {
        throw Failure(position: position, expected: "an escape instead of a control byte")
      }
      position += 1
    }
    throw Failure(position: position, expected: "a closing quote")
  }

  private func copy(_ text: Span<UInt8>, _ range: Range<Int>) throws(Failure) -> String {
    switch EntryText(copying: text.extracting(range)) {
    case .text(let string): return string
    case .invalid(let offset):
      throw Failure(position: range.lowerBound + offset, expected: "UTF-8")
    }
  }

  /// The slow path, from the first backslash on: pieces between escapes, joined.
  private mutating func escapedString(
    _ text: Span<UInt8>, from start: Int
  ) throws(Failure) -> String {
    var result = try copy(text, start..<position)
    var pieceStart = position
    while let byte = peek(text) {
      switch byte {
      case UInt8(ascii: "\""):
        result += try copy(text, pieceStart..<position)
        position += 1
        return result
      case UInt8(ascii: "\\"):
        result += try copy(text, pieceStart..<position)
        position += 1
        result.unicodeScalars.append(try escape(text))
        pieceStart = position
      case 0..<0x20:
        throw Failure(position: position, expected: "an escape instead of a control byte")
      default:
        position += 1
      }
    }
    throw Failure(position: position, expected: "a closing quote")
  }

  private mutating func escape(_ text: Span<UInt8>) throws(Failure) -> Unicode.Scalar {
    guard let byte = peek(text) else {
      throw Failure(position: position, expected: "an escaped character")
    }
    position += 1
    switch byte {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape(text)
    default:
      throw Failure(position: position - 1, expected: "one of \"\\/bfnrtu after the backslash")
    }
  }

  private mutating func unicodeEscape(_ text: Span<UInt8>) throws(Failure) -> Unicode.Scalar {
    let start = position
    let first = try codeUnit(text)
    // A NUL would end the name early for every reader written in C.
    guard first != 0 else { throw Failure(position: start, expected: "a name without NUL") }
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard UTF16.isLeadSurrogate(first), peek(text) == UInt8(ascii: "\\") else {
      throw Failure(position: start, expected: "a surrogate pair")
    }
    position += 1
    guard peek(text) == UInt8(ascii: "u") else {
      throw Failure(position: start, expected: "a surrogate pair")
    }
    position += 1
    let second = try codeUnit(text)
    guard UTF16.isTrailSurrogate(second),
      let scalar = Unicode.Scalar(
        0x1_0000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
    else { throw Failure(position: start, expected: "a surrogate pair") }
    return scalar
  }

  private mutating func codeUnit(_ text: Span<UInt8>) throws(Failure) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = peek(text), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw Failure(position: position, expected: "four hexadecimal digits")
      }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
