import Foundation
import TestSupport
import Testing

/// Every code that `verify` has, with what leads to it, where it points and what it advises.
@Suite("Each finding of section-dump verify has a place and a remedy")
struct VerifyFindingsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var code: String
    /// C, or assembler where it begins with a dot.
    var source: String
    var place: String
    var remedy = inSource
    var arguments = ["-shared", "-fPIC"]
    var compiler = Compiler.program
    var options: [String] = []
    var level = "error"
    var status: Int32 = 2

    var testDescription: String { code }
  }

  private static let preamble = """
    #include <BeeHive.h>
    static const int table = 1;
    static const beehive_module_operations operations = {0};
    static bool perform(const beehive_call *call, beehive_reply *reply) {
      return call == 0 && reply == 0;
    }
    static const beehive_action actions[] = {{"perform", perform}};

    """

  /// Entries as C writes them, which read well and contradict each other.
  private static func pair(_ one: String, _ other: String) -> String {
    "\(preamble)\(one);\n\(other);"
  }

  /// Words of one of the pointer sections, and the text that the name `text` leads to.
  private static func words(
    _ words: String, in section: String = "BeehiveMods", flags: String = "awR",
    text: String = ".asciz \"Log\""
  ) -> String {
    """
    .section \(section), "\(flags)"
    \(words)
    .section .rodata.text, "a"
    text: \(text)
    """
  }

  /// One typed record; what is not given is as it should be.
  private static func record(
    size: Int = 48, version: Int = 1, kind: Int = 1, text offset: Int = 32, context: String = "0",
    _ text: String = ".asciz \"Log\""
  ) -> String {
    """
    .section BeehiveRecords, "awR"
    .long \(size)
    .short \(version), \(kind)
    .long 0, \(offset)
    .quad 0, \(context)
    \(text)
    .balign 8
    .zero 8
    """
  }

  private static let pointers = "BeehiveMods[0]"
  private static let records = "BeehiveRecords[0]"
  private static let inFile =
    "build the file again as the message says, or name it as it was before it was changed"
  private static let inSource = "correct the entry in its source, or declare it with BeeHive.h"

  /// What is wrong with the set, though every entry of it can be read.
  static let contradictions =
    [
      Row(
        code: "idle-attribute",
        source: pair(
          "BEEHIVE_MODULE(log, &operations, BEEHIVE_SCOPE(\"weak\"))",
          "BEEHIVE_SERVICE(Log, File, &table, BEEHIVE_SCOPE(\"weak\"))"),
        place: records, remedy: "leave it out, or give it to the service that it is meant for",
        level: "warning", status: 0),
      Row(
        code: "duplicate-module",
        source: pair("BEEHIVE_MODULE(log, &operations,)", "BEEHIVE_MODULE(log, &operations,)"),
        place: "BeehiveRecords[1]", remedy: "rename or remove one of them", status: 1),
      Row(
        code: "duplicate-service",
        source: pair(
          "BEEHIVE_SERVICE(Greeter, A, &table,)", "BEEHIVE_SERVICE(Greeter, B, &table,)"),
        place: "BeehiveRecords[1]", remedy: "give one of them a name or a priority", status: 1),
      Row(
        code: "duplicate-target",
        source: pair(
          "BEEHIVE_TARGET(shop, actions, BEEHIVE_ACTION(\"perform()\"))",
          "BEEHIVE_TARGET(shop, actions, BEEHIVE_PRIORITY(1))"),
        place: "BeehiveRecords[1]", remedy: "rename or remove one of them", status: 1),
      Row(
        code: "duplicate-route",
        source: pair("BEEHIVE_ROUTE(\"/a/:id\", perform)", "BEEHIVE_ROUTE(\"/a/:name\", perform)"),
        place: "BeehiveRecords[1]", remedy: "give one of them a priority, or another pattern",
        status: 1),
      Row(
        code: "not-retained",
        source: """
          __attribute__((used, aligned(8), section("BeehiveServices")))
          static const char *const entry = "{\\"A\\":\\"B\\"}";
          """,
        place: "BeehiveServices",
        remedy: "declare them with BeeHive.h, or add retain to their attributes", arguments: ["-c"],
        status: 1),
      Row(
        code: "not-retained",
        source: """
          .section __DATA,BeehiveMods
          _entry: .quad _text
          .section __TEXT,__cstring
          _text: .asciz "Log"
          .subsections_via_symbols
          """,
        place: "BeehiveMods", remedy: "declare them with BeeHive.h, or as no_dead_strip",
        arguments: ["-c", "-target", "arm64-apple-macos13"], compiler: "clang", status: 1),
      Row(
        code: "unmet-requirement",
        source: preamble + "BEEHIVE_MODULE(shop, &operations, BEEHIVE_REQUIRES(\"log\"));",
        place: records,
        remedy: "add the file that declares it, or say after in place of requires",
        level: "warning", status: 0),
      Row(
        code: "cycle",
        source: preamble + "BEEHIVE_MODULE(log, &operations, BEEHIVE_AFTER(\"log\"));",
        place: records, remedy: "drop one of these requirements", status: 1),
      Row(
        code: "missing-implementation", source: "#include <BeeHive.h>\nBeeHiveMod(Log);",
        place: pointers,
        remedy: "add the file that has it, correct the name, or bind it by code",
        level: "warning", status: 0),
    ] + missing

  /// What is required, and declared by nothing.
  private static let missing = [
    ("missing-module", "module:net"), ("missing-service", "service:log"),
    ("missing-target", "target:log"), ("missing-route", "route:app://log/:id"),
  ].map { code, required in
    Row(
      code: code, source: preamble + "BEEHIVE_MODULE(log, &operations,);", place: "(all files)",
      remedy: "add the file that has it, or correct the name", options: ["--require", required],
      status: 1)
  }

  /// Entries that cannot be registered: problems of `records`, and findings here.
  static let malformed = [
    Row(
      code: "null-pointer", source: words(".quad 0"), place: pointers),
    Row(
      code: "pointer-outside-image", source: words(".quad text + 0x100000"), place: pointers),
    Row(
      code: "unresolved-pointer", source: words(".quad of_another_library"), place: pointers),
    Row(
      code: "unterminated-text", source: record(size: 40, ".ascii \"Unending\""), place: records),
    Row(
      code: "invalid-utf8", source: words(".quad text", text: ".asciz \"L\\377g\""),
      place: pointers),
    Row(
      code: "empty-name", source: words(".quad text", text: ".asciz \"\""), place: pointers),
    Row(
      code: "malformed-json",
      source: words(".quad text", in: "BeehiveServices", text: ".asciz \"Greeter\""),
      place: "BeehiveServices[0]"),
    Row(
      code: "several-json-keys",
      source: words(
        ".quad text", in: "BeehiveServices",
        text: ".asciz \"{\\\"A\\\":\\\"B\\\",\\\"C\\\":\\\"D\\\"}\""),
      place: "BeehiveServices[0]"),
    Row(
      code: "odd-section-size", source: words(".quad text\n.long 0"), place: "BeehiveMods[1]"),
    Row(
      code: "bad-record-size", source: record(size: 31), place: records),
    Row(
      code: "unknown-version", source: record(version: 2), place: records,
      remedy: "read it with a newer section-dump, or build it against an older BeeHive.h"),
    Row(
      code: "unknown-kind", source: record(kind: 5), place: records,
      remedy: "read it with a newer section-dump, or build it against an older BeeHive.h"),
    Row(
      code: "bad-text-offset", source: record(text: 24), place: records),
    Row(
      code: "bad-attribute", source: record(size: 56, ".asciz \"Log\", \"\", \"priority=high\""),
      place: records),
    Row(
      code: "bad-pattern", source: record(size: 48, kind: 4, ".asciz \"app://x/:\""),
      place: records, remedy: "write the pattern in the notation of Docs/routing.md"),
    Row(
      code: "bad-action", source: record(size: 56, kind: 3, ".asciz \"shop\", \"\", \"action=a(\""),
      place: records, remedy: "write each action once, as name(parameter: Type) -> Type"),
    Row(
      code: "unknown-type",
      source: record(
        size: 72, kind: 3, ".asciz \"shop\", \"\", \"abi=c-target\", \"action=a() -> T\""),
      place: records, remedy: "declare a String, Int, Double or Bool"),
    Row(
      code: "bad-context",
      source: record(size: 56, kind: 2, ".asciz \"Log\", \"A\", \"abi=c-table\""), place: records),
    Row(
      code: "bad-code",
      source: record(
        size: 56, kind: 2, context: "factory", ".asciz \"Log\", \"A\", \"abi=c-factory\"")
        + "\n.data\n.balign 8\nfactory: .long 24, 1\n.quad factory, 0\n",
      place: records),
    Row(
      code: "unreadable-section",
      source: """
        .section BeehiveMods, "awR", @nobits
        .zero 8
        """,
      place: pointers, remedy: inFile),
    Row(
      code: "unreadable-section", source: words(".quad text", flags: "R"), place: pointers,
      remedy: inFile, arguments: ["-c"]),
    Row(
      code: "unreadable-section", source: words(".quad text", in: "BeehiveServices", flags: "ae"),
      place: "BeehiveServices[0]", remedy: inFile, arguments: ["-c"]),
    Row(
      code: "limit-exceeded",
      source: words(".rept 1025\n.quad 0\n.endr"), place: "BeehiveMods[1025]",
      remedy: "split the file; no scan reads more"),
  ]

  @Test(arguments: contradictions + malformed)
  func finds(row: Row) throws {
    try Needs.programs(row.compiler)
    let isAssembler = row.source.hasPrefix(".")
    let name =
      "finding-\(row.code)-\(row.place.filter(\.isLetter)).\(row.arguments.contains("-c") ? "o" : "so")"
    let file = try Fixtures.build(
      row.source, as: name, suffix: isAssembler ? "s" : "c", with: row.compiler, row.arguments)
    let outcome = try Tool.run(["verify", "--format", "json", file] + row.options)
    #expect(outcome.status == row.status, "\(outcome.output)")
    let findings = try Tool.files(of: outcome, key: "findings")
    let finding = try #require(
      findings.last { $0["code"] as? String == row.code }, "\(outcome.output)")
    var place = finding["section"] as? String ?? "(all files)"
    if let index = finding["index"] as? Int { place += "[\(index)]" }
    #expect(place == row.place)
    #expect(finding["path"] as? String == (place == "(all files)" ? place : file))
    #expect(finding["level"] as? String == row.level)
    #expect(finding["remedy"] as? String == row.remedy)
    #expect((finding["message"] as? String)?.isEmpty == false)
  }

  @Test("Sections of one name that a linker may drop make one finding")
  func once() throws {
    let source = (1...3).map { number in
      """
      .section BeehiveMods, "aw", @progbits, unique, \(number)
      .quad text
      """
    }
    let rest = ".section .rodata\ntext: .asciz \"Log\"\n"
    let file = try Fixtures.build(
      source.joined(separator: "\n") + "\n" + rest, as: "finding-once.o", suffix: "s", ["-c"])
    let outcome = try Tool.run(["verify", "--format", "json", file])
    #expect(outcome.status == 1)
    #expect(outcome.output.matches(of: /"not-retained"/).count == 1, "\(outcome.output)")
  }

  /// The codes in a table of the documentation.
  private static func codes(under heading: String) throws -> Set<String> {
    let text = try Repository.text("Docs/problems.md")
    let parts = text.components(separatedBy: "\n## ")
    let part = try #require(parts.first { $0.hasPrefix(heading) })
    return Set(part.matches(of: /\n\| `([a-z0-9-]+)`/).map { String($0.1) })
  }

  @Test("No code is left out")
  func complete() throws {
    let own = try Self.codes(under: "What section-dump verify finds")
    #expect(VerifySetsTests.codes.union(Self.contradictions.map(\.code)) == own)
    let entries = try Self.codes(under: "An entry that cannot be registered")
    #expect(Set(Self.malformed.map(\.code)) == entries)
  }
}
