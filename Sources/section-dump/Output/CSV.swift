/// Writes lines of comma-separated values, as RFC 4180 quotes them.
///
/// Texts are escaped as in tables, so a line is a row and a terminal is safe; the JSON formats keep
/// every byte.
struct CSVWriter {
  private let sink: ByteSink
  private var isFirst = true
  /// Whether the names of fields are written in place of what they say.
  private var isHeader = false
  /// The fields that each row begins with.
  var prefix: [UInt8] = []

  init(_ sink: ByteSink) { self.sink = sink }

  /// Writes the first line: the names of the fields that `write` writes of nothing.
  mutating func header(_ write: (inout Self) -> Void) {
    isHeader = true
    row(write)
    isHeader = false
  }

  /// Writes a line.
  mutating func row(_ write: (inout Self) -> Void) {
    sink.write(prefix)
    isFirst = prefix.isEmpty
    write(&self)
    sink.write(UInt8(ascii: "\n"))
  }

  /// The bytes of the fields that `write` writes, to begin rows with.
  static func fields(_ write: (inout Self) -> Void) -> [UInt8] {
    ByteSink.bytes { sink in
      var csv = Self(sink)
      write(&csv)
    }
  }

  private mutating func begin(_ name: StaticString?) {
    if !isFirst { sink.write(UInt8(ascii: ",")) }
    isFirst = false
    if isHeader, let name { sink.write(word: name) }
  }

  private func field(_ text: Span<UInt8>, _ plain: TextForm, _ quoted: TextForm) {
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
    begin(name)
    if let text { field(text.utf8Span.span, .cell, .quotedCell) }
  }

  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString) {
    begin(name)
    if let text { field(text.span, .cell, .quotedCell) }
  }

  mutating func message(key name: StaticString?, _ text: String?) {
    begin(name)
    if let text { field(text.utf8Span.span, .message, .quotedMessage) }
  }

  mutating func number(key name: StaticString?, _ number: Int?) {
    begin(name)
    if let number { sink.write(decimal: number) }
  }

  mutating func boolean(key name: StaticString?, _ value: Bool?) {
    begin(name)
    if let value { sink.write(word: value ? "true" : "false") }
  }

  mutating func size(key name: StaticString?, _ size: UInt64?) {
    begin(name)
    if let size { sink.write(decimal: size) }
  }

  mutating func hexadecimal(key name: StaticString?, _ number: UInt64?) {
    begin(name)
    if let number { sink.write(hexadecimal: number) }
  }

  mutating func list(key name: StaticString, _ texts: [String], separator: String) {
    string(key: name, texts.joined(separator: separator))
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
