internal import BinaryImage
internal import LibC

/// How results are printed.
struct Presentation {
  enum Format: String, CaseIterable {
    case table, json, ndjson, csv
  }

  enum Color: String, CaseIterable {
    case auto, always, never
  }

  var format = Format.table
  var color = Color.auto

  var style: Style {
    Style(
      isColored: color == .always
        || color == .auto && Self.isOnTerminal
          && Self.variable("NO_COLOR").isEmpty && !Self.isDumbTerminal
    )
  }

  /// Asked once, since every file is shown in a style.
  private static let isOnTerminal = isatty(STDOUT_FILENO) == 1

  /// Whether the terminal, if there is one, knows no more than characters and lines.
  static var isDumbTerminal: Bool { ["", "dumb"].contains(variable("TERM")) }

  /// What a variable of the environment says; nothing where it is missing.
  private static func variable(_ name: String) -> String {
    // Sound: getenv returns null or a NUL-terminated text, and nothing here changes the environment.
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }
}

/// Colours, where standard output is a terminal that wants them.
struct Style {
  let isColored: Bool

  func dim(_ text: String) -> String { isColored ? "\u{1b}[2m\(text)\u{1b}[0m" : text }

  /// Has `body` write to a sink in this style.
  func bold(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[1m", sink, body) }
  func dim(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[2m", sink, body) }

  private func paint(_ start: StaticString, _ sink: ByteSink, _ body: () -> Void) {
    if isColored { sink.write(word: start) }
    body()
    if isColored { sink.write(word: "\u{1b}[0m") }
  }
}

/// A piece of what is printed, on its way from where it was found.
struct Piece: Sendable {
  enum Kind: UInt8 {
    /// Bytes for standard output; the first ones of all begin with what separates two items.
    case output = 1
    /// Lines for standard error; what came before them is printed before them.
    case errors
    /// The sums of the reports of some files; never printed.
    case sums
  }

  var kind: Kind
  var bytes: [UInt8]
}

/// Standard output and standard error, with what is before and behind all items.
final class Printer {
  let output: ByteSink
  let errors: ByteSink
  private let format: Presentation.Format
  private var isFirst = true
  /// Whether an item of a JSON document was printed without the end of its line.
  private var isAmidLine = false

  init(_ format: Presentation.Format) {
    self.format = format
    output = ByteSink(descriptor: STDOUT_FILENO)
    errors = ByteSink(descriptor: STDERR_FILENO)
  }

  func take(_ piece: Piece) {
    switch piece.kind {
    case .output:
      output.write(piece.bytes[(isFirst ? format.separator.utf8CodeUnitCount : 0)...])
      (isFirst, isAmidLine) = (false, format == .json)
    case .errors:
      if isAmidLine { output.write(word: "\n") }
      isAmidLine = false
      output.flush()
      errors.write(piece.bytes)
      errors.flush()
    case .sums: break
    }
  }

  /// Prints what is before all items; `head` are keys of a JSON document.
  func begin(_ head: String = "", columns: (inout FieldWriter) -> Void) {
    switch format {
    case .json: output.write("{\"schema\":1,\(head)\"files\":[\n")
    case .csv:
      var csv = FieldWriter(output, .csv)
      csv.header(columns)
    case .table, .ndjson: break
    }
  }

  /// Prints the rest; false, once told, where some of standard output was lost.
  func finish() -> Bool {
    if format == .json { output.write(word: isAmidLine ? "\n]}\n" : "]}\n") }
    return output.finish(errors)
  }
}

extension Presentation.Format {
  /// The separator before each item but the first.
  var separator: StaticString {
    switch self {
    case .json: ",\n"
    case .table: "\n"
    case .ndjson, .csv: ""
    }
  }
}
