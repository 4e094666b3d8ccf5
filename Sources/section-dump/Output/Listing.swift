/// Something that commands list, with the fields of JSON and CSV.
protocol Listed {
  /// Writes what JSON and CSV say of an element; without one, the same fields.
  static func writeFields(of element: Self?, to writer: inout FieldWriter)
}

/// An element that tables show in columns too.
protocol Tabled: Listed {
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  func addCells(to table: inout Table)
}

extension ByteSink {
  /// Writes a list that is all of a report, for programs.
  func write<Element: Listed>(
    _ elements: [Element], as key: StaticString, in format: Presentation.Format
  ) {
    var json = FieldWriter(self)
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
      var csv = FieldWriter(self, .csv)
      csv.header { Element.writeFields(of: nil, to: &$0) }
      for element in elements { csv.row { Element.writeFields(of: element, to: &$0) } }
    }
  }
}
