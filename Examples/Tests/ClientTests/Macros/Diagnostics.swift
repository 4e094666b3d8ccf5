import Foundation

/// The compiler's diagnostics of one piece of source.
struct Diagnostics: Sendable {
  /// The errors: `line:column: error: message`, with lines of the piece. An error in the expansion of one of its macros
  /// is `error: message`.
  var errors: [String] = []

  /// Returns the compiler's diagnostics of each piece. The pieces are one file of the module `Shop`, after a prelude,
  /// so that one run of the compiler does for all.
  ///
  /// The compiler asks for some expansions only if it has found no error elsewhere. So pieces without an error are
  /// compiled once more, by themselves. No macro may give an error without a place: each piece without other errors
  /// then gets it.
  static func of(
    _ pieces: [String], behind prelude: String, _ mode: SwiftCompiler.Mode = .debug,
    _ arguments: [String] = []
  ) throws -> [Diagnostics] {
    let all = Array(pieces.indices)
    var (found, homeless) = try compile(pieces, behind: prelude, mode, arguments)
    let silent = all.filter { found[$0].errors.isEmpty }
    if !silent.isEmpty, silent != all {
      let again = try compile(silent.map { pieces[$0] }, behind: prelude, mode, arguments)
      for (index, diagnostics) in zip(silent, again.found) { found[index] = diagnostics }
      homeless += again.homeless
    }
    for index in all where found[index].errors.isEmpty { found[index].errors = homeless }
    return found
  }

  private static func compile(
    _ pieces: [String], behind prelude: String, _ mode: SwiftCompiler.Mode, _ arguments: [String]
  ) throws -> (found: [Diagnostics], homeless: [String]) {
    var source = prelude
    var starts: [Int] = []
    for piece in pieces {
      starts.append(source.count { $0 == "\n" })
      source += piece + "\n"
    }
    let object = try Folder().place("refused.o").path
    let outcome = try SwiftCompiler.compile(
      source, mode,
      ["-parse-as-library", "-c", "-o", object] + MacroPlugin.parts.get().toCompile + arguments)

    var found = Array(repeating: Diagnostics(), count: pieces.count)
    // An error in an expansion: the note after it has the macro's place.
    var expanded: [String] = []
    for line in outcome.errors.split(separator: "\n") {
      guard let message = Message(line) else { continue }
      guard let place = message.place else {
        if message.isError { expanded.append(message.text) }
        continue
      }
      // An error in the prelude belongs to no piece: the pieces could not be judged.
      guard let piece = starts.lastIndex(where: { $0 < place.line }) else { throw outcome }
      let text = "\(place.line - starts[piece]):\(place.column): \(message.text)"
      if message.isError {
        found[piece].errors.append(text)
      } else if message.text.hasPrefix("note: in expansion of macro"), !expanded.isEmpty {
        found[piece].errors += expanded
        expanded = []
      }
    }
    return (found, expanded)
  }
}

/// A line of the compiler with a message.
private struct Message {
  /// The place, if it is in the author's file.
  var place: (line: Int, column: Int)?
  /// `error: message` or `note: message`.
  var text: String

  var isError: Bool { text.hasPrefix("error: ") }

  init?(_ line: Substring) {
    guard let mark = line.firstRange(of: ": error: ") ?? line.firstRange(of: ": note: ") else {
      return nil
    }
    text = String(line[mark.lowerBound...].dropFirst(2))
    // The name of a group of diagnostics, and a space that the compiler takes for part of a name.
    if let group = text.firstRange(of: " [#") { text.removeSubrange(group.lowerBound...) }
    text = text.replacing(" ')", with: "')")
    guard let file = line.firstRange(of: "/Shop.swift:") else { return }
    let numbers = line[file.upperBound..<mark.lowerBound].split(separator: ":").map { Int($0) }
    guard numbers.count == 2, let line = numbers[0], let column = numbers[1] else { return }
    place = (line, column)
  }
}
