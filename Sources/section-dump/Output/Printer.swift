internal import BinaryImage
internal import LibC

/// The formats of results.
enum OutputFormat: String, CaseIterable {
  case table, json, ndjson, csv

  /// The separator before each item but the first.
  var separator: StaticString {
    switch self {
    case .json: ",\n"
    case .table: "\n"
    case .ndjson, .csv: ""
    }
  }
}

/// The formats of findings: those of results, and those that services read.
enum ReportFormat: String, CaseIterable {
  case table, json, ndjson, csv, sarif, github, gitlab
}

/// The colours of output, if they are wanted.
struct Style {
  enum Color: String, CaseIterable {
    case auto, always, never
  }

  let isColored: Bool

  init(_ color: Color = .auto) {
    isColored =
      color == .always
      || color == .auto && Self.variable("NO_COLOR").isEmpty
        && (Self.isForced || Self.isOnTerminal && !Self.isDumbTerminal)
  }

  /// Whether the environment wants colours even without a terminal.
  private static let isForced = ["FORCE_COLOR", "CLICOLOR_FORCE"].contains {
    !["", "0"].contains(variable($0))
  }

  /// Whether standard output is a terminal: found once, because every file is shown in a style.
  private static let isOnTerminal = isatty(STDOUT_FILENO) == 1

  /// The columns of the terminal; more than any line has if standard output is no terminal.
  static let columns: Int = {
    var size = winsize()
    // Sound: the call writes only to `size`.
    let isKnown = unsafe isOnTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    return isKnown && size.ws_col > 0 ? Int(size.ws_col) : .max
  }()

  /// Whether the terminal, if there is one, knows only characters and lines.
  static var isDumbTerminal: Bool { ["", "dumb"].contains(variable("TERM")) }

  /// Returns the value of an environment variable; empty if it is missing.
  private static func variable(_ name: String) -> String {
    // Sound: getenv returns null or a NUL-terminated text, and nothing here changes the environment.
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }

  func dim(_ text: String) -> String { isColored ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

  /// Writes what `body` writes to a sink in bold, if colours are wanted.
  func bold(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[1m", sink, body) }
  func dim(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[2m", sink, body) }

  private func paint(_ start: StaticString, _ sink: ByteSink, _ body: () -> Void) {
    if isColored { sink.write(word: start) }
    body()
    if isColored { sink.write(word: "\u{1b}[0m") }
  }
}

/// Bytes for standard output or standard error. Output that came before errors is printed before them. The first bytes
/// for standard output begin with the separator of two items, too.
typealias Piece = (isError: Bool, bytes: [UInt8])

/// Standard output and standard error, with the text before and after all items.
final class Printer {
  let output: ByteSink
  let errors: ByteSink
  /// The progress of a long scan.
  let progress: Progress
  private let format: OutputFormat
  private var isFirst = true
  /// Whether an item of a JSON document was printed without the end of its line.
  private var isAmidLine = false

  init(_ format: OutputFormat) {
    self.format = format
    let progress = Progress()
    self.progress = progress
    output = ByteSink(descriptor: STDOUT_FILENO, after: progress.makeWay)
    errors = ByteSink(descriptor: STDERR_FILENO, after: progress.makeWay)
  }

  func take(_ piece: Piece) {
    if piece.isError {
      if isAmidLine { output.write(word: "\n") }
      isAmidLine = false
      output.flush()
      errors.write(piece.bytes)
      errors.flush()
    } else {
      if isFirst {
        output.write(piece.bytes.dropFirst(format.separator.utf8CodeUnitCount))
      } else {
        output.write(piece: piece.bytes)
      }
      (isFirst, isAmidLine) = (false, format == .json)
    }
  }

  /// Prints the text before all items; `head` are keys of a JSON document.
  func begin(_ head: String = "", columns: (inout FieldWriter) -> Void) {
    switch format {
    case .json: output.write("{\"schema\":1,\(head)\"files\":[\n")
    case .csv:
      var csv = FieldWriter(output, isJSON: false)
      csv.header(columns)
    case .table, .ndjson: break
    }
  }

  /// Prints the rest. Returns false, after a message, if some of standard output was lost.
  func finish() -> Bool {
    if format == .json { output.write(word: isAmidLine ? "\n]}\n" : "]}\n") }
    progress.clear()
    return output.finish(errors)
  }
}

/// A line on the terminal with the progress of a long scan. It is removed before anything is printed.
final class Progress {
  /// The time until the line is shown, before people wonder that nothing happens.
  static let patience: Duration = .milliseconds(500)
  /// The interval between changes of the number.
  private static let pace: Duration = .milliseconds(100)

  private let isWanted = isatty(STDERR_FILENO) == 1 && !Style.isDumbTerminal
  private let sharesTerminal = isatty(STDOUT_FILENO) == 1
  private var files = 0
  private var next = ContinuousClock.now + patience
  private var isShown = false
  /// Whether the last output ended inside a line.
  private var isAmidLine = false

  /// Counts files that were read.
  func advance(by count: Int) {
    guard isWanted else { return }
    files += count
    let now = ContinuousClock.now
    guard now >= next, !isAmidLine else { return }
    next = now + Self.pace
    isShown = true
    write("\r\(files.counted("file")) read")
  }

  /// Removes the line before bytes are printed.
  func makeWay(for bytes: [UInt8]) {
    clear()
    isAmidLine = sharesTerminal && bytes.last != UInt8(ascii: "\n")
  }

  /// Removes the line.
  func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1b}[K")
  }

  private func write(_ text: String) { _ = Array(text.utf8).write(to: STDERR_FILENO) }
}
