/// A writer of fields, one after another: keys of JSON objects in the given order, or columns of CSV.
///
/// It is not `JSONEncoder` because the order of keys is documented, output streams, and starting must be fast. CSV is
/// quoted as RFC 4180 says. Its texts are escaped as in tables, so a line is a row and a terminal is safe. JSON keeps
/// every byte.
struct FieldWriter {
  /// Whether it writes JSON, whose fields may be objects and arrays; else it writes columns.
  let isJSON: Bool
  private let sink: ByteSink
  /// Whether the names of columns are written instead of values.
  private var isHeader = false
  // Whether a comma comes before the next value, and how many objects and arrays are open. A row counts as one.
  private var needsComma = false
  private var depth: Int
  /// The fields that each row begins with.
  var prefix: [UInt8] = []

  init(_ sink: ByteSink, isJSON: Bool = true) {
    (self.sink, self.isJSON, depth) = (sink, isJSON, isJSON ? 0 : 1)
  }

  // MARK: - Fields

  /// Writes a text of a file.
  mutating func string(key name: StaticString? = nil, _ text: String?) {
    guard begin(name), let text else { return writeNull() }
    write(text.utf8Span.span, inCSV: .quotedCell)
  }

  /// Writes a text of a file. If it is not UTF-8, JSON has its bytes under another key.
  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString) {
    guard begin(name), let text else { return writeNull() }
    let isUTF8 = write(text.span, inCSV: .quotedCell)
    if isJSON, !isUTF8 { bytes(key: bytesKey, text) }
  }

  /// Writes a text of the tool.
  mutating func message(key name: StaticString, _ text: String?) {
    guard begin(name), let text else { return writeNull() }
    write(text.utf8Span.span, inCSV: .quotedMessage)
  }

  mutating func number(key name: StaticString? = nil, _ number: Int?) {
    guard begin(name), let number else { return writeNull() }
    sink.write(decimal: number)
  }

  mutating func boolean(key name: StaticString? = nil, _ value: Bool?) {
    guard begin(name), let value else { return writeNull() }
    sink.write(word: value ? "true" : "false")
  }

  /// Writes a size in bytes. In JSON it is at most the largest `Int`.
  mutating func size(key name: StaticString, _ size: UInt64?) {
    guard begin(name), let size else { return writeNull() }
    sink.write(decimal: isJSON ? min(size, UInt64(Int.max)) : size)
  }

  /// Writes a number in base 16. In JSON it is a text, so that no reader rounds it.
  mutating func hexadecimal(key name: StaticString? = nil, _ number: UInt64?) {
    guard begin(name), let number else { return writeNull() }
    if isJSON { writeQuote() }
    sink.write(hexadecimal: number)
    if isJSON { writeQuote() }
  }

  /// Writes texts: an array in JSON, or one column.
  mutating func list(key name: StaticString, _ texts: [String], separator: String) {
    if isJSON {
      array(key: name, texts)
    } else {
      string(key: name, texts.joined(separator: separator))
    }
  }

  /// Writes JSON by `write`. In a column it is a text.
  mutating func nested(key name: StaticString, _ write: (inout Self) -> Void) {
    guard !isJSON else {
      begin(name)
      needsComma = false
      return write(&self)
    }
    let bytes = ByteSink.bytes { sink in
      var json = Self(sink)
      write(&json)
    }
    message(key: name, String(decoding: bytes, as: UTF8.self))
  }

  // MARK: - JSON

  /// Writes an object, as the value of a key if one is given. The next functions do so too.
  mutating func object(key name: StaticString? = nil, _ body: (inout Self) -> Void) {
    container(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func array(key name: StaticString? = nil, _ body: (inout Self) -> Void) {
    container(name, UInt8(ascii: "["), UInt8(ascii: "]"), body)
  }

  /// Writes an array; `write` writes each element.
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

  /// Writes an array of objects, each on a line.
  mutating func list<Element>(
    key name: StaticString, _ elements: [Element], _ body: (inout Self, Element) -> Void
  ) {
    array(key: name, elements) { element, json in
      json.lineBreak()
      json.object { body(&$0, element) }
    }
  }

  /// Writes an object on a line of its own.
  mutating func line(_ body: (inout Self) -> Void) {
    object(body)
    lineBreak()
  }

  /// Writes a document: an object that begins with the version of its schema.
  static func document(to sink: ByteSink, _ body: (inout Self) -> Void) {
    var json = Self(sink)
    json.line { json in
      json.number(key: "schema", 1)
      body(&json)
    }
  }

  /// Writes bytes as a string with two hexadecimal digits each.
  mutating func bytes(key name: StaticString, _ bytes: [UInt8]?) {
    guard begin(name), let bytes else { return writeNull() }
    writeQuote()
    sink.write(digitsOf: bytes.span)
    writeQuote()
  }

  /// Writes the key of the value that is written next.
  mutating func key(text name: String) {
    string(name)
    sink.write(UInt8(ascii: ":"))
    needsComma = false
  }

  /// Writes a line break between values, for people who read the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  // MARK: - CSV

  /// Writes the first line: the names of the fields that `write` writes.
  mutating func header(_ write: (inout Self) -> Void) {
    isHeader = true
    row(write)
    isHeader = false
  }

  /// Writes a line.
  mutating func row(_ write: (inout Self) -> Void) {
    sink.write(prefix)
    needsComma = !prefix.isEmpty
    write(&self)
    lineBreak()
  }

  // MARK: - Pieces

  /// Writes the comma and the key before a value. Returns false if only names are written.
  @inline(__always) @discardableResult
  private mutating func begin(_ name: StaticString?) -> Bool {
    if isJSON, let name {
      sink.write(key: name, follows: needsComma)
    } else if needsComma {
      sink.write(UInt8(ascii: ","))
    }
    // At the outermost level values are documents of their own, one a line.
    needsComma = depth > 0
    if isHeader, let name { sink.write(word: name) }
    return !isHeader
  }

  private func writeNull() {
    if isJSON { sink.write(word: "null") }
  }

  /// Writes a text, which CSV quotes only if it has a delimiter. Returns whether all of it is UTF-8.
  @discardableResult
  private func write(_ text: Span<UInt8>, inCSV form: TextForm) -> Bool {
    let isQuoted = isJSON || text.hasDelimiter
    if isQuoted { writeQuote() }
    let isUTF8 = sink.write(text, as: isJSON ? .json : form)
    if isQuoted { writeQuote() }
    return isUTF8
  }

  private func writeQuote() { sink.write(UInt8(ascii: "\"")) }

  private mutating func container(
    _ name: StaticString?, _ opening: UInt8, _ closing: UInt8, _ body: (inout Self) -> Void
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
}

/// An element that a command lists for an image.
///
/// Elements may be read while they are printed, so a large section is never kept as text. A failure then joins the
/// problems of the image.
protocol Tabled: SendableMetatype {
  /// Writes the JSON and CSV fields of an element; nil is for a header, which has no values.
  static func writeFields(of element: Self?, to writer: inout FieldWriter)
  /// The titles of a table's columns.
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  func addCells(to table: inout Table)
  /// Writes the rows of CSV.
  func writeRows(to csv: inout FieldWriter)
  /// Writes the part of a table below the line that names the file.
  static func writeTable(_ elements: [Self], to sink: ByteSink, _ style: Style)
}

extension Tabled {
  func writeRows(to csv: inout FieldWriter) { csv.row { Self.writeFields(of: self, to: &$0) } }

  static func writeTable(_ elements: [Self], to sink: ByteSink, _ style: Style) {
    var table = Table(titles, to: sink, style)
    for element in elements { element.addCells(to: &table) }
    table.writeRows()
  }
}

extension Span<UInt8> {
  /// Whether a field with these bytes needs quotes.
  fileprivate var hasDelimiter: Bool {
    for index in indices where self[index] == UInt8(ascii: ",") || self[index] == UInt8(ascii: "\"")
    {
      return true
    }
    return false
  }
}
