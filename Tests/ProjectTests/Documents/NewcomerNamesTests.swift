import TestSupport
import Testing

@Suite("The newcomer's tests type every public name of BeeHive")
struct NewcomerNamesTests {
  /// What the C runtime shows, and what protocols of the standard library ask for.
  static let others: Set = ["beehive", "description", "encode"]

  /// The codes of a problem are compared, not typed.
  static func codes() throws -> [String] {
    try Repository.text("Sources/BeeHive/Entries/Problem.swift").lines.compactMap { line in
      line.firstMatch(of: /public static let ([a-zA-Z]+) = Self\(rawValue: "[^"]*"\)$/)?.output.1
    }.map(String.init)
  }

  /// Every public type, function and constant.
  static func names() throws -> [String] {
    try Texts.below("Sources/BeeHive").flatMap(\.lines).compactMap { line -> String? in
      let declaration = line.drop { $0 == " " }
      let starts = ["public ", "@discardableResult public "]
      guard starts.contains(where: declaration.hasPrefix) else { return nil }
      let matches = declaration.matches(
        of: #/ (?:func|var|let|struct|class|enum|protocol) ([A-Za-z0-9]+)/#)
      return matches.last.map { String($0.output.1) }
    }
  }

  @Test("every name")
  func everyName() throws {
    let names = Set(try Self.names()).subtracting(Self.others).subtracting(try Self.codes())
    #expect(names.count > 50)
    let typed = try Texts.below("Tests/BeeHiveTests/Newcomer").flatMap(\.words)
    #expect(names.subtracting(typed) == [])
  }
}
