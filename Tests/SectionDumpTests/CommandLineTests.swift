import Foundation
import TestSupport
import Testing

@testable import section_dump

@Suite("The command line")
struct CommandLineTests {
  /// Arguments with options before the command, and the same with the options after it.
  static let orders: [(before: [String], behind: [String])] = [
    (["--color", "never", "sections", "F"], ["sections", "--color", "never", "F"]),
    (
      ["--format=csv", "hex", "--section", "list", "F"],
      ["hex", "--format=csv", "--section", "list", "F"]
    ),
    (
      ["--isolate", "--jobs", "2", "verify", "F", "F"],
      ["verify", "--isolate", "--jobs", "2", "F", "F"]
    ),
    (["--format", "json", "records", "F"], ["records", "--format", "json", "F"]),
    (["--module", "hex", "F"], ["records", "--module", "hex", "F"]),
    (["--", "sections"], ["./sections"]),
    (["--color", "never", "help", "hex"], ["help", "hex"]),
  ]

  @Test("Options may stand before the command", arguments: orders)
  func order(before: [String], behind: [String]) throws {
    let path = try Fixtures.build(Fixtures.handWritten, as: "command-order.so")
    let outcomes = try [before, behind].map { arguments in
      try Tool.run(arguments.map { $0 == "F" ? path : $0 })
    }
    let texts = outcomes.map { ($0.output + $0.errors).replacing("./", with: "") }
    #expect(texts[0] == texts[1])
    #expect(outcomes[0].status == outcomes[1].status)
  }

  @Test("Every option that takes a value is known to take one")
  func valued() throws {
    let options = try CompletionsTests.commands.get().flatMap(\.options).filter(\.isValued)
    #expect(Set(options.flatMap(\.names)).subtracting(CommandArguments.valued) == [])
    #expect(!options.isEmpty)
  }

  @Test("--version says one")
  func version() throws {
    for arguments in [["--version"], ["hex", "--version"], ["--version", "file"]] {
      #expect(try Tool.run(arguments).expect(0).output == "\(SectionDump.version)\n")
    }
  }

  @Test("One file is no files")
  func singular() throws {
    let library = try Fixtures.build("int x;", as: "alone.so")
    let folder = try Fixtures.folder("singular")
    try Fixtures.bytes(library).write(to: folder.appendingPathComponent(library))
    let one = try Tool.run(["-r", "singular"]).output
    #expect(one == "1 file: 0 shown, 1 no entries\n")
    #expect(try Tool.run(["-r", "singular", "singular"]).output.hasPrefix("2 files: "))
  }

  @Test("A command that is mistyped is usage, and the one that was meant is named")
  func mistyped() throws {
    let outcome = try Tool.run(["veryfy", "some.so"]).expect(64)
    #expect(
      outcome.errors
        == "section-dump: There is no command veryfy, and no file; did you mean verify?\n")
    try Data("text".utf8).write(to: Fixtures.place("grph"))
    #expect(try Tool.run(["grph"]).status == 2)
  }

  @Test("Attributes in CSV are those of JSON, whatever they say")
  func attributes() throws {
    let source = """
      #include <BeeHive.h>
      static const struct greeter { int number; } english = { 1 };
      BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english, BEEHIVE_SCOPE("singleton")
        BEEHIVE_ATTRIBUTE("action", "stock(sku: String) -> Int")
        BEEHIVE_ATTRIBUTE("odd", "a=b, \\"c\\" \\\\ \\x01 \\xe2\\x80\\xae") BEEHIVE_ATTRIBUTE("odd", ""));
      """
    let path = try Fixtures.build(source, as: "attributes.so")
    let table = Tool.rows(try Tool.run(["--format", "csv", path]).output)
    let column = try #require(table[0].firstIndex(of: "attributes"))
    let parsed = try JSONSerialization.jsonObject(with: Data(table[1][column].utf8))
    let records = try #require(try Tool.files([path])[0]["records"] as? [[String: Any]])
    let expected = try #require(records[0]["attributes"] as? [String: Any])
    #expect(parsed as? NSDictionary == expected as NSDictionary)
    #expect(expected["action"] as? [String] == ["stock(sku: String) -> Int"])
  }
}
