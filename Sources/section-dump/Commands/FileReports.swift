internal import BinaryImage
internal import ObjectFiles

/// Reads files one after another and says, in pieces, what a command shows of them.
struct FileReports<Shown: Dump> {
  private(set) var sums = ReportSums()
  private var dump: Shown
  private let inputs: Inputs
  private let output: Presentation
  private let style: Style
  private let stream: PieceStream
  private var text: ByteSink { stream.text }
  private var json: JSONWriter

  init(_ dump: Shown, _ inputs: Inputs, _ output: Presentation, to stream: PieceStream) {
    self.dump = dump
    self.inputs = inputs
    self.output = output
    self.stream = stream
    style = output.style
    json = JSONWriter(stream.text)
    sums.wanted = dump.wanted
  }

  /// Reports one file, or why there is none.
  mutating func read(_ file: Result<Input, ImageError>) {
    sums.files += 1
    let before = sums.shown + sums.empty
    switch (file, inputs.child) {
    case (.success(let input), let child?): read(input, by: child)
    case (.success(let input), nil): read(input)
    case (.failure(let error), _): show(nil, nil, at: Place(path: error.image), unread: [error])
    }
    if case .success(let input) = file, sums.first.count < 10, sums.shown + sums.empty > before {
      sums.first.append(input)
    }
  }

  /// Hands on what was not handed on yet.
  func finish() { text.flush() }

  /// Has a child report a file; what it is worth is only known once the child has ended.
  private mutating func read(_ input: Input, by child: IsolatedChild) {
    do throws(ImageError) {
      try child.read(input, style: style) { piece, bytes in
        if piece != .sums { stream.send(piece, bytes) }
        if piece == .sums, let more = try? ReportSums(coded: bytes), more.isSensible {
          sums.add(more)
        }
      }
    } catch {
      show(nil, nil, at: input.place(), unread: [error])
    }
  }

  private mutating func read(_ input: Input) {
    var (isShown, refusal): (Bool, ImageError?) = (false, nil)
    dump.wanted.isAskedForNames = input.isAskedForNames
    input.forEachImage(architecture: inputs.architecture) { found in
      sums.holdsMany = sums.holdsMany || !found.container.isEmpty
      let place = input.place(in: found.container)
      do throws(ImageError) {
        let found = ReadImage(try found.image.get())
        show(found, try contents(of: found, in: place, of: input), at: place)
        isShown = true
      } catch {
        if input.mayOmit(error, in: place.container) {
          sums.skipped += 1
          if error.code == .noEntries { refusal = refusal ?? error }
        } else {
          show(nil, nil, at: place, unread: [error])
          isShown = true
        }
      }
    }
    // What was named, and has nothing that the command reads, is no empty result.
    if let refusal, !isShown, !input.isFound {
      show(nil, nil, at: input.place(), unread: [refusal])
    }
    sums.wanted = dump.wanted
  }

  /// What is to be shown; nil where it cannot be read. Throws where the image may be left out.
  private mutating func contents(
    of found: ReadImage, in place: Place, of input: Input
  ) throws(ImageError) -> [Shown.Element]? {
    var elements: [Shown.Element]?
    do throws(ImageError) {
      elements = try dump.read(found)
    } catch {
      if input.mayOmit(error, in: place.container) { throw error }
      found.problems.append(error)
    }
    do throws(ImageError) {
      try found.image.checkExtents()
    } catch {
      // The same cause is told once.
      if !found.problems.contains(where: { $0.code == error.code }) { found.problems.append(error) }
    }
    return elements
  }

  private mutating func show(
    _ found: ReadImage?, _ elements: [Shown.Element]?, at place: Place, unread: [ImageError] = []
  ) {
    // Writing contents may add some.
    var problems: [ImageError] { found?.problems ?? unread }
    switch output.format {
    case .json, .ndjson:
      stream.send(.item)
      json.object { json in
        place.write(found?.image.identity, to: &json)
        json.array(key: Shown.contentKey) { json in
          guard let found, let elements else { return }
          for element in elements { dump.write(element, of: found, to: &json) }
        }
        json.array(key: "problems", problems) { $0.write(to: &$1) }
      }
      if output.format == .ndjson { text.write(word: "\n") }
      sums.shown += 1
    case .csv:
      guard let found, let elements else { break }
      var csv = CSVWriter(text)
      for element in elements {
        dump.writeRows(element, of: found, to: &csv) { place.writeFile(to: &$0) }
      }
    case .table:
      let isEmpty = elements?.isEmpty ?? true
      // An empty result is one that was looked for.
      if elements == nil { sums.unread += 1 } else if isEmpty { sums.empty += 1 }
      // The one image that was named is worth a line with nothing to show.
      let isAlone = inputs.isSingle && place.container.isEmpty
      // Tables of many files leave out what has nothing to show, and need not know what it is.
      guard let found, !isEmpty || isAlone else { break }
      stream.send(.item)
      sums.shown += 1
      place.writeHeading(of: found.image.identity, to: text, style)
      if let elements, !isEmpty {
        text.write(word: "\n")
        dump.writeTable(elements, of: found, to: text, style)
      } else {
        text.write(problems.isEmpty ? "  \(dump.emptyNote)\n" : "\n")
      }
    }
    if !problems.isEmpty { sums.hasProblems = true }
    stream.report(problems, path: place.file)
  }
}
