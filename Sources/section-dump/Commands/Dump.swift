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

  /// Writes an element's rows, each as the fields behind `path` and `container`.
  func writeRows(_ element: Element, of found: ReadImage, _ row: ([String]) -> Void)

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
  /// What JSON and CSV say of an element.
  static var fields: [Field<Element>] { get }
  /// What a person sees, column by column.
  static var titles: [String] { get }
  /// The cells under those titles.
  static func cells(of element: Element) -> [String]
}

extension ListDump {
  static var columns: [String] { fields.columns() }

  func write(_ element: Element, of found: ReadImage, to json: inout JSONWriter) {
    json.object { $0.fields(Self.fields, of: element) }
  }

  func writeRows(_ element: Element, of found: ReadImage, _ row: ([String]) -> Void) {
    row(Self.fields.cells(of: element))
  }

  func writeTable(_ elements: [Element], of found: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table(Self.titles)
    for element in elements { table.add(Self.cells(of: element)) }
    table.write(to: sink, style)
  }
}

/// An image that a command shows, and what is wrong with it.
final class ReadImage {
  let image: any FileImage
  var problems: [ImageError] = []

  init(_ image: any FileImage) { self.image = image }
}
