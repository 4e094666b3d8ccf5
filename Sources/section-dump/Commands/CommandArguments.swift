internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// The arguments of the process, in two parts.
///
/// The parser takes quadratic time, and `section-dump --format json */*.so` may name thousands of paths. So of many
/// paths at the end, the parser gets only the first.
struct CommandArguments {
  /// The arguments for the parser.
  var parsed: [String]
  /// The paths after the last argument for the parser.
  var laterPaths: [String] = []

  /// The arguments of this process.
  static let current = CommandArguments(Array(CommandLine.arguments.dropFirst()))

  /// The commands that do not take any number of paths.
  private static let others: Set<String> = [
    "diff", "live", "why", "doctor", "help", "probe", "schema",
  ]

  /// The options that take a value, of any command.
  static let valued: Set<String> = [
    "--allow", "--arch", "--at", "--color", "--core", "--deny", "--format", "--host", "--jobs",
    "--limit",
    "--max-bytes", "--module", "--pid", "--require", "--section", "--service", "--startup",
    "--stride", "--table", "--to",
  ]

  init(_ arguments: [String]) {
    let arguments = Self.commandFirst(arguments)
    // The last option, its possible value, and a path. Without options, a possible command and a path.
    let lastOption = arguments.lastIndex { $0.hasPrefix("-") } ?? -1
    let end = min(lastOption + 3, arguments.count)
    let takesPaths = arguments.first.map { !Self.others.contains($0) } ?? false
    parsed = Array(takesPaths ? arguments[..<end] : arguments[...])
    laterPaths = Array(takesPaths ? arguments[end...] : [])
  }

  /// Moves the command before the options that were given before it.
  private static func commandFirst(_ arguments: [String]) -> [String] {
    var index = 0
    while index < arguments.count, arguments[index].hasPrefix("-"), arguments[index].count > 1,
      arguments[index] != "--"
    {
      index += valued.contains(arguments[index]) ? 2 : 1
    }
    guard index < arguments.count, SectionDump.isCommand(arguments[index]) else {
      return arguments
    }
    let (command, rest) = (arguments[index], arguments[(index + 1)...])
    // help takes no options.
    return [command] + (command == "help" ? [] : arguments[..<index]) + rest
  }
}

extension SectionDump {
  /// Does what most runs are for, without the parser: shows the entries, sections or slots of some files in some
  /// format.
  ///
  /// - Returns: The exit status. Nil, with nothing done, if there are other arguments, or wrong ones.
  static func run(plainly arguments: ArraySlice<String>) -> ExitCode? {
    var rest = arguments
    let known = rest.first.map(["records", "sections", "hex", "strings"].contains) ?? false
    let command = known ? rest.removeFirst() : "records"
    let showsSlots = command == "hex" || command == "strings"
    var (paths, patterns, format) = ([] as [String], [] as [String], OutputFormat.table)
    while let argument = rest.popFirst() {
      if argument == "--format" {
        guard let known = rest.popFirst().flatMap(OutputFormat.init) else { return nil }
        format = known
      } else if argument == "--section", showsSlots {
        guard let pattern = rest.popFirst(), !pattern.isEmpty, !pattern.hasPrefix("-") else {
          return nil
        }
        patterns.append(pattern)
      } else if argument.utf8.first == UInt8(ascii: "-") || paths.isEmpty && isCommand(argument) {
        return nil
      } else {
        paths.append(argument)
      }
    }
    if paths.isEmpty || showsSlots == patterns.isEmpty { return nil }
    let inputs = Inputs(paths: paths)
    switch command {
    case "records": return Record.listing().show(inputs, in: format, Style())
    case "sections": return Section.listing.show(inputs, in: format, Style())
    default:
      let slots = PointerSlots(showsBytes: command == "hex", maxBytes: inputs.maxBytes)
      return slots.listing(Wanted(patterns: [("section", patterns)])).show(
        inputs, in: format, Style())
    }
  }
}
