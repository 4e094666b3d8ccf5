internal import BinaryImage

/// Something that commands list, with the fields of JSON and CSV.
protocol Listed {
  /// Writes what JSON and CSV say of an element; without one, the same fields.
  static func writeFields(of element: Self?, to writer: inout some FieldWriter)
}

/// What is also shown in columns.
protocol Tabled: Listed {
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  func addCells(to table: inout Table)
}

extension ByteSink {
  /// Writes a list that is all of a report, for programs.
  func write<Element: Listed>(
    _ elements: [Element], as key: String, in format: Presentation.Format
  ) {
    var json = JSONWriter(self)
    switch format {
    case .json:
      json.object { json in
        json.number(key: "schema", 1)
        json.key(text: key)
        json.array { json in
          for element in elements {
            json.lineBreak()
            json.object { Element.writeFields(of: element, to: &$0) }
          }
        }
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

/// What a command shows of each image, in every format.
///
/// Contents may be read while they are printed, so that a large section is never held as text;
/// what goes wrong then joins the problems of the image.
protocol Dump: Sendable {
  associatedtype Element

  /// The key of the contents in a JSON file object.
  static var contentKey: StaticString { get }
  /// What a table says in place of nothing.
  var emptyNote: String { get }

  /// Writes the keys of a JSON file object before its contents.
  func writeHead(to json: inout JSONWriter, of found: ReadImage, _ format: Presentation.Format)
  /// Writes what a table says of an image behind its name.
  func writeHeadline(of found: ReadImage, to sink: ByteSink)
  /// Writes the fields that each row of CSV begins with; without an image, the same fields.
  func writeImage(_ found: ReadImage?, to csv: inout CSVWriter)

  /// Writes the other fields of a row of nothing.
  static func writeColumns(to csv: inout CSVWriter)
  /// Writes an element of the JSON array.
  func write(_ element: Element, of found: ReadImage, to json: inout JSONWriter)
  /// Writes an element's rows.
  func writeRows(_ element: Element, of found: ReadImage, to csv: inout CSVWriter)
  /// Writes what is below the line that names the file.
  func writeTable(_ elements: [Element], of found: ReadImage, to sink: ByteSink, _ style: Style)
}

extension Dump {
  func writeHead(to json: inout JSONWriter, of found: ReadImage, _: Presentation.Format) {
    found.place.write(found.identity, to: &json)
  }

  func writeHeadline(of _: ReadImage, to _: ByteSink) {}

  func writeImage(_ found: ReadImage?, to csv: inout CSVWriter) {
    Place.writeFile(of: found?.place, to: &csv)
  }
}

extension Dump where Element: Tabled {
  static func writeColumns(to csv: inout CSVWriter) { Element.writeFields(of: nil, to: &csv) }

  func write(_ element: Element, of _: ReadImage, to json: inout JSONWriter) {
    json.object { Element.writeFields(of: element, to: &$0) }
  }

  func writeRows(_ element: Element, of _: ReadImage, to csv: inout CSVWriter) {
    csv.row { Element.writeFields(of: element, to: &$0) }
  }

  func writeTable(_ elements: [Element], of _: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table(Element.titles, to: sink, style)
    for element in elements { element.addCells(to: &table) }
    table.finish()
  }
}
