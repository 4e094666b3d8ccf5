internal import BinaryImage

/// An image that a command shows, and what is wrong with it.
class ReadImage {
  let place: Place
  /// What its headers say; nil where it could not be opened.
  let identity: ImageIdentity?
  var problems: [ImageError]

  init(_ place: Place, _ identity: ImageIdentity?, problems: [ImageError] = []) {
    (self.place, self.identity, self.problems) = (place, identity, problems)
  }
}

/// Writes what a command shows of one image after another, in every format.
struct ImageWriter<Shown: Dump> {
  var sums = ReportSums()
  let output: Presentation
  /// Bytes for standard output.
  let text: ByteSink
  private let style: Style
  private var json: JSONWriter
  private let put: (Piece) -> Void

  /// Makes a writer whose pieces `put` takes, in order.
  init(_ output: Presentation, _ put: @escaping (Piece) -> Void) {
    (self.output, self.put, style) = (output, put, output.style)
    text = ByteSink { bytes in
      put(Piece(kind: .output, bytes: bytes))
      return 0
    }
    json = JSONWriter(text)
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
      var csv = CSVWriter(text)
      csv.prefix = CSVWriter.fields { dump.writeImage(found, to: &$0) }
      for element in elements ?? [] { dump.writeRows(element, of: found, to: &csv) }
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
