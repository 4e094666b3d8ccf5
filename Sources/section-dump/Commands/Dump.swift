internal import BinaryImage

/// What a command shows of each image, in every format.
///
/// Contents may be read while they are printed, so that a large section is never held as text;
/// what goes wrong then joins the problems of the image.
protocol Dump: Sendable {
  associatedtype Element

  /// The key of the contents in a JSON file object.
  static var contentKey: StaticString { get }
  /// The first line of CSV, behind `path` and `container`.
  static var columns: [String] { get }

  /// What is looked for in the files, and whether it was found so far.
  var wanted: Wanted { get set }

  /// Finds what is to be shown.
  mutating func read(_ found: ReadImage) throws(ImageError) -> [Element]

  /// What a table says in place of nothing.
  var emptyNote: String { get }
  /// What the files are that were found and left out.
  var skippedNote: String { get }

  /// Writes an element of the JSON array.
  func write(_ element: Element, of found: ReadImage, to json: inout JSONWriter)

  /// Writes an element's rows, each begun by `begin` with `path` and `container`.
  func writeRows(
    _ element: Element, of found: ReadImage, to csv: inout CSVWriter,
    _ begin: (inout CSVWriter) -> Void)

  /// Writes what is below the line that names the file.
  func writeTable(_ elements: [Element], of found: ReadImage, to sink: ByteSink, _ style: Style)
}

extension Dump {
  /// What a directory holds beside object files.
  var skippedNote: String { "no object files" }

  /// Nothing where a command has no such option.
  var wanted: Wanted {
    get { Wanted() }
    set {}
  }
}

/// What a command shows as a list, an element a row.
protocol ListDump: Dump {
  /// Writes what JSON and CSV say of an element; without one, the same fields.
  static func writeFields(of element: Element?, to writer: inout some FieldWriter)
  /// What a person sees, column by column.
  static var titles: [String] { get }
  /// Adds the cells under those titles.
  static func addCells(of element: Element, to table: inout Table)
}

extension ListDump {
  static var columns: [String] { FieldNames { writeFields(of: nil, to: &$0) }.names }

  func write(_ element: Element, of found: ReadImage, to json: inout JSONWriter) {
    json.object { Self.writeFields(of: element, to: &$0) }
  }

  func writeRows(
    _ element: Element, of found: ReadImage, to csv: inout CSVWriter,
    _ begin: (inout CSVWriter) -> Void
  ) {
    begin(&csv)
    Self.writeFields(of: element, to: &csv)
    csv.endRow()
  }

  func writeTable(_ elements: [Element], of found: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table(Self.titles, to: sink, style)
    for element in elements { Self.addCells(of: element, to: &table) }
    table.finish()
  }
}

/// An image that a command shows, and what is wrong with it.
final class ReadImage {
  let image: any FileImage
  var problems: [ImageError] = []
  /// The texts that its slots lead to.
  lazy var texts = SlotTexts(of: image, showsWhole: false, maxBytes: Inputs.defaultMaxBytes)

  init(_ image: any FileImage) { self.image = image }
}
