internal import ArgumentParser

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// What would these files register, and what do the pointers in this section say?
@main
struct SectionDump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "section-dump",
    abstract: "Shows what object files would register, without loading them.",
    usage: """
      section-dump [records] [<options>] <path> ...
      section-dump sections|hex|strings [<options>] <path> ...
      section-dump verify [<options>] <path> ...
      section-dump diff [<options>] <old> <new>
      section-dump graph --format dot|mermaid|html <path> ...
      section-dump live --pid <number>
      """,
    discussion: """
      Reads the sections BeehiveMods, BeehiveServices and BeehiveRecords of object files of any \
      machine and byte order, resolves their pointers as the loader would, and prints the entries. \
      hex and strings do the same for any other section. What each command takes, --format, \
      --require and --recursive among it: section-dump help records.

      Exit status: 0 everything was read, 1 an expectation failed, 2 an input could not be read or \
      holds a malformed entry, 64 usage.
      """,
    subcommands: [
      Records.self, Sections.self, Hex.self, Strings.self, Verify.self, Diff.self,
      Graph.self, Live.self,
    ],
    defaultSubcommand: Records.self)

  /// Runs the command that the arguments name.
  ///
  /// Most runs name files and nothing else. They do without the parser, whose types alone take
  /// longer to set up than such a file takes to read; the result is the same.
  static func main() {
    guard let paths = plainPaths(CommandLine.arguments.dropFirst()) else {
      main(CommandArguments.current.parsed)
      return
    }
    var run = DumpRun(RecordDump(), Inputs(paths: paths), Presentation())
    end(run())
  }

  /// The arguments, where each can only be the path of a file to show the records of.
  private static func plainPaths(_ arguments: ArraySlice<String>) -> [String]? {
    guard let first = arguments.first, first != "help" else { return nil }
    for command in configuration.subcommands where command.configuration.commandName == first {
      return nil
    }
    return arguments.contains { $0.hasPrefix("-") } ? nil : Array(arguments)
  }
}

/// Ends the process at once; `exit(withError:)` would first prepare a message that is not needed.
private func end(_ status: ExitCode) -> Never { exit(status.rawValue) }
