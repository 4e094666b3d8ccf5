internal import BinaryImage

/// A command's view of each image, in every format.
///
/// Contents may be read while they are printed, so that a large section is never held as text;
/// a failure then joins the problems of the image.
protocol Dump: Sendable {
  associatedtype Element

  /// The key of the contents in a JSON file object.
  static var contentKey: StaticString { get }
  /// The text of a table without rows.
  var emptyNote: String { get }

  /// Writes the keys of a JSON file object before its contents.
  func writeHead(to json: inout FieldWriter, of found: ReadImage, _ format: Presentation.Format)
  /// Writes what a table says of an image behind its name.
  func writeHeadline(of found: ReadImage, to sink: ByteSink)
  /// Writes the fields that each row of CSV begins with; without an image, the same fields.
  func writeImage(_ found: ReadImage?, to csv: inout FieldWriter)

  /// Writes the other fields of a row of nothing.
  static func writeColumns(to csv: inout FieldWriter)
  /// Writes an element of the JSON array.
  func write(_ element: Element, of found: ReadImage, to json: inout FieldWriter)
  /// Writes an element's rows.
  func writeRows(_ element: Element, of found: ReadImage, to csv: inout FieldWriter)
  /// Writes what is below the line that names the file.
  func writeTable(_ elements: [Element], of found: ReadImage, to sink: ByteSink, _ style: Style)
}

extension Dump {
  func writeHead(to json: inout FieldWriter, of found: ReadImage, _: Presentation.Format) {
    found.place.write(found.identity, to: &json)
  }

  func writeHeadline(of _: ReadImage, to _: ByteSink) {}

  func writeImage(_ found: ReadImage?, to csv: inout FieldWriter) {
    Place.writeFile(of: found?.place, to: &csv)
  }
}

extension Dump where Element: Listed {
  static func writeColumns(to csv: inout FieldWriter) { Element.writeFields(of: nil, to: &csv) }

  func write(_ element: Element, of _: ReadImage, to json: inout FieldWriter) {
    json.object { Element.writeFields(of: element, to: &$0) }
  }

  func writeRows(_ element: Element, of _: ReadImage, to csv: inout FieldWriter) {
    csv.row { Element.writeFields(of: element, to: &$0) }
  }
}

extension Dump where Element: Tabled {
  func writeTable(_ elements: [Element], of _: ReadImage, to sink: ByteSink, _ style: Style) {
    var table = Table(Element.titles, to: sink, style)
    for element in elements { element.addCells(to: &table) }
    table.writeRows()
  }
}

/// An image that a command shows, and what is wrong with it.
class ReadImage {
  let place: Place
  var problems: [ImageError]
  /// The identity from its headers, which few formats show; nil if it could not be opened.
  var identity: ImageIdentity? { nil }

  init(_ place: Place, problems: [ImageError] = []) {
    (self.place, self.problems) = (place, problems)
  }
}

/// Writes what a command shows of one image after another, in every format.
struct ImageWriter<Shown: Dump> {
  var sums = ReportSums()
  private let output: Presentation
  /// Bytes for standard output.
  let text: ByteSink
  private let style: Style
  private var json: FieldWriter
  private let put: (Piece) -> Void

  /// Makes a writer whose pieces `put` takes, in order.
  init(_ output: Presentation, _ put: @escaping (Piece) -> Void) {
    (self.output, self.put, style) = (output, put, output.style)
    text = ByteSink { bytes in
      put(Piece(kind: .output, bytes: bytes))
      return 0
    }
    json = FieldWriter(text)
  }

  /// Writes an image with its elements, which are nil where they could not be read.
  ///
  /// Writing them may find more problems. An image that `isAlone` is worth a line with nothing to show.
  mutating func show(
    _ dump: Shown, _ found: ReadImage, _ elements: [Shown.Element]?, isAlone: Bool = false
  ) {
    switch output.format {
    case .json, .ndjson: writeObject(dump, found, elements ?? [])
    case .csv:
      guard let elements, !elements.isEmpty else { break }
      var csv = FieldWriter(text, .csv)
      csv.prefix = FieldWriter.columns { dump.writeImage(found, to: &$0) }
      for element in elements { dump.writeRows(element, of: found, to: &csv) }
    case .table: writeTable(dump, found, elements, isAlone)
    }
    report(found.problems, path: found.place.file)
  }

  /// Says what is wrong beside all images.
  mutating func note(_ error: ImageError) { report([error], path: error.image) }

  private mutating func writeObject(
    _ dump: Shown, _ found: ReadImage, _ elements: [Shown.Element]
  ) {
    text.write(word: output.format.separator)
    json.object { json in
      dump.writeHead(to: &json, of: found, output.format)
      json.array(key: Shown.contentKey) { json in
        for element in elements { dump.write(element, of: found, to: &json) }
      }
      json.array(key: "problems", found.problems) { $0.write(to: &$1) }
    }
    if output.format == .ndjson { json.lineBreak() }
    sums.shown += 1
  }

  private mutating func writeTable(
    _ dump: Shown, _ found: ReadImage, _ elements: [Shown.Element]?, _ isAlone: Bool
  ) {
    let isEmpty = elements?.isEmpty ?? true
    // An empty result is one that was looked for.
    if elements == nil { sums.unread += 1 } else if isEmpty { sums.empty += 1 }
    // Tables of many files leave out what has nothing to show, and need not know what it is.
    guard !isEmpty || isAlone else { return }
    text.write(word: output.format.separator)
    sums.shown += 1
    found.place.writeHeading(of: found.identity, to: text, style)
    dump.writeHeadline(of: found, to: text)
    if let elements, !isEmpty {
      text.write(word: "\n")
      dump.writeTable(elements, of: found, to: text, style)
    } else {
      text.write(found.problems.isEmpty ? "  \(dump.emptyNote)\n" : "\n")
    }
  }

  /// Says why something of the file at `path` could not be read or was refused.
  private mutating func report(_ problems: [ImageError], path: String) {
    guard !problems.isEmpty else { return }
    sums.hasProblems = true
    text.flush()
    let lines = ByteSink.bytes { sink in
      for problem in problems { sink.say(problem.line(path: path)) }
    }
    put(Piece(kind: .errors, bytes: lines))
  }
}
