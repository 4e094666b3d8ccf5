import TestSupport
import Testing

@Suite("Docs/problems.md has every code that the sources give out, and no other")
struct ProblemCodesTests {
  /// A section of the document, and the file whose codes it lists.
  struct Section: Sendable, CustomTestStringConvertible {
    var title: String
    var source: String
    /// Whether the codes are cases of an enumeration; static members of a structure otherwise.
    var areCases = false

    var testDescription: String { title }

    /// The codes of the source. A case without a text of its own is its own text.
    func codes() throws -> [String] {
      try Repository.text(source).lines.compactMap { line -> Substring? in
        guard areCases else {
          return line.firstMatch(of: /Self\(rawValue: "([^"]*)"\)/)?.output.1
        }
        return line.firstMatch(of: /case [a-zA-Z0-9]+ = "([^"]*)"/)?.output.1
          ?? line.wholeMatch(of: #/ *case (cycle|copy|denied|signature|shadowed|changed)/#)?.output
          .1
      }.map(String.init)
    }
  }

  static let sections = [
    Section(
      title: "An image that cannot be read, or not wholly",
      source: "Sources/BinaryImage/ImageError.swift"),
    Section(
      title: "An entry that cannot be registered", source: "Sources/Registration/Rejection.swift",
      areCases: true),
    Section(
      title: "What only section-dump meets", source: "Sources/section-dump/Output/Problems.swift"),
    Section(
      title: "What section-dump verify finds", source: "Sources/section-dump/Verify/Finding.swift",
      areCases: true),
    Section(
      title: "A plugin that is not admitted",
      source: "Sources/PluginFiles/Admission/PluginRefusal.swift", areCases: true),
    Section(
      title: "An entry that a Hive does not bind", source: "Sources/BeeHive/Entries/Problem.swift"),
    Section(
      title: "How far a module is that is bound",
      source: "Sources/BeeHive/Entries/StateRecord.swift", areCases: true),
    Section(
      title: "A call, a route or a table that is refused",
      source: "Sources/BeeHiveRouting/Values/RoutingError.swift", areCases: true),
  ]

  @Test("each section", arguments: sections)
  func codes(of section: Section) throws {
    let document = Markdown(text: try Repository.text("Docs/problems.md"))
    let documented = Set(document.firstCodes(ofSection: section.title))
    let codes = Set(try section.codes())
    #expect(!codes.isEmpty, "\(section.source) spells its codes in another way now")
    #expect(codes.subtracting(documented) == [], "Docs/problems.md lacks codes")
    #expect(documented.subtracting(codes) == [], "\(section.source) does not have them")
  }

  @Test("no section is left out")
  func sectionsOfTheDocument() throws {
    let titles = try Repository.text("Docs/problems.md").lines.filter { $0.hasPrefix("## ") }
    #expect(Set(titles.map { String($0.dropFirst(3)) }) == Set(Self.sections.map(\.title)))
  }
}
