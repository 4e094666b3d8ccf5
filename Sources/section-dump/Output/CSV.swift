internal import BinaryImage

/// Writes lines of comma-separated values, as RFC 4180 quotes them.
///
/// Texts are escaped as in tables, so a line is a row and a terminal is safe; the JSON formats keep
/// every byte.
struct CSVWriter {
  private let sink: ByteSink
  private var isFirst = true

  init(_ sink: ByteSink) { self.sink = sink }

  /// Writes a row of words of the tool.
  mutating func row(_ words: [String]) {
    for word in words { message(key: nil, word) }
    endRow()
  }

  mutating func endRow() {
    sink.write(UInt8(ascii: "\n"))
    isFirst = true
  }

  private mutating func begin() {
    if !isFirst { sink.write(UInt8(ascii: ",")) }
    isFirst = false
  }

  private mutating func field(_ text: Span<UInt8>, _ plain: TextForm, _ quoted: TextForm) {
    begin()
    guard text.hasDelimiter else {
      sink.write(text, as: plain)
      return
    }
    sink.write(UInt8(ascii: "\""))
    sink.write(text, as: quoted)
    sink.write(UInt8(ascii: "\""))
  }
}

extension CSVWriter: FieldWriter {
  static var nests: Bool { false }

  mutating func string(key name: StaticString?, _ text: String?) {
    if let text { field(text.utf8Span.span, .cell, .quotedCell) } else { begin() }
  }

  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString) {
    if let text { field(text.span, .cell, .quotedCell) } else { begin() }
  }

  mutating func message(key name: StaticString?, _ text: String?) {
    if let text { field(text.utf8Span.span, .message, .quotedMessage) } else { begin() }
  }

  mutating func number(key name: StaticString?, _ number: Int?) {
    begin()
    if let number { sink.write(decimal: number) }
  }

  mutating func size(key name: StaticString?, _ size: UInt64?) {
    begin()
    if let size { sink.write(decimal: size) }
  }

  mutating func hexadecimal(key name: StaticString?, _ number: UInt64?) {
    begin()
    if let number { sink.write(hexadecimal: number) }
  }

  mutating func nested(key name: StaticString, _ write: (inout JSONWriter) -> Void) {
    let bytes = ByteSink.bytes { sink in
      var json = JSONWriter(sink)
      write(&json)
    }
    message(key: name, String(decoding: bytes, as: UTF8.self))
  }
}

extension Span<UInt8> {
  /// Whether a field with these bytes stands between quotes.
  fileprivate var hasDelimiter: Bool {
    for index in indices where self[index] == UInt8(ascii: ",") || self[index] == UInt8(ascii: "\"")
    {
      return true
    }
    return false
  }
}
