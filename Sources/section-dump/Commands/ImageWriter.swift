internal import BinaryImage
internal import ObjectFiles

/// An image that a command shows, and its problems.
final class ReadImage {
  let place: Place
  var problems: [ImageError]
  /// The size of the entries that were read.
  var entrySize = 0
  /// The process that has it mapped, and the mapping; nil for a file.
  let mapping: (pid: Int?, image: RemoteMapping)?
  private let image: (any Image)?
  /// The identity from its headers, which few formats show; nil if it could not be opened.
  var identity: ImageIdentity? { image?.identity }

  init(
    _ place: Place, _ image: (any Image)? = nil, problems: [ImageError] = [],
    mapping: (pid: Int?, image: RemoteMapping)? = nil
  ) {
    (self.place, self.image, self.problems, self.mapping) = (place, image, problems, mapping)
  }
}

/// A writer of one image after another, in every format.
struct ImageWriter<Element: Tabled> {
  var sums = ReportSums()
  private let format: OutputFormat
  private let (key, emptyNote): (StaticString, String)
  /// Bytes for standard output.
  let text: ByteSink
  private let style: Style
  private var json: FieldWriter
  private let put: (Piece) -> Void

  /// Makes a writer whose pieces `put` takes, in order.
  init(
    _ format: OutputFormat, _ style: Style, key: StaticString, emptyNote: String,
    _ put: @escaping (Piece) -> Void
  ) {
    (self.format, self.style, self.put) = (format, style, put)
    (self.key, self.emptyNote) = (key, emptyNote)
    text = ByteSink { bytes in
      put((isError: false, bytes: bytes))
      return 0
    }
    json = FieldWriter(text)
  }

  /// Writes an image with its elements, which are nil if they could not be read.
  ///
  /// Writing them may find more problems. An image that `isAlone` gets a line even if it has nothing to show.
  mutating func show(_ found: ReadImage, _ elements: [Element]?, isAlone: Bool = false) {
    switch format {
    case .json, .ndjson: writeObject(found, elements ?? [])
    case .csv:
      guard let elements, !elements.isEmpty else { break }
      var csv = FieldWriter(text, isJSON: false)
      csv.prefix = ByteSink.bytes { sink in
        var file = FieldWriter(sink, isJSON: false)
        found.writeColumns(to: &file)
      }
      for element in elements { element.writeRows(to: &csv) }
    case .table: writeTable(found, elements, isAlone)
    }
    report(found.problems, path: found.place.file)
  }

  /// Writes the reason that nothing of a file or an image can be shown.
  mutating func note(_ error: ImageError, at place: Place) {
    show(ReadImage(place, problems: [error]), nil)
  }

  private mutating func writeObject(_ found: ReadImage, _ elements: [Element]) {
    text.write(word: format.separator)
    json.object { json in
      if let mapping = found.mapping, format == .ndjson {
        json.number(key: "pid", mapping.pid)
      }
      found.place.write(found.identity, to: &json)
      if let mapping = found.mapping { ReadImage.writeMapping(mapping.image, to: &json) }
      json.array(key: key, elements) { element, json in
        json.object { Element.writeFields(of: element, to: &$0) }
      }
      json.array(key: "problems", found.problems) { $0.write(to: &$1) }
    }
    if format == .ndjson { json.lineBreak() }
    sums.shown += 1
  }

  private mutating func writeTable(_ found: ReadImage, _ elements: [Element]?, _ isAlone: Bool) {
    let isEmpty = elements?.isEmpty ?? true
    // A result is empty only if the elements could be read.
    if elements == nil { sums.unread += 1 } else if isEmpty { sums.empty += 1 }
    // Tables of many files leave out images with nothing to show, and do not even name them.
    guard !isEmpty || isAlone else { return }
    text.write(word: format.separator)
    sums.shown += 1
    found.place.writeHeading(of: found.identity, to: text, style)
    if let mapping = found.mapping?.image {
      let fate =
        mapping.isReplaced ? ", replaced since" : mapping.isDeleted ? ", deleted since" : ""
      text.write("  mapped at \(mapping.base.hexadecimal)\(fate)")
    }
    if let elements, !isEmpty {
      text.write(word: "\n")
      Element.writeTable(elements, to: text, style)
    } else {
      text.write(found.problems.isEmpty ? "  \(emptyNote)\n" : "\n")
    }
  }

  /// Writes the problems of the file at `path` to standard error.
  mutating func report(_ problems: [ImageError], path: String) {
    guard !problems.isEmpty else { return }
    sums.failed += 1
    text.flush()
    let lines = ByteSink.bytes { sink in
      for problem in problems { sink.say(problem.line(path: path)) }
    }
    put((isError: true, bytes: lines))
  }
}
