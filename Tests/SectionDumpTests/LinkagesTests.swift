import Foundation
import Testing

/// The files that `Scripts/make-fixtures` makes of one source, for every format, machine and linker.
enum Linkages {
  /// Where they stand, made once per run; removed with everything else.
  static let directory = Fixtures.directory.appendingPathComponent("linkages")

  /// The lines of the manifest by their first word, and what went wrong.
  private static let made: (lines: [String: [String]], failure: String?) = {
    do {
      let script = package.appendingPathComponent("Scripts/make-fixtures").path
      let outcome = try Fixtures.run(script, [directory.path], limit: 300)
      let manifest = try String(
        contentsOf: directory.appendingPathComponent("MANIFEST"), encoding: .utf8)
      let pairs = manifest.split(separator: "\n").compactMap { line -> (String, String)? in
        guard let space = line.firstIndex(of: " ") else { return nil }
        return (String(line[..<space]), String(line[line.index(after: space)...]))
      }
      let lines = Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
      return (lines, outcome.status == 0 ? nil : outcome.errors)
    } catch {
      return ([:], "\(error)")
    }
  }()

  static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../..").standardizedFileURL

  /// The files that register what the source says.
  static let built = made.lines["built"] ?? []
  /// The files that are made for one test each.
  static let special = made.lines["special"] ?? []
  /// `name: reason` for each that could not be made here.
  static let skipped = made.lines["skip"] ?? []
  /// What a tool that is here said when it failed.
  static let failure = made.failure

  /// The path of a fixture of that name.
  static func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  /// What the source registers, as `Tool.lines` says it.
  static let entries: [String] = {
    let file = package.appendingPathComponent("Tests/Fixtures/Linkages/entries.records")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init).sorted()
  }()
}

@Suite("One source through every linkage")
struct LinkagesTests {
  @Test("builds wherever its tools are")
  func builds() {
    #expect(Linkages.failure == nil)
    #expect(Linkages.built.count >= 40)
  }

  @Test(
    "is built in full",
    .enabled(
      if: Linkages.skipped.isEmpty, Comment(rawValue: Linkages.skipped.joined(separator: "; "))))
  func complete() {
    #expect(Linkages.special.count >= 2)
  }

  @Test("shows the same entries and no problem", arguments: Linkages.built)
  func same(name: String) throws {
    #expect(try Tool.run([Linkages.path(name), "--format", "json"]).status == 0)
    let files = try Tool.files([Linkages.path(name)])
    #expect(!files.isEmpty)
    for file in files {
      // Order inside a section means nothing: gcc reverses it.
      #expect(try Tool.lines(file).sorted() == Linkages.entries)
    }
  }
}
