/// Something that commands list, with the fields of JSON and CSV.
protocol Listed {
  /// Writes what JSON and CSV say of an element; without one, the same fields.
  static func writeFields(of element: Self?, to writer: inout some FieldWriter)
}

/// An element of what commands list of an image.
///
/// Elements may be read while they are printed, so that a large section is never held as text;
/// a failure then joins the problems of the image.
protocol Tabled: Listed, SendableMetatype {
  /// The titles of a table's columns.
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  func addCells(to table: inout Table)
  /// Writes the rows of CSV.
  func writeRows(to csv: inout CSVWriter)
  /// Writes what a table has below the line that names the file.
  static func writeTable(_ elements: [Self], to sink: ByteSink, _ style: Style)
}

extension Tabled {
  func writeRows(to csv: inout CSVWriter) { csv.row { Self.writeFields(of: self, to: &$0) } }

  static func writeTable(_ elements: [Self], to sink: ByteSink, _ style: Style) {
    var table = Table(titles, to: sink, style)
    for element in elements { element.addCells(to: &table) }
    table.writeRows()
  }
}

/// Takes the fields of what is listed, one after another: keys of a JSON object, or columns of CSV.
protocol FieldWriter {
  /// Whether a field may be an object or an array.
  static var nests: Bool { get }

  /// Takes a text of a file.
  mutating func string(key name: StaticString?, _ text: String?)
  /// Takes a text of a file that need not be UTF-8; JSON has its bytes as another key then.
  mutating func string(key name: StaticString, _ text: [UInt8]?, bytesKey: StaticString)
  /// Takes a text of the tool.
  mutating func message(key name: StaticString?, _ text: String?)
  mutating func number(key name: StaticString?, _ number: Int?)
  mutating func boolean(key name: StaticString?, _ value: Bool?)
  /// Takes a size in bytes; JSON says one that is larger than any number of its readers as the largest.
  mutating func size(key name: StaticString?, _ size: UInt64?)
  mutating func hexadecimal(key name: StaticString?, _ number: UInt64?)
  /// Takes texts, which CSV has as one.
  mutating func list(key name: StaticString, _ texts: [String], separator: String)
  /// Takes what `write` writes as JSON, which is a text in CSV.
  mutating func nested(key name: StaticString, _ write: (inout JSONWriter) -> Void)
}

extension ByteSink {
  /// Writes a list that is all of a report, for programs.
  func write<Element: Listed>(
    _ elements: [Element], as key: StaticString, in format: Presentation.Format
  ) {
    var json = JSONWriter(self)
    switch format {
    case .json:
      json.object { json in
        json.number(key: "schema", 1)
        json.list(key: key, elements) { Element.writeFields(of: $1, to: &$0) }
      }
      json.lineBreak()
    case .ndjson:
      for element in elements {
        json.object { Element.writeFields(of: element, to: &$0) }
        json.lineBreak()
      }
    case .csv, .table:
      var csv = CSVWriter(self)
      csv.header { Element.writeFields(of: nil, to: &$0) }
      for element in elements { csv.row { Element.writeFields(of: element, to: &$0) } }
    }
  }
}
