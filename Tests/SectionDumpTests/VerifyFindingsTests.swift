import Foundation
import TestSupport
import Testing

/// Every code of `verify`, with a source that leads to it, its location and its remedy.
@Suite("Each finding of section-dump verify has a place and a remedy")
struct VerifyFindingsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// C, or assembler if it begins with a dot.
    var source: String
    var place: String
    var remedy: String
    var arguments: [String]
    var compiler: String
    var options: [String]
    var level: String
    var status: Int32

    var code: String { testDescription }

    init(
      _ code: String, _ source: String, _ place: String, _ remedy: String = inSource,
      _ arguments: [String] = ["-shared", "-fPIC"], compiler: String = Compiler.program,
      options: [String] = [], level: String = "error", status: Int32 = 2
    ) {
      (testDescription, self.source, self.place, self.remedy) = (code, source, place, remedy)
      (self.arguments, self.compiler, self.options) = (arguments, compiler, options)
      (self.level, self.status) = (level, status)
    }
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

  /// Returns entries as C writes them, which read well and contradict each other.
  private static func pair(_ one: String, _ other: String) -> String {
    "\(preamble)\(one);\n\(other);"
  }

  /// Returns words of one of the pointer sections, and the text at the name `text`.
  private static func words(
    _ words: String, in section: String = "BeehiveMods", flags: String = "awR"
  ) -> String {
    """
    .section \(section), "\(flags)"
    \(words)
    .section .rodata.text, "a"
    text: .asciz "Log"
    """
  }

  /// Returns one typed record. Omitted fields are valid.
  private static func record(
    size: Int = 48, version: Int = 1, kind: Int = 1, _ text: String = ".asciz \"Log\""
  ) -> String {
    """
    .section BeehiveRecords, "awR"
    .long \(size)
    .short \(version), \(kind)
    .long 0, 32
    .quad 0, 0
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

  /// Sets with a contradiction, though every entry of them can be read.
  static let contradictions =
    [
      Row(
        "idle-attribute",
        pair(
          "BEEHIVE_MODULE(log, &operations, BEEHIVE_SCOPE(\"weak\"))",
          "BEEHIVE_SERVICE(Log, File, &table, BEEHIVE_SCOPE(\"weak\"))"), records,
        "leave it out, or give it to the service that it is meant for", level: "warning", status: 0),
      Row(
        "near-attribute",
        pair(
          "BEEHIVE_MODULE(log, &operations, BEEHIVE_ATTRIBUTE(\"colour\", \"red\"))",
          "BEEHIVE_MODULE(shop, &operations, BEEHIVE_ATTRIBUTE(\"require\", \"log\"))"),
        "BeehiveRecords[1]", "call it requires, or by a name that is less like that",
        level: "warning", status: 0),
      Row(
        "missing-action",
        pair(
          "BEEHIVE_TARGET(shop, actions, BEEHIVE_ACTION(\"perform()\"))",
          "BEEHIVE_TARGET(till, actions, BEEHIVE_ACTION(\"preform()\"))"), "BeehiveRecords[1]",
        "add it to the table, or correct the name in one of the two", level: "warning", status: 0),
      Row(
        "duplicate-module",
        pair("BEEHIVE_MODULE(log, &operations,)", "BEEHIVE_MODULE(log, &operations,)"),
        "BeehiveRecords[1]", "rename or remove one of them", status: 1),
      Row(
        "duplicate-service",
        pair("BEEHIVE_SERVICE(Greeter, A, &table,)", "BEEHIVE_SERVICE(Greeter, B, &table,)"),
        "BeehiveRecords[1]", "give one of them a name or a priority", status: 1),
      Row(
        "duplicate-target",
        pair(
          "BEEHIVE_TARGET(shop, actions, BEEHIVE_ACTION(\"perform()\"))",
          "BEEHIVE_TARGET(shop, actions, BEEHIVE_PRIORITY(1))"), "BeehiveRecords[1]",
        "rename or remove one of them", status: 1),
      Row(
        "duplicate-route",
        pair("BEEHIVE_ROUTE(\"/a/:id\", perform)", "BEEHIVE_ROUTE(\"/a/:name\", perform)"),
        "BeehiveRecords[1]", "give one of them a priority, or another pattern", status: 1),
      Row(
        "scoped-need",
        pair(
          """
          static void *make(const beehive_context *context) { return (void *)context; }
          BEEHIVE_SERVICE_FACTORY(Log, File, make, 0, BEEHIVE_SCOPE("scoped"))
          """, "BEEHIVE_MODULE(log, &operations, BEEHIVE_NEEDS(\"Log\"))"),
        "BeehiveRecords[1]", "let it open a scope and ask the scope", status: 1),
      Row(
        "not-retained",
        """
        __attribute__((used, aligned(8), section("BeehiveServices")))
        static const char *const entry = "{\\"A\\":\\"B\\"}";
        """,
        "BeehiveServices",
        "declare them with BeeHive.h, and without BEEHIVE_WITHOUT_RETAIN, or add retain to their attributes",
        ["-c"],
        status: 1),
      Row(
        "not-retained",
        """
        .section __DATA,BeehiveMods
        _entry: .quad _text
        .section __TEXT,__cstring
        _text: .asciz "Log"
        .subsections_via_symbols
        """,
        "BeehiveMods", "declare them with BeeHive.h, or as no_dead_strip",
        ["-c", "-target", "arm64-apple-macos13"], compiler: "clang", status: 1),
      Row(
        "unmet-requirement",
        preamble + "BEEHIVE_MODULE(shop, &operations, BEEHIVE_REQUIRES(\"log\"));", records,
        "add the file that declares it, or say after instead of requires", level: "warning",
        status: 0),
      Row(
        "cycle", preamble + "BEEHIVE_MODULE(log, &operations, BEEHIVE_AFTER(\"log\"));", records,
        "drop one of these requirements", status: 1),
      Row(
        "missing-implementation", "#include <BeeHive.h>\nBeeHiveMod(Log);", pointers,
        "add the file that has it, correct the name, or bind it by code", level: "warning",
        status: 0),
    ] + missing

  /// Requirements that no file declares.
  private static let missing = [
    ("missing-module", "module:net"), ("missing-service", "service:log"),
    ("missing-target", "target:log"), ("missing-route", "route:app://log/:id"),
    ("missing-plugin", "plugin:com.example.log"),
  ].map { code, required in
    Row(
      code, preamble + "BEEHIVE_MODULE(log, &operations,);", "(all files)",
      "add the file that has it, or correct the name", options: ["--require", required], status: 1)
  }

  /// Codes that `AgreementTests` of the project plants, with the remedy of most.
  private static let planted: Set = [
    "unterminated-text", "invalid-utf8", "empty-name", "malformed-json", "several-json-keys",
    "bad-record-size", "bad-text-offset", "bad-attribute", "bad-context", "bad-code",
  ]

  /// Other entries that cannot be registered: problems of `records`, and findings here.
  static let malformed = [
    Row("null-pointer", words(".quad 0"), pointers),
    Row("pointer-outside-image", words(".quad text + 0x100000"), pointers),
    Row("unresolved-pointer", words(".quad of_another_library"), pointers),
    Row("odd-section-size", words(".quad text\n.long 0"), "BeehiveMods[1]"),
    Row(
      "unknown-version", record(version: 2), records,
      "read it with a newer section-dump, or build it against an older BeeHive.h"),
    Row(
      "unknown-kind", record(kind: 6), records,
      "read it with a newer section-dump, or build it against an older BeeHive.h"),
    Row(
      "bad-identity", record(size: 40, kind: 5, ".asciz \"greet\", \"\""), records,
      "write one BEEHIVE_PLUGIN with an id and a version"),
    Row(
      "bad-pattern", record(size: 48, kind: 4, ".asciz \"app://x/:\""), records,
      "write the pattern in the notation of Docs/routing.md"),
    Row(
      "bad-action", record(size: 56, kind: 3, ".asciz \"shop\", \"\", \"action=a(\""), records,
      "write each action once, as name(parameter: Type) -> Type"),
    Row(
      "unknown-type",
      record(size: 72, kind: 3, ".asciz \"shop\", \"\", \"abi=c-target\", \"action=a() -> T\""),
      records, "declare a String, Int, Double or Bool"),
    Row(
      "unreadable-section",
      """
      .section BeehiveMods, "awR", @nobits
      .zero 8
      """,
      pointers, inFile),
    Row("unreadable-section", words(".quad text", flags: "R"), pointers, inFile, ["-c"]),
    Row(
      "unreadable-section", words(".quad text", in: "BeehiveServices", flags: "ae"),
      "BeehiveServices[0]", inFile, ["-c"]),
    Row(
      "limit-exceeded", words(".rept 1025\n.quad 0\n.endr"), "BeehiveMods[1025]",
      "split the file; no scan reads more"),
  ]

  @Test(arguments: contradictions + malformed)
  func finds(row: Row) throws {
    try Needs.programs(row.compiler)
    let isAssembler = row.source.hasPrefix(".")
    let name =
      "finding-\(row.code)-\(row.place.filter(\.isLetter)).\(row.arguments.contains("-c") ? "o" : "so")"
    let file = try Fixtures.build(
      row.source, as: name, suffix: isAssembler ? "s" : "c", with: row.compiler, row.arguments)
    let findings = try Tool.findings([file] + row.options, status: row.status)
    let finding = try #require(findings.last { $0["code"] as? String == row.code }, "\(findings)")
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
    let found = try Tool.found([file], status: 1)
    #expect(found.count { $0.contains("not-retained") } == 1, "\(found)")
  }

  /// Returns the codes in a table of the documentation.
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
    #expect(Self.planted.union(Self.malformed.map(\.code)) == entries)
  }
}
