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
    switch color {
    case .always: Style(isColored: true)
    case .never: Style(isColored: false)
    case .auto:
      Style(
        isColored: isatty(STDOUT_FILENO) == 1 && isUnset("NO_COLOR")
          && !Self.isDumbTerminal)
    }
  }

  /// Whether a variable is missing or empty.
  private func isUnset(_ name: String) -> Bool {
    // Sound: getenv returns null or a NUL-terminated text, and nothing here changes the environment.
    guard let value = unsafe getenv(name) else { return true }
    return unsafe value.pointee == 0
  }

  /// Whether the terminal, if there is one, knows no more than characters and lines.
  static var isDumbTerminal: Bool {
    // Sound: as above.
    guard let value = unsafe getenv("TERM") else { return true }
    return unsafe ["", "dumb"].contains(String(cString: value))
  }
}

/// Colours, where standard output is a terminal that wants them.
struct Style {
  let isColored: Bool

  func bold(_ text: String) -> String { paint("1", text) }
  func dim(_ text: String) -> String { paint("2", text) }

  private func paint(_ code: String, _ text: String) -> String {
    isColored ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
  }
}

extension Int {
  /// `1 file`, `2 files`
  func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? "\(one)s")"
  }
}
