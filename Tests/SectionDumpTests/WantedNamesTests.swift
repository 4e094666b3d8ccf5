import Foundation
import TestSupport
import Testing

@testable import section_dump

@Suite("Names that are asked for are found, or those that are similar are told")
struct WantedNamesTests {
  private static func library(_ name: String) throws -> String {
    try Fixtures.build(Fixtures.handWritten, as: name)
  }

  /// Returns the names of the sections that a command shows of a file.
  private static func shown(_ arguments: [String]) throws -> [String] {
    try Tool.files(arguments).flatMap { file in
      (file["sections"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
    }
  }

  /// Options, and the sections that they show.
  static let selections: [(options: [String], names: [String])] = [
    (["list"], ["list"]), (["list", "BeehiveMods"], ["list", "BeehiveMods"]),
    (["Beehive*"], ["BeehiveMods", "BeehiveServices"]),
    (["Beehive[!M]*", "l?st"], ["BeehiveServices", "list"]),
    (["list", "l*t", "list"], ["list"]),
  ]

  @Test("--section may be repeated, and be a pattern", arguments: ["hex", "strings"], selections)
  func sections(command: String, selection: (options: [String], names: [String])) throws {
    let path = try Self.library("wanted-\(command).so")
    let options = selection.options.flatMap { ["--section", $0] }
    let names = try Self.shown([command] + options + [path])
    #expect(Set(names) == Set(selection.names) && names.count == selection.names.count)
  }

  @Test("Slots count over the sections of one name")
  func slotsOfEach() throws {
    let path = try Self.library("wanted-slots.so")
    for section in try Tool.sections(["hex", "--section", "Beehive*", path]) {
      let entries = try #require(section["entries"] as? [[String: Any]])
      #expect(entries.first?["index"] as? Int == 0)
    }
  }

  @Test("A segment may be part of the pattern")
  func segments() throws {
    let path = try Linkages.path("macho-arm64-fixup-chains.dylib")
    let wanted = try Tool.sections(["sections", path])
      .filter { $0["segment"] as? String == "__TEXT" }.compactMap { $0["name"] as? String }
    let names = try Self.shown(["hex", "--section", "__TEXT,*", path])
    #expect(!wanted.isEmpty && Set(names) == Set(wanted))
  }

  @Test("A question mark is one character, however many bytes that has")
  func characters() throws {
    let path = try Fixtures.build(
      #"const char *texts[] __attribute__((section("café"))) = {"x"};"#, as: "wanted-character.so")
    #expect(try Self.shown(["strings", "--section", "caf?", path]) == ["café"])
  }

  /// Arguments that match nothing, and the expected complaint.
  static let misses: [(arguments: [String], complaint: String)] = [
    (["strings", "--section", "BeehiveMod"], "a section BeehiveMod; did you mean BeehiveMods?"),
    (
      ["hex", "--section", "beehiveservices"],
      "a section beehiveservices; did you mean BeehiveServices?"
    ),
    (["hex", "--section", "list", "--section", "lost"], "a section lost; did you mean list?"),
    (["hex", "--section", "nothing-like-it*"], "a section nothing-like-it*"),
    (["--module", "Hand.Writen"], "a module Hand.Writen; did you mean Hand.Written?"),
    (["--service", "Hand.*", "--module", "x*"], "a module x*"),
    (["--service", "Hand.Servce"], "a service Hand.Servce; did you mean Hand.Service?"),
    (
      ["--require", "module:hand.written"],
      "the required module hand.written; did you mean Hand.Written?"
    ),
  ]

  @Test("One that nothing matches is status 1, with those that are similar", arguments: misses)
  func missing(arguments: [String], complaint: String) throws {
    // The source leaves out the malformed entries of the fixture.
    let source = Fixtures.handWritten.split(separator: "\n")
      .filter { !["nothing", "hostile", "damaged"].contains(where: $0.contains) }
      .joined(separator: "\n")
    let path = try Fixtures.build(source, as: "wanted-misses.so")
    let empty = try Fixtures.build("int x;", as: "wanted-misses-empty.so")
    for more in [[], ["--jobs", "3"], ["--isolate"], ["--format", "json"]] {
      let outcome = try Tool.run(arguments + more + [empty, path]).expect(1)
      #expect(outcome.errors == "section-dump: no file has \(complaint)\n")
    }
    #expect(try Tool.run(arguments + [path, "wanted-nosuch"]).status == 2)
  }
}
