import TestSupport
import Testing

@Suite("Docs/problems.md has every code that the sources give out, and no other")
struct ProblemCodesTests {
  /// Sections of the document, and the files whose codes they list.
  static let sections = [
    ("An image that cannot be read, or not wholly", "BinaryImage/ImageError"),
    ("An entry that cannot be registered", "Registration/Rejection"),
    ("What only section-dump meets", "section-dump/Output/Problems"),
    ("What section-dump verify finds", "section-dump/Verify/Finding"),
    ("A plugin that is not admitted", "PluginFiles/Admission/PluginRefusal"),
    ("An entry that a Hive does not bind", "BeeHive/Entries/Problem"),
    ("How far a module is that is bound", "BeeHive/Entries/StateRecord"),
    ("A call, a route or a table that is refused", "BeeHiveRouting/Values/RoutingError"),
  ]

  /// Returns the codes of a file: static members of a structure, or else cases of an enumeration. A case without a text
  /// is its own code.
  private static func codes(in source: String) throws -> Set<Substring> {
    let lines = try Repository.text(source).lines
    let members = lines.compactMap { $0.firstMatch(of: /Self\(rawValue: "([^"]*)"\)/)?.output.1 }
    guard members.isEmpty else { return Set(members) }
    return Set(
      lines.compactMap { line in
        line.firstMatch(of: /case [a-zA-Z0-9]+ = "([^"]*)"/)?.output.1
          ?? line.wholeMatch(
            of: #/ *case (cycle|copy|denied|quarantined|signature|shadowed|superseded|changed)/#)?
          .output.1
      })
  }

  @Test("each section", arguments: sections)
  func codes(of title: String, in file: String) throws {
    let document = Markdown(text: try Repository.text("Docs/problems.md"))
    let documented = Set(document.firstCodes(ofSection: title).map { $0[...] })
    let codes = try Self.codes(in: "Sources/\(file).swift")
    #expect(!codes.isEmpty, "\(file) spells its codes in another way now")
    #expect(codes.subtracting(documented) == [], "Docs/problems.md lacks codes")
    #expect(documented.subtracting(codes) == [], "\(file) does not have them")
  }

  @Test("no section is left out")
  func sectionsOfTheDocument() throws {
    let titles = try Repository.text("Docs/problems.md").lines.filter { $0.hasPrefix("## ") }
    #expect(Set(titles.map { String($0.dropFirst(3)) }) == Set(Self.sections.map(\.0)))
  }
}
