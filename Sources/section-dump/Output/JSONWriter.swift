internal import BinaryImage
internal import Registration

/// Writes JSON piece by piece, keys in the order they are given.
///
/// A key order that is documented, output that streams and a start-up without an encoder's
/// machinery are why this is not `JSONEncoder`.
struct JSONWriter {
  private let sink: ByteSink
  // Whether the object or array that is open has an element already, and which is open.
  private var hasElement = false
  private var depth = 0
  private var followsKey = false
  private let isInScript: Bool

  /// Writes to a sink; `isInScript` where the text stands in a script element, which `<` could end.
  init(_ sink: ByteSink, isInScript: Bool = false) {
    self.sink = sink
    self.isInScript = isInScript
  }

  /// Writes an object, as the value of a key where it is given one; the others do so too.
  mutating func object(key name: String? = nil, _ body: (inout JSONWriter) -> Void) {
    container(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func array(key name: String? = nil, _ body: (inout JSONWriter) -> Void) {
    container(name, UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  mutating func array(key name: String? = nil, _ strings: [String]) {
    array(key: name) { json in
      for text in strings { json.string(text) }
    }
  }

  mutating func string(key name: String? = nil, _ text: String?) {
    guard let text else {
      word(name, "null")
      return
    }
    key(name)
    quote(text, isKey: false)
  }

  mutating func number(key name: String? = nil, _ number: Int?) {
    word(name, number.map { String($0) } ?? "null")
  }

  mutating func boolean(key name: String? = nil, _ value: Bool) {
    word(name, value ? "true" : "false")
  }

  /// Writes a number as a string of hexadecimal digits, which no reader rounds.
  mutating func hexadecimal(key name: String? = nil, _ number: UInt64?) {
    string(key: name, number.map { String(hexadecimal: $0) })
  }

  /// Writes the key of a value that writes itself next.
  mutating func key(_ name: String?) {
    guard let name else { return }
    quote(name, isKey: true)
    followsKey = true
  }

  /// A line break between values, for people who look at the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  private mutating func container(
    _ name: String?, _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) -> Void
  ) {
    key(name)
    if begin() { sink.write(UInt8(ascii: ",")) }
    sink.write(opening)
    hasElement = false
    depth += 1
    body(&self)
    depth -= 1
    // It is an element itself.
    hasElement = true
    sink.write(closing)
  }

  /// Begins a key or a value; whether a comma stands before it.
  private mutating func begin() -> Bool {
    // At the outermost level values are documents of their own, one a line.
    let isSeparated = hasElement && !followsKey && depth > 0
    followsKey = false
    hasElement = true
    return isSeparated
  }

  private mutating func word(_ name: String?, _ word: String) {
    key(name)
    if begin() { sink.write(UInt8(ascii: ",")) }
    sink.write(word)
  }

  /// A text in quotes; most need no escapes and are written at one go.
  private mutating func quote(_ text: String, isKey: Bool) {
    let isSeparated = begin()
    let span = text.utf8Span.span
    guard !isInScript, Self.standsForItself(span) else {
      if isSeparated { sink.write(UInt8(ascii: ",")) }
      sink.write(UInt8(ascii: "\""))
      for scalar in text.unicodeScalars { write(scalar) }
      sink.write(isKey ? "\":" : "\"")
      return
    }
    sink.append(upTo: span.count + 4) { bytes in
      if isSeparated { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      for index in span.indices { bytes.append(span[index]) }
      bytes.append(UInt8(ascii: "\""))
      if isKey { bytes.append(UInt8(ascii: ":")) }
    }
  }

  /// Whether no byte of a text needs an escape.
  private static func standsForItself(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte >= 0x20, byte < 0x7f, byte != 0x22, byte != 0x5c else { return false }
    }
    return true
  }

  private func write(_ scalar: Unicode.Scalar) {
    sink.write(isInScript && scalar == "<" ? "\\u003c" : scalar.textInJSON)
  }
}
