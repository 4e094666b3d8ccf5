/// Writes JSON piece by piece, keys in the order they are given.
///
/// A key order that is documented, output that streams and a start-up without an encoder's
/// machinery are why this is not `JSONEncoder`.
struct JSONWriter {
  private let sink: ByteSink
  // Whether the object or array at each depth has an element already.
  private var hasElement = [false]
  private var followsKey = false
  private let isInScript: Bool

  /// Writes to a sink; `isInScript` where the text stands in a script element, which `<` could end.
  init(_ sink: ByteSink, isInScript: Bool = false) {
    self.sink = sink
    self.isInScript = isInScript
  }

  mutating func object(_ body: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func array(_ body: (inout JSONWriter) -> Void) {
    container(UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  mutating func array(_ strings: [String]) {
    array { json in
      for text in strings { json.string(text) }
    }
  }

  /// The key of the value that is written next.
  mutating func key(_ name: String) {
    string(name)
    sink.write(UInt8(ascii: ":"))
    followsKey = true
  }

  mutating func string(_ text: String?) {
    separate()
    guard let text else {
      sink.write("null")
      return
    }
    sink.write(UInt8(ascii: "\""))
    if !isInScript,
      text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != 0x22 && $0 != 0x5c })
    {
      sink.write(text)
    } else {
      for scalar in text.unicodeScalars { write(scalar) }
    }
    sink.write(UInt8(ascii: "\""))
  }

  mutating func number(_ number: Int?) {
    separate()
    sink.write(number.map { String($0) } ?? "null")
  }

  mutating func boolean(_ value: Bool) {
    separate()
    sink.write(value ? "true" : "false")
  }

  /// A number as a string of hexadecimal digits, which no reader rounds.
  mutating func hexadecimal(_ number: UInt64?) {
    string(number.map { String(hexadecimal: $0) })
  }

  /// A line break between values, for people who look at the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  private mutating func container(
    _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) -> Void
  ) {
    separate()
    sink.write(opening)
    hasElement.append(false)
    body(&self)
    hasElement.removeLast()
    sink.write(closing)
  }

  private mutating func separate() {
    if followsKey {
      followsKey = false
      return
    }
    // At the outermost level values are documents of their own, one a line.
    let depth = hasElement.count - 1
    if depth > 0, hasElement[depth] { sink.write(UInt8(ascii: ",")) }
    hasElement[depth] = true
  }

  private func write(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": sink.write("\\\"")
    case "\\": sink.write("\\\\")
    case "\n": sink.write("\\n")
    case "\t": sink.write("\\t")
    case "<" where isInScript: sink.write("\\u003c")
    case _ where scalar.isUnprintable:
      for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
        let digits = String(unit, radix: 16)
        sink.write("\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
      }
    default: sink.write(String(scalar))
    }
  }
}
