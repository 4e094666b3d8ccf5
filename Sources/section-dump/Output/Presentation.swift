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

  func bold(_ text: String) -> String { paint("1", text) }
  func dim(_ text: String) -> String { paint("2", text) }

  /// Has `body` write to a sink in this style.
  func bold(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[1m", sink, body) }
  func dim(_ sink: ByteSink, _ body: () -> Void) { paint("\u{1b}[2m", sink, body) }

  private func paint(_ start: StaticString, _ sink: ByteSink, _ body: () -> Void) {
    if isColored { sink.write(word: start) }
    body()
    if isColored { sink.write(word: "\u{1b}[0m") }
  }

  private func paint(_ code: String, _ text: String) -> String {
    isColored ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}
