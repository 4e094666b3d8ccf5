internal import ArgumentParser
internal import BinaryImage

/// What a command shows of each image, in every format.
///
/// Contents may be read while they are printed, so that a large section is never held as text;
/// what goes wrong then joins the problems of the file.
protocol Dump {
  associatedtype Content

  /// The key of the contents in a JSON file object.
  static var contentKey: String { get }
  /// The first line of CSV, behind `path` and `container`.
  static var columns: [String] { get }

  /// Finds what is to be shown.
  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> Content

  /// Whether there is nothing to show, so that a table of many files may leave this one out.
  func isEmpty(_ content: Content) -> Bool

  /// What a table says in place of nothing.
  var emptyNote: String { get }

  /// Writes the elements of the JSON array.
  func write(
    _ content: Content, of image: any FileImage, to json: inout JSONWriter,
    problems: inout [Problem])

  /// Writes rows, each as the fields behind `path` and `container`.
  func writeRows(
    _ content: Content, of image: any FileImage, problems: inout [Problem],
    _ row: ([String]) -> Void)

  /// Writes what stands below the line that names the file.
  func writeTable(
    _ content: Content, of image: any FileImage, to sink: ByteSink, _ style: Style,
    problems: inout [Problem])
}

/// Reads the inputs one after another, prints each, and keeps what the exit status depends on.
struct DumpRun<Shown: Dump> {
  var dump: Shown
  let inputs: Inputs
  let output: Presentation

  private let sink = ByteSink(descriptor: 1)
  private let errors = ByteSink(descriptor: 2)
  private let style: Style
  private var json: JSONWriter
  private var hasProblems = false
  private var holdsMany = false
  private var (shown, empty, skipped, unread) = (0, 0, 0, 0)

  init(_ dump: Shown, _ inputs: Inputs, _ output: Presentation) {
    self.dump = dump
    self.inputs = inputs
    self.output = output
    style = output.style
    json = JSONWriter(sink)
  }

  /// Prints everything and answers the exit status: 2 where an input could not be read, else 1
  /// where `finish` returns lines that say what was expected, else 0.
  mutating func callAsFunction(finish: (Shown) -> [String] = { _ in [] }) -> ExitCode {
    switch output.format {
    case .json: sink.write("{\"schema\":1,\"files\":[")
    case .csv: CSV.write(["path", "container"] + Shown.columns, to: sink)
    case .table, .ndjson: break
    }
    inputs.forEach { input in
      switch input {
      case .success(let input): read(input)
      case .failure(let error):
        show(
          nil, heading: FileHeading(path: error.image), problems: [Problem(error)])
      }
    }
    if output.format == .json { sink.write("\n]}\n") }
    if output.format == .table { writeSummary() }
    sink.flush()
    if output.format != .table, skipped > 0 {
      say("skipped, no object files: \(skipped)")
    }
    let unmet = finish(dump)
    for line in unmet { say(line) }
    if sink.failure != 0 {
      say("standard output: \(systemMessage(sink.failure))")
      hasProblems = true
    }
    errors.flush()
    return hasProblems ? ExitCode(2) : unmet.isEmpty ? .success : ExitCode(1)
  }

  private mutating func read(_ input: Input) {
    var heading = FileHeading(path: input.name, pathBytes: input.pathBytes)
    input.forEachImage(architecture: inputs.architecture) { found in
      heading.container = found.container
      holdsMany = holdsMany || !found.container.isEmpty
      read(found.image, heading, isFound: input.isFound || !found.container.isEmpty)
    }
  }

  private mutating func read(
    _ found: Result<any FileImage, ImageError>, _ unread: FileHeading, isFound: Bool
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
      // Archives hold more than objects; so do directories.
      if isFound, error.code == .notAnObject || error.code == .noSuchArchitecture {
        skipped += 1
        return
      }
      show(nil, heading: heading, problems: [Problem(error)])
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
      sink.write(output.format == .json ? (shown > 0 ? ",\n" : "\n") : "")
      writeObject(found, heading, &problems)
      if output.format == .ndjson { sink.write("\n") }
      shown += 1
    case .csv:
      guard let (content, image) = found else { break }
      let start = [heading.path, heading.container.joined(separator: "/")]
      dump.writeRows(content, of: image, problems: &problems) { [sink] fields in
        CSV.write(start + fields, to: sink)
      }
    case .table:
      let isEmpty = found.map { dump.isEmpty($0.content) } ?? true
      // An empty result is one that was looked for.
      if found == nil { unread += 1 } else if isEmpty { empty += 1 }
      guard let image, !isEmpty || isAlone(heading) else { break }
      if shown > 0 { sink.write("\n") }
      shown += 1
      heading.identity = image.identity
      sink.write(heading.line(style))
      if let (content, image) = found, !isEmpty {
        sink.write("\n")
        dump.writeTable(content, of: image, to: sink, style, problems: &problems)
      } else {
        sink.write(problems.isEmpty ? "  \(dump.emptyNote)\n" : "\n")
      }
    }
    report(problems, path: heading.name)
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
      json.key(Shown.contentKey)
      json.array { json in
        if let (content, image) = found {
          dump.write(content, of: image, to: &json, problems: &problems)
        }
      }
      json.key("problems")
      json.array { json in
        for problem in problems { problem.write(to: &json) }
      }
    }
  }

  private func writeSummary() {
    guard !inputs.isSingle || holdsMany, empty + skipped + unread > 0 else { return }
    var parts = ["\(shown + empty + unread) files: \(shown) shown"]
    if unread > 0 { parts.append("\(unread) not read") }
    if empty > 0 { parts.append("\(empty) \(dump.emptyNote)") }
    if skipped > 0 { parts.append("\(skipped) skipped, no object files") }
    if shown > 0 { sink.write("\n") }
    sink.write(style.dim(parts.joined(separator: ", ")) + "\n")
  }

  private mutating func report(_ problems: [Problem], path: String) {
    guard !problems.isEmpty else { return }
    hasProblems = true
    sink.flush()
    for problem in problems { say(problem.line(path: path)) }
    errors.flush()
  }

  private func say(_ line: String) {
    errors.write("section-dump: \(line.escaped)\n")
  }
}

extension ExitCode {
  /// Ends a command with this status.
  func end() throws {
    if !isSuccess { throw self }
  }
}
