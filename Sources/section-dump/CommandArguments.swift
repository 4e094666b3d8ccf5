/// The arguments of the process, in two parts.
///
/// The parser's time grows with the square of their number. So of many paths at the end it is shown
/// one, and the others go past it: `section-dump --format json */*.so` may name thousands.
struct CommandArguments {
  /// What the parser is given.
  var parsed: [String]
  /// Paths that follow the last one among those.
  var laterPaths: [String] = []

  /// Those of this process.
  static let current = CommandArguments(Array(CommandLine.arguments.dropFirst()))

  /// Commands that do not take as many paths as one likes.
  private static let others: Set<String> = ["diff", "live", "help"]

  init(_ arguments: [String]) {
    // The last option, what may be its value, and a path; without options, what may be a command.
    let lastOption = arguments.lastIndex { $0.hasPrefix("-") } ?? -1
    let end = min(lastOption + 3, arguments.count)
    let takesPaths = arguments.first.map { !Self.others.contains($0) } ?? false
    parsed = Array(takesPaths ? arguments[..<end] : arguments[...])
    laterPaths = Array(takesPaths ? arguments[end...] : [])
  }
}
