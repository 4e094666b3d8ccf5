internal import ArgumentParser

/// The scripts that complete command lines in shells, with what the argument parser leaves out of
/// them: the commands behind `help`, and in bash the files that the default command takes.
enum CompletionScript {
  /// The script for the shell that the arguments ask for; nil where they ask for something else.
  static func asked(for arguments: ArraySlice<String>) -> String? {
    guard arguments.count == 2, arguments.first == "--generate-completion-script",
      let shell = arguments.last.flatMap(CompletionShell.init)
    else { return nil }
    let script = SectionDump.completionScript(for: shell)
    let names = SectionDump.configuration.subcommands.map { $0.configuration.commandName ?? "" }
      .joined(separator: " ")
    let words = "'\(names)'"
    return switch shell {
    case .bash:
      script.replacing(
        "\ncomplete -o filenames -F _section-dump section-dump",
        with: """

          _section-dump_help() {
              COMPREPLY=($(compgen -W \(words) -- "${cur}"))
          }

          complete -o filenames -o default -F _section-dump section-dump
          """)
    case .zsh:
      script.replacing("        '*:subcommands:'", with: "        '*:subcommands:(\(names))'")
    default:
      script + """

        complete -c 'section-dump' -n \
        '__section-dump_should_offer_completions_for_positional "section-dump help" -ge 1' \
        -fa \(words) -d 'Explain the command'

        """
    }
  }
}
