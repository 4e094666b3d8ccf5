/// Writes JSON piece by piece, keys in the order they are given.
///
/// A key order that is documented, output that streams and a start-up without an encoder's
/// machinery are why this is not `JSONEncoder`.
struct JSONWriter: FieldWriter {
  static var nests: Bool { true }

  private let sink: ByteSink
  // Whether a comma comes before the next value, and how many objects and arrays are open.
  private var needsComma = false
  private var depth = 0

  init(_ sink: ByteSink) { self.sink = sink }

  /// Writes an object, as the value of a key where it is given one; the others do so too.
  mutating func object(key name: StaticString? = nil, _ body: (inout JSONWriter) -> Void) {
    container(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func array(key name: StaticString? = nil, _ body: (inout JSONWriter) -> Void) {
    container(name, UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  /// Writes an array of what `write` makes of each element.
  mutating func array<Element>(
    key name: StaticString? = nil, _ elements: [Element], _ write: (Element, inout Self) -> Void
  ) {
    array(key: name) { json in
      for element in elements { write(element, &json) }
    }
  }

  mutating func array(key name: StaticString? = nil, _ strings: [String]) {
    array(key: name, strings) { $1.string($0) }
  }

  mutating func array(key name: StaticString? = nil, _ numbers: [Int]) {
    array(key: name, numbers) { $1.number($0) }
  }

  /// Writes an array of objects, each on a line.
  mutating func list<Element>(
    key name: StaticString, _ elements: [Element], _ body: (inout Self, Element) -> Void
  ) {
    array(key: name, elements) { element, json in
      json.lineBreak()
      json.object { body(&$0, element) }
    }
  }

  mutating func string(key name: StaticString? = nil, _ text: String?) {
    begin(name)
    guard let text else { return sink.write(word: "null") }
    quote { $0.write(text, as: .json) }
  }

  /// Writes a text; if it is no UTF-8, its bytes as the value of another key.
  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString) {
    guard let text else { return string(key: name, nil) }
    begin(name)
    var isUTF8 = true
    quote { isUTF8 = $0.write(text.span, as: .json) }
    if !isUTF8 { bytes(key: bytesKey, text) }
  }

  /// Writes bytes as a string of two hexadecimal digits for each.
  mutating func bytes(key name: StaticString, _ bytes: [UInt8]?) {
    begin(name)
    guard let bytes else { return sink.write(word: "null") }
    quote { $0.write(digitsOf: bytes.span) }
  }

  mutating func number(key name: StaticString? = nil, _ number: Int?) {
    begin(name)
    if let number { sink.write(decimal: number) } else { sink.write(word: "null") }
  }

  mutating func boolean(key name: StaticString? = nil, _ value: Bool?) {
    begin(name)
    sink.write(word: value.map { $0 ? "true" : "false" } ?? "null")
  }

  /// Writes a number as a string of hexadecimal digits, which no reader rounds.
  mutating func hexadecimal(key name: StaticString? = nil, _ number: UInt64?) {
    begin(name)
    guard let number else { return sink.write(word: "null") }
    quote { $0.write(hexadecimal: number) }
  }

  /// Writes the key of a value that writes itself next.
  mutating func key(_ name: StaticString) {
    begin(name)
    needsComma = false
  }

  /// The same with a key that any text can be.
  mutating func key(text name: String) {
    string(name)
    sink.write(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func message(key name: StaticString?, _ text: String?) { string(key: name, text) }

  mutating func size(key name: StaticString?, _ size: UInt64?) {
    number(key: name, size.map { Int(clamping: $0) })
  }

  mutating func list(key name: StaticString, _ texts: [String], separator _: String) {
    array(key: name, texts)
  }

  mutating func nested(key name: StaticString, _ write: (inout JSONWriter) -> Void) {
    key(name)
    write(&self)
  }

  /// A line break between values, for people who look at the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  private mutating func container(
    _ name: StaticString?, _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) -> Void
  ) {
    begin(name)
    sink.write(opening)
    needsComma = false
    depth += 1
    body(&self)
    depth -= 1
    sink.write(closing)
    needsComma = depth > 0
  }

  private func quote(_ body: (ByteSink) -> Void) {
    sink.write(UInt8(ascii: "\""))
    body(sink)
    sink.write(UInt8(ascii: "\""))
  }

  /// Writes what is before a value: a comma, and its key.
  private mutating func begin(_ name: StaticString?) {
    if let name {
      sink.write(key: name, follows: needsComma)
    } else if needsComma {
      sink.write(UInt8(ascii: ","))
    }
    // At the outermost level values are documents of their own, one a line.
    needsComma = depth > 0
  }
}
