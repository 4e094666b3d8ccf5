internal import ArgumentParser
internal import BinaryImage
internal import LibC
internal import Registration

/// The tool: it shows what files would register, and what the pointers in a section lead to.
@main
struct SectionDump: ParsableCommand {
  /// The version of the package, which `--version` prints.
  static let version = "0.1.0-dev"

  static let configuration = CommandConfiguration(
    commandName: "section-dump",
    abstract: "Shows what object files would register, without loading them.",
    usage: """
      section-dump [records] [<options>] <path> ...
      section-dump sections|hex|strings|startup|conformances [<options>] <path> ...
      section-dump verify [<options>] <path> ...
      section-dump diff [<options>] <old> <new>
      section-dump graph --format dot|mermaid|json <path> ...
      section-dump live --pid <number>
      section-dump live --core <file>
      section-dump why <kind:name> [--host <executable>] <path> ...
      section-dump doctor --host <executable> <folder> ...
      section-dump probe --host <executable> <path>
      section-dump schema [<name>]
      """,
    discussion: """
      Reads the sections BeehiveMods, BeehiveServices and BeehiveRecords of object files of any \
      machine and byte order, resolves their pointers as the loader would, and prints the entries. \
      hex and strings do the same for any other section. What each command takes, --format, \
      --require and --recursive among it: section-dump help records.

      Exit status: 0 everything was read, 1 an expectation failed, 2 an input could not be read or \
      holds a malformed entry, 64 usage.
      """,
    version: version,
    subcommands: [
      Records.self, Sections.self, Hex.self, Strings.self, Verify.self, Diff.self,
      Graph.self, Live.self, Startup.self, Conformances.self, Why.self, Doctor.self,
      Probe.self, Schema.self,
    ],
    defaultSubcommand: Records.self)

  /// Runs the command that the arguments name.
  ///
  /// Most runs only name files, and perhaps a format. They do without the parser, because setting up its types takes
  /// longer than reading many files. The result is the same.
  static func main() {
    // Writing to a file that may not grow must fail, and not end the process.
    _ = signal(SIGXFSZ, SIG_IGN)
    // A `?` in a pattern is one character, not one byte.
    unsafe setlocale(LC_CTYPE, "C.UTF-8")
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.count == 1, let word = arguments.first,
      word == "-V" || word == "version" && isUnknown(word)
    {
      run(["--version"])
    }
    if let name = arguments.dropFirst().first, arguments.first == "help", !isCommand(name) {
      refuse("There is no command \(name); there are \(commands.joined(separator: ", ")).")
    }
    if let name = arguments.first, isUnknown(name) {
      if let command = nearest(to: name, in: commands, atMost: 2).first {
        refuse("There is no command \(name), and no file; did you mean \(command)?")
      }
      say("There is no command \(name), so it is taken for a file.")
    }
    if let status = run(plainly: arguments) { end(status) }
    run(CommandArguments.current.parsed)
  }

  /// Parses the arguments and runs the command.
  private static func run(_ arguments: [String]) {
    do {
      var command = try parsedAlone(arguments) ?? parseAsRoot(arguments)
      try command.run()
    } catch let error as ImageError {
      refuse(error.description, ExitCode(2))
    } catch {
      let (status, errors) = (exitCode(for: error), ByteSink(descriptor: 2))
      if status.isSuccess {
        // Help, the version, or completions.
        let sink = ByteSink(descriptor: 1)
        sink.write(fullMessage(for: error) + "\n")
        end(sink.finish(errors) ? status : ExitCode(2))
      }
      guard status == .validationFailure else { exit(withError: error) }
      // The message quotes the wrong argument, which may be the name of a file.
      for line in fullMessage(for: error).split(separator: "\n", omittingEmptySubsequences: false) {
        errors.write("\(String(line).escaped)\n")
      }
      errors.flush()
      exit(withError: ExitCode.validationFailure)
    }
  }

  /// Parses the arguments of one command without setting up the others. Returns nil if the parser refuses the
  /// arguments, or if they request help.
  private static func parsedAlone(_ arguments: [String]) -> (any ParsableCommand)? {
    guard let name = arguments.first, isCommand(name) else { return try? Records.parse(arguments) }
    let command = configuration.subcommands.first { $0.configuration.commandName == name }
    return try? command?.parse(Array(arguments.dropFirst()))
  }

  private static var commands: [String] {
    configuration.subcommands.compactMap { $0.configuration.commandName }
  }

  /// Returns whether a word is the name of a command.
  static func isCommand(_ word: String) -> Bool { word == "help" || commands.contains(word) }

  /// Returns whether a word looks like a command and is neither a command nor a file.
  private static func isUnknown(_ word: String) -> Bool {
    // Most words are paths, which have other characters too.
    guard word.utf8.allSatisfy((UInt8(ascii: "a")...UInt8(ascii: "z")).contains) else {
      return false
    }
    return unsafe !word.isEmpty && !isCommand(word) && access(word, F_OK) != 0
  }

  private static func refuse(_ message: String, _ status: ExitCode = .validationFailure) -> Never {
    say(message)
    end(status)
  }

  private static func say(_ message: String) {
    let errors = ByteSink(descriptor: 2)
    errors.say(message)
    errors.flush()
  }
}

/// Ends the process at once. `exit(withError:)` would first prepare a message that is not needed.
private func end(_ status: ExitCode) -> Never { exit(status.rawValue) }
