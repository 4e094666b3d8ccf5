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
      let outcome = try Fixtures.run(script, [directory.path], limit: 900)
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

  /// Where each of them stands, and how it is written.
  static let places = [
    "BeehiveMods pointer Shop.CartModule", "BeehiveMods pointer CartModule",
    "BeehiveRecords inline Greeter", "BeehiveRecords inline audio",
    "BeehiveServices pointer Shop.HomeService",
  ]
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
      let records = try #require(file["records"] as? [[String: Any]])
      let places = records.map {
        "\($0["section"] ?? "") \($0["encoding"] ?? "") \($0["name"] ?? "")"
      }
      #expect(Set(places) == Set(Linkages.places) && places.count == Linkages.places.count)
      // Each section counts its own slots; those of four bytes may have padding between them.
      let indices = Dictionary(grouping: records) { $0["section"] as? String ?? "" }
        .mapValues { $0.map { $0["index"] as? Int } }
      let padded = file["bits"] as? Int == 32 ? [0, 2] : [0, 1]
      #expect([[0, 1], padded].contains(indices["BeehiveMods"]))
      #expect(indices["BeehiveServices"] == [0] && indices["BeehiveRecords"] == [0, 1])
      // Whatever C declares is made by what its context leads to.
      #expect(records.allSatisfy { $0["accessor"] is NSNull })
    }
  }

  @Test("counts the sections of a file that has more than 65,535 in the first one's header")
  func extended() throws {
    let name = "elf-extended.o"
    try #require(Linkages.built.contains(name))
    let header =
      try FileHandle(forReadingFrom: URL(fileURLWithPath: Linkages.path(name)))
      .read(upToCount: 64) ?? Data()
    #expect(header[60] == 0 && header[61] == 0, "e_shnum is 0 there")
    let files = try Tool.files(["sections", Linkages.path(name)])
    #expect(try #require(files.first?["sections"] as? [Any]).count > 66_000)
  }

  @Test(
    "of which only debug information is left shows that its bytes are elsewhere",
    .enabled(if: Linkages.special.contains("elf-debug-only"), "llvm-objcopy is not installed"))
  func debugOnly() throws {
    let file = try problems(of: "elf-debug-only", containing: "split from")
    #expect(file["type"] as? String == "debug")
  }

  @Test(
    "that was compressed by a method that libelf lacks names the method",
    .enabled(if: Linkages.special.contains("elf-zstd.o"), "llvm-objcopy is not installed"))
  func compressed() throws {
    _ = try problems(of: "elf-zstd.o", containing: "compressed with zstd")
  }

  /// The file object of a fixture that has problems, all of which say the same.
  private func problems(of name: String, containing text: String) throws -> [String: Any] {
    try #require(Linkages.special.contains(name))
    #expect(try Tool.run([Linkages.path(name)]).status == 2)
    let file = try #require(Tool.files([Linkages.path(name)]).first)
    let problems = try #require(file["problems"] as? [[String: Any]])
    #expect(!problems.isEmpty)
    for problem in problems {
      let message = try #require(problem["message"] as? String)
      #expect(message.contains(text))
    }
    #expect((file["records"] as? [Any])?.isEmpty == true)
    return file
  }
}
