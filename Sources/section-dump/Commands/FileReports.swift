internal import BinaryImage
internal import ObjectFiles

/// Reads files one after another and says, in pieces, what a command shows of them.
struct FileReports<Shown: Dump> {
  /// What the reports of some files amount to.
  struct Sums: Sendable {
    var (shown, empty, skipped, unread) = (0, 0, 0, 0)
    var hasProblems = false
    var holdsMany = false
    var files = 0
    /// What is looked for, and whether these files have it.
    var wanted = Wanted()
  }

  private(set) var sums = Sums()
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
    switch (file, inputs.child) {
    case (.success(let input), let child?): read(input, by: child)
    case (.success(let input), nil): read(input)
    case (.failure(let error), _):
      show(nil, heading: FileHeading(path: error.image), problems: [Problem(error)])
    }
    text.flush()
  }

  /// Has a child report a file; what it is worth is only known once the child has ended.
  private mutating func read(_ input: Input, by child: IsolatedChild) {
    do throws(ImageError) {
      try child.read(input, style: style) { piece, bytes in
        if piece != .sums { stream.send(piece, bytes) }
        if piece == .sums, let more = Sums(bytes, of: dump) { sums.add(more) }
      }
    } catch {
      let heading = FileHeading(path: input.name, pathBytes: input.pathBytes)
      show(nil, heading: heading, problems: [Problem(error)])
    }
  }

  private mutating func read(_ input: Input) {
    defer { sums.wanted = dump.wanted }
    var heading = FileHeading(path: input.name, pathBytes: input.pathBytes)
    input.forEachImage(architecture: inputs.architecture) { found in
      heading.container = found.container
      sums.holdsMany = sums.holdsMany || !found.container.isEmpty
      read(found.image, heading, of: input)
    }
  }

  private mutating func read(
    _ found: Result<any FileImage, ImageError>, _ unread: FileHeading, of input: Input
  ) {
    var heading = unread
    var problems: [Problem] = []
    do throws(ImageError) {
      let image = try found.get()
      // Tables of many files leave out what has nothing to show, and need not know what it is.
      if output.format != .table { heading.identity = image.identity }
      var content: Shown.Content?
      do throws(ImageError) {
        content = try dump.read(image, problems: &problems)
      } catch {
        if input.mayOmit(error, in: heading.container) { throw error }
        problems.append(Problem(error))
      }
      do throws(ImageError) {
        try image.checkExtents()
      } catch {
        // The same cause is told once.
        if !problems.contains(where: { $0.code == error.code.rawValue }) {
          problems.append(Problem(error))
        }
      }
      show(content.map { ($0, image) }, image, heading: heading, problems: problems)
    } catch {
      if input.mayOmit(error, in: heading.container) {
        sums.skipped += 1
      } else {
        show(nil, heading: heading, problems: [Problem(error)])
      }
    }
  }

  private mutating func show(
    _ found: (content: Shown.Content, image: any FileImage)?, _ image: (any FileImage)? = nil,
    heading: FileHeading, problems: [Problem]
  ) {
    var heading = heading
    var problems = problems
    switch output.format {
    case .json, .ndjson:
      stream.send(.item)
      writeObject(found, heading, &problems)
      if output.format == .ndjson { text.write("\n") }
      sums.shown += 1
    case .csv:
      guard let (content, image) = found else { break }
      let start = [heading.path, heading.container.joined(separator: "/")]
      dump.writeRows(content, of: image, problems: &problems) { [text] fields in
        CSV.write(start + fields, to: text)
      }
    case .table:
      let isEmpty = found.map { dump.isEmpty($0.content) } ?? true
      // An empty result is one that was looked for.
      if found == nil { sums.unread += 1 } else if isEmpty { sums.empty += 1 }
      guard let image, !isEmpty || isAlone(heading) else { break }
      stream.send(.item)
      sums.shown += 1
      heading.identity = image.identity
      text.write(heading.line(style))
      if let (content, image) = found, !isEmpty {
        text.write("\n")
        dump.writeTable(content, of: image, to: text, style, problems: &problems)
      } else {
        text.write(problems.isEmpty ? "  \(dump.emptyNote)\n" : "\n")
      }
    }
    if !problems.isEmpty { sums.hasProblems = true }
    stream.report(problems, path: heading.name)
  }

  /// Whether this is the one image that was named, so that it is worth a line with nothing to show.
  private func isAlone(_ heading: FileHeading) -> Bool {
    inputs.isSingle && heading.container.isEmpty
  }

  private mutating func writeObject(
    _ found: (content: Shown.Content, image: any FileImage)?, _ heading: FileHeading,
    _ problems: inout [Problem]
  ) {
    json.object { json in
      heading.write(to: &json)
      json.array(key: Shown.contentKey) { json in
        if let (content, image) = found {
          dump.write(content, of: image, to: &json, problems: &problems)
        }
      }
      json.array(key: "problems") { json in
        for problem in problems { problem.write(to: &json) }
      }
    }
  }
}

extension FileReports.Sums {
  /// The sums on their way from a child to its parent; nil where no bytes can say them.
  var bytes: [UInt8]? {
    var (sums, coder) = (self, FieldCoder())
    return (try? sums.code(with: &coder)) == nil ? nil : coder.bytes
  }

  /// What bytes say; nil where they say something else.
  init?(_ bytes: [UInt8], of dump: Shown) {
    wanted = dump.wanted
    var coder = FieldCoder(reading: bytes)
    guard (try? code(with: &coder)) != nil, coder.isAtEnd,
      [shown, empty, skipped, unread].allSatisfy((0..<1 << 32).contains)
    else { return nil }
  }

  private mutating func code(with coder: inout FieldCoder) throws(FieldCoder.Broken) {
    try coder.code(&shown)
    try coder.code(&empty)
    try coder.code(&skipped)
    try coder.code(&unread)
    try coder.code(&hasProblems)
    try coder.code(&holdsMany)
    try wanted.code(with: &coder)
  }

  /// Adds what further files amount to; what is looked for is in one of all.
  mutating func add(_ other: Self) {
    shown += other.shown
    empty += other.empty
    skipped += other.skipped
    unread += other.unread
    files += other.files
    hasProblems = hasProblems || other.hasProblems
    holdsMany = holdsMany || other.holdsMany
    wanted.add(other.wanted)
  }
}
