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

  /// Writes to a sink; `isInScript` where the text is in a script element, which `<` could end.
  init(_ sink: ByteSink, isInScript: Bool = false) {
    self.sink = sink
    self.isInScript = isInScript
  }

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

  mutating func string(key name: StaticString? = nil, _ text: String?) {
    guard let text else {
      word(name, "null")
      return
    }
    let escaped = escaped(text)
    let span = escaped.utf8Span.span
    put(name, upTo: span.count + 2) { bytes in
      bytes.append(UInt8(ascii: "\""))
      bytes.append(copying: span)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  mutating func number(key name: StaticString? = nil, _ number: Int?) {
    word(name, number.map { String($0) } ?? "null")
  }

  mutating func boolean(key name: StaticString? = nil, _ value: Bool) {
    word(name, value ? "true" : "false")
  }

  /// Writes a number as a string of hexadecimal digits, which no reader rounds.
  mutating func hexadecimal(key name: StaticString? = nil, _ number: UInt64?) {
    string(key: name, number.map(\.hexadecimal))
  }

  /// Writes the key of a value that writes itself next; any text can be one.
  mutating func key(_ name: String) {
    string(name)
    sink.write(UInt8(ascii: ":"))
    followsKey = true
  }

  /// A line break between values, for people who look at the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  private mutating func container(
    _ name: StaticString?, _ opening: UInt8, _ closing: UInt8, _ body: (inout JSONWriter) -> Void
  ) {
    put(name, upTo: 1) { $0.append(opening) }
    hasElement = false
    depth += 1
    body(&self)
    depth -= 1
    // It is an element itself.
    hasElement = true
    sink.write(closing)
  }

  private mutating func word(_ name: StaticString?, _ word: String) {
    let span = word.utf8Span.span
    put(name, upTo: span.count) { $0.append(copying: span) }
  }

  /// Writes a value of at most `count` bytes at one go with what comes before it: a comma and its key, which
  /// is written as it is.
  private mutating func put(
    _ name: StaticString?, upTo count: Int, _ value: (inout OutputSpan<UInt8>) -> Void
  ) {
    // At the outermost level values are documents of their own, one a line.
    let isSeparated = hasElement && !followsKey && depth > 0
    (followsKey, hasElement) = (false, true)
    sink.append(upTo: (name?.utf8CodeUnitCount ?? 0) + 4 + count) { bytes in
      if isSeparated { bytes.append(UInt8(ascii: ",")) }
      if let name {
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(copying: unsafe $0.span) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
      }
      value(&bytes)
    }
  }

  /// A text as it is between quotes: most are themselves.
  private func escaped(_ text: String) -> String {
    guard isInScript || !Self.standsForItself(text.utf8Span.span) else { return text }
    return text.unicodeScalars.map { isInScript && $0 == "<" ? "\\u003c" : $0.textInJSON }.joined()
  }

  /// Whether no byte of a text needs an escape.
  private static func standsForItself(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices {
      let byte = bytes[index]
      guard byte >= 0x20, byte < 0x7f, byte != 0x22, byte != 0x5c else { return false }
    }
    return true
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func append(copying bytes: Span<UInt8>) {
    // Sound: the caller has made room for as many bytes more.
    unsafe withUnsafeMutableBufferPointer { all, used in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        precondition(bytes.count <= all.count - used, "there is room for what was announced")
        guard let from = bytes.baseAddress, let start = all.baseAddress else { return }
        unsafe (start + used).initialize(from: from, count: bytes.count)
        used += bytes.count
      }
    }
  }
}
