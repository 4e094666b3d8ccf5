import Foundation
import TestSupport
import Testing

/// Completions and the manual page, both made from one description of the tool.
@Suite("Completions and the manual page")
struct CompletionsTests {
  /// A command and its options, as the argument parser describes them.
  struct Command {
    var name: String
    var abstract: String
    /// Each option with the names that people type, its purpose, and whether it takes a value.
    var options: [(names: [String], abstract: String, isValued: Bool)]

    init(_ description: [String: Any]) throws {
      name = try #require(description["commandName"] as? String)
      abstract = description["abstract"] as? String ?? ""
      options = (description["arguments"] as? [[String: Any]] ?? []).map { argument in
        let names = (argument["names"] as? [[String: Any]] ?? []).compactMap { name in
          (name["name"] as? String).map { $0.count == 1 ? "-\($0)" : "--\($0)" }
        }
        let isValued = argument["kind"] as? String == "option"
        return (names, argument["abstract"] as? String ?? "", isValued)
      }
    }
  }

  static let commandNames = [
    "records", "sections", "hex", "strings", "verify", "diff", "graph", "live", "startup",
    "conformances", "why", "doctor", "probe", "schema",
  ]

  /// The commands, as the parser describes them for makers of manuals.
  static let commands = Result {
    let outcome = try Tool.run(["--experimental-dump-help"])
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let root = try #require((document as? [String: Any])?["command"] as? [String: Any])
    // The parser's own command explains the others.
    return try #require(root["subcommands"] as? [[String: Any]]).map(Command.init)
      .filter { $0.name != "help" }
  }

  private static let shells = ["bash", "zsh", "fish"]

  private static let scripts = Result {
    try shells.map { shell in
      try Tool.run(["--generate-completion-script", shell]).expect(0).output
    }
  }

  private static func script(_ shell: String) throws -> String {
    try scripts.get()[try #require(shells.firstIndex(of: shell))]
  }

  @Test("name every command, and each option with what it is for")
  func described() throws {
    let commands = try Self.commands.get()
    #expect(commands.map(\.name) == Self.commandNames)
    for command in commands {
      #expect(!command.abstract.isEmpty, "\(command.name)")
      for option in command.options {
        #expect(!option.abstract.isEmpty, "\(command.name) \(option.names)")
      }
    }
    // The options that the contract promises for each command.
    for (name, promised) in [
      (
        "records",
        [
          "--recursive", "-r", "--stdin0", "--format", "--arch", "--module", "--service",
          "--require", "--jobs", "--color", "--isolate", "--max-bytes",
        ]
      ),
      ("sections", ["--format", "--arch"]), ("hex", ["--section"]), ("strings", ["--section"]),
      ("verify", ["--strict", "--require"]), ("diff", ["--recursive"]), ("graph", ["--format"]),
      ("live", ["--pid", "--core"]),
    ] {
      let command = try #require(commands.first { $0.name == name })
      let names = command.options.flatMap(\.names)
      #expect(promised.filter { !names.contains($0) } == [])
    }
  }

  /// Returns the options that a script offers after a command, as people type them.
  private static func offered(behind command: String, by shell: String) throws -> Set<String> {
    let script = try script(shell)
    guard shell == "fish" else {
      let parts = script.components(separatedBy: "\n_section-dump_\(command)() {\n")
      let body = try #require(parts.count == 2 ? parts[1].components(separatedBy: "\n}\n")[0] : nil)
      return Set(
        body.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init)
          .filter { $0.hasPrefix("-") })
    }
    let lines = script.split(separator: "\n")
      .filter { $0.contains("_flags_or_options \"section-dump \(command)\"") }
    return Set(
      lines.flatMap { line in
        line.matches(of: #/ -l '([a-z0-9-]+)'/#).map { "--\($0.1)" }
          + line.matches(of: #/ -s '([a-z])'/#).map { "-\($0.1)" }
      })
  }

  @Test("Every command and option is completed", arguments: shells)
  func completed(shell: String) throws {
    let script = try Self.script(shell)
    for command in try Self.commands.get() {
      let name = ["zsh": "'\(command.name):", "fish": "-fa '\(command.name)' -d"][shell]
      #expect(
        script.contains(name ?? "_section-dump_\(command.name)() {"), "\(shell) \(command.name)")
      let offered = try Self.offered(behind: command.name, by: shell)
      let names = command.options.flatMap(\.names)
      #expect(names.filter { !offered.contains($0) } == [], "\(shell) \(command.name)")
    }
  }

  @Test("The scripts are what their shells can read", arguments: shells)
  func readable(shell: String) throws {
    try Needs.programs(shell)
    let file = Fixtures.place("completions.\(shell)")
    try Data(Self.script(shell).utf8).write(to: file)
    let outcome = try Fixtures.run(shell, ["-n", file.path]).expect(0)
    #expect(outcome.errors.isEmpty)
  }

  @Test(
    "bash completes what was begun", .needs("bash"),
    arguments: [
      (["section-dump", "ver"], ["verify"]), (["section-dump", "verify", "--str"], ["--strict"]),
      (["section-dump", "live", "--c"], ["--core", "--color"]),
      (["section-dump", "hex", "--section", "BeehiveM"], ["BeehiveMods"]),
      (["section-dump", "records", "--format", "nd"], ["ndjson"]),
      (["section-dump", "records", "--arch", "aa"], ["aarch64"]),
      (["section-dump", "verify", "--require", "m"], ["module:"]),
    ])
  func completes(words: [String], expected: [String]) throws {
    let file = Fixtures.place("completions-\(words.count)\(words.last ?? "")")
    try Data(Self.script("bash").utf8).write(to: file)
    let command = """
      source '\(file.path)'
      function=$(complete -p section-dump | sed -E 's/.* -F ([^ ]+) .*/\\1/')
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
      "$function" section-dump "${@: -1}" "${@: -2:1}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let outcome = try Fixtures.run("bash", ["-c", command, "bash"] + words)
    let replies = Set(
      outcome.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
    #expect(replies == Set(expected), "\(outcome.errors)")
  }
}
