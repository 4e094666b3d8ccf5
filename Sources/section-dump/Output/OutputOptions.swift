internal import ArgumentParser

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// How results are printed.
struct OutputOptions: ParsableArguments {
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, json, ndjson, csv
  }

  enum Color: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never
  }

  @Option(help: "How to print: a table for people, one JSON document, JSON lines, or CSV.")
  var format = Format.table

  @Option(help: "When to use colours; auto heeds NO_COLOR and asks for a terminal.")
  var color = Color.auto

  var style: Style {
    switch color {
    case .always: Style(isColored: true)
    case .never: Style(isColored: false)
    case .auto:
      Style(
        isColored: isatty(STDOUT_FILENO) == 1 && isUnset("NO_COLOR") && !isUnset("TERM")
          && !isDumb)
    }
  }

  /// Whether a variable is missing or empty.
  private func isUnset(_ name: String) -> Bool {
    // Sound: getenv returns null or a NUL-terminated text, and nothing here changes the environment.
    guard let value = unsafe getenv(name) else { return true }
    return unsafe value.pointee == 0
  }

  private var isDumb: Bool {
    // Sound: as above.
    guard let value = unsafe getenv("TERM") else { return false }
    return unsafe String(cString: value) == "dumb"
  }
}
