/// Writes fields one after another: as keys of JSON objects, in the order they are given, or as columns of CSV.
///
/// A key order that is documented, output that streams and a start-up without an encoder's
/// machinery are why this is not `JSONEncoder`. CSV is quoted as RFC 4180 says; its texts are escaped as in
/// tables, so a line is a row and a terminal is safe. JSON keeps every byte.
struct FieldWriter {
  /// Whether a field may be an object or an array; else fields are columns.
  let isJSON: Bool
  private let sink: ByteSink
  /// Whether the names of columns are written, and not what they say.
  private var isHeader = false
  // Whether a comma comes before the next value, and how many objects and arrays are open: a row is one.
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

  /// Writes a text of a file that need not be UTF-8; JSON has its bytes as another key then.
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

  /// Writes a size in bytes; JSON says one that is larger than any number of its readers as the largest.
  mutating func size(key name: StaticString, _ size: UInt64?) {
    guard begin(name), let size else { return writeNull() }
    sink.write(decimal: isJSON ? min(size, UInt64(Int.max)) : size)
  }

  /// Writes a number in base 16, which is a text in JSON, so that no reader rounds it.
  mutating func hexadecimal(key name: StaticString? = nil, _ number: UInt64?) {
    guard begin(name), let number else { return writeNull() }
    if isJSON { writeQuote() }
    sink.write(hexadecimal: number)
    if isJSON { writeQuote() }
  }

  /// Writes texts: an array, or one column.
  mutating func list(key name: StaticString, _ texts: [String], separator: String) {
    if isJSON {
      array(key: name, texts)
    } else {
      string(key: name, texts.joined(separator: separator))
    }
  }

  /// Writes what `write` writes as JSON, which is a text in a column.
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

  /// Writes an object, as the value of a key where it is given one; the others do so too.
  mutating func object(key name: StaticString? = nil, _ body: (inout Self) -> Void) {
    container(name, UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  mutating func array(key name: StaticString? = nil, _ body: (inout Self) -> Void) {
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

  /// Writes bytes as a string of two hexadecimal digits for each.
  mutating func bytes(key name: StaticString, _ bytes: [UInt8]?) {
    guard begin(name), let bytes else { return writeNull() }
    writeQuote()
    sink.write(digitsOf: bytes.span)
    writeQuote()
  }

  /// Writes the key of a value that writes itself next.
  mutating func key(text name: String) {
    string(name)
    sink.write(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A line break between values, for people who look at the document.
  func lineBreak() { sink.write(UInt8(ascii: "\n")) }

  // MARK: - CSV

  /// Writes the first line: the names of the fields that `write` writes of nothing.
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

  /// Writes what is before a value: a comma, and its key. Returns false if only names are written.
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

  /// Writes a text, which CSV quotes only if it has a delimiter; returns whether all of it is UTF-8.
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

/// An element of what commands list of an image.
///
/// Elements may be read while they are printed, so that a large section is never held as text;
/// a failure then joins the problems of the image.
protocol Tabled: SendableMetatype {
  /// Writes what JSON and CSV say of an element; without one, the same fields, whose values a header leaves out.
  static func writeFields(of element: Self?, to writer: inout FieldWriter)
  /// The titles of a table's columns.
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  func addCells(to table: inout Table)
  /// Writes the rows of CSV.
  func writeRows(to csv: inout FieldWriter)
  /// Writes what a table has below the line that names the file.
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
  /// Whether a field with these bytes stands between quotes.
  fileprivate var hasDelimiter: Bool {
    for index in indices where self[index] == UInt8(ascii: ",") || self[index] == UInt8(ascii: "\"")
    {
      return true
    }
    return false
  }
}
