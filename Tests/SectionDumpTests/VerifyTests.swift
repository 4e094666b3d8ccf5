import Foundation
import TestSupport
import Testing

/// Sets of libraries. `AgreementTests` of the project tests which entries are duplicates, or wait for each other.
@Suite("What section-dump verify finds")
struct VerifyTests {
  /// A set: the source of each file, `a.so`, `b.so` and so on, and the expected findings.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sources: [String]
    var findings: [String]
    var status: Int32
    var options: [String]
    /// Whether the files are objects.
    var isObject: Bool

    init(
      _ description: String, _ sources: [String], _ findings: [String] = [], status: Int32 = 0,
      options: [String] = [], isObject: Bool = false
    ) {
      (testDescription, self.sources, self.findings) = (description, sources, findings)
      (self.status, self.options, self.isObject) = (status, options, isObject)
    }
  }

  private static let service = """
    #include <BeeHive.h>
    static const int english = 1;
    BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english);
    """
  /// Returns a C service that a factory makes.
  private static func factory(_ name: String, _ attributes: String) -> String {
    """
    #include <BeeHive.h>
    static void *create(const beehive_context *context) { return (void *)context; }
    BEEHIVE_SERVICE_FACTORY(\(name), Plain\(name), create, 0, \(attributes));
    """
  }
  private static let audit = factory("Audit", #"BEEHIVE_SCOPE("singleton") BEEHIVE_NEEDS("Mail")"#)
  private static let log = "#include <BeeHive.h>\nBeeHiveMod(Log);"
  private static let pointer = """
    __attribute__((used, RETAIN aligned(8), section("BeehiveMods")))
    static const char *const entry = "Log";
    """
  private static let unmet = "unmet-requirement a BeehiveRecords[0]"
  private static let missing = "warning missing-implementation"

  static let rows = [
    Row("nothing", [Compiler.module("log"), Compiler.module("net")]),
    Row(
      "a duplicate in another file",
      [Compiler.module("log"), Compiler.module("net"), Compiler.module("log") + "\nint other;"],
      ["error duplicate-module c BeehiveRecords[0]"], status: 1),
    Row(
      "a duplicate in the same file", [log + "\nBeeHiveMod(Log);"],
      [
        "error duplicate-module a BeehiveMods[1]", "\(missing) a BeehiveMods[0]",
        "\(missing) a BeehiveMods[1]",
      ], status: 1),
    Row("a module and a service of one name", [Compiler.module("Greeter"), service]),
    Row(
      "a requirement that nobody meets, strictly",
      [Compiler.module("shop", #"BEEHIVE_REQUIRES("log") BEEHIVE_AFTER("net")"#)],
      ["warning \(unmet)"], status: 1, options: ["--strict"]),
    Row(
      "a requirement that a version meets",
      [
        Compiler.module("shop", #"BEEHIVE_REQUIRES("log >=1.2 <2")"#),
        Compiler.module("log", #"BEEHIVE_VERSION("1.10")"#),
      ]),
    Row(
      "a version that a refused duplicate has, and no other",
      [
        Compiler.module("shop", #"BEEHIVE_REQUIRES("log >=2")"#),
        Compiler.module("log", #"BEEHIVE_VERSION("1")"#),
        Compiler.module("log", #"BEEHIVE_VERSION("2")"#),
      ], ["error duplicate-module c BeehiveRecords[0]", "error \(unmet)"], status: 1),
    Row(
      "a module that only follows one that cannot start",
      [
        Compiler.module("net", #"BEEHIVE_REQUIRES("disk") BEEHIVE_AFTER("log")"#),
        Compiler.module("log", #"BEEHIVE_AFTER("net")"#),
      ], ["warning \(unmet)"]),
    Row(
      "a cycle across files",
      [
        Compiler.module("log", #"BEEHIVE_REQUIRES("net")"#),
        Compiler.module("net", #"BEEHIVE_AFTER("disk")"#),
        Compiler.module("disk", #"BEEHIVE_REQUIRES("log")"#),
      ], ["error cycle a BeehiveRecords[0]"], status: 1),
    Row(
      "a singleton that needs a scoped service through another",
      [
        audit, factory("Mail", #"BEEHIVE_NEEDS("Conn")"#),
        factory("Conn", #"BEEHIVE_SCOPE("scoped")"#),
      ],
      ["error scoped-need a BeehiveRecords[0]"], status: 1),
    Row(
      "services that need each other", [audit, factory("Mail", #"BEEHIVE_NEEDS("Audit")"#)],
      ["error cycle a BeehiveRecords[0]"], status: 1),
    Row("a need that nobody meets", [audit], ["warning \(unmet)"]),
    Row(
      "needs of objects, which are loaded by none of the libraries",
      [audit, factory("Mail", #"BEEHIVE_SCOPE("scoped")"#)],
      ["error scoped-need a BeehiveRecords[0]"], status: 1, isObject: true),
    Row(
      "an object whose entries are retained", [log], ["\(missing) a BeehiveMods[0]"], isObject: true
    ),
    Row(
      "a malformed entry, and what is good beside it",
      [
        pointer.replacing("RETAIN", with: "retain,").replacing("\"Log\"", with: "0") + "\n" + log,
        log,
      ],
      [
        "error null-pointer a BeehiveMods[0]", "error duplicate-module b BeehiveMods[0]",
        "\(missing) a BeehiveMods[1]", "\(missing) b BeehiveMods[0]",
      ], status: 2),
  ]

  @Test(arguments: rows)
  func finds(row: Row) throws {
    let folder = UUID().uuidString
    try Fixtures.folder(folder)
    let suffix = row.isObject ? ".o" : ".so"
    let files = try zip("abc", row.sources).map { name, source in
      try Fixtures.build(
        source, as: "\(folder)/\(name)\(suffix)", row.isObject ? ["-c"] : ["-shared", "-fPIC"])
    }
    let findings = try Tool.found(row.options + files, status: row.status)
    #expect(
      findings.map { $0.replacing("\(folder)/", with: "").replacing(suffix, with: "") }
        == row.findings)
  }

  @Test("what is required is told with what is nearly so called, of its kind alone")
  func similar() throws {
    let file = try Fixtures.build(Compiler.module("log"), as: "verify-near.so")
    try Tool.run(["verify", file, "--require", "module:lgo", "--require", "service:logg"]).expect(
      1, output: "no file has the required module lgo; did you mean log? [",
      "no file has the required service logg [")

    let shop = try Fixtures.build(
      Compiler.module("shop", #"BEEHIVE_REQUIRES("logg")"#), as: "verify-requiring.so")
    try Tool.run(["verify", file, shop])
      .expect(0, output: "requires logg, which no file declares; did you mean log? [")

    let mistyped = try Fixtures.build(
      Compiler.module("shop", #"BEEHIVE_REQUIRES("log>=1.2")"#), as: "verify-mistyped.so")
    let typed = try Tool.run(["verify", file, mistyped])
    #expect(typed.output.contains(#"say which versions will do as in "log >=1.2 <2""#))
  }

  @Test("people read the place, what is wrong and what to do")
  func text() throws {
    let files = try ["first", "second"].map {
      try Fixtures.build(Compiler.module("log") + "\nint \($0);", as: "verify-\($0).so")
    }
    let outcome = try Tool.run(["verify"] + files)
    #expect(
      outcome.output == """
        verify-second.so BeehiveRecords[0]: error: module log is declared by verify-first.so \
        BeehiveRecords[0] too [duplicate-module]
            rename or remove one of them
        2 files, 2 entries: 1 error, 0 warnings

        """)
  }

  @Test("One is one")
  func counts() throws {
    let one = try Fixtures.build("#include <BeeHive.h>\nBeeHiveMod(Log);", as: "count-1.so")
    #expect(try Tool.run(["verify", one]).lines.last == "1 file, 1 entry: 0 errors, 1 warning")
  }

  @Test("A very long cycle is shown in part, with its length")
  func longCycle() throws {
    let count = 300
    let entries = (0..<count).map {
      "BEEHIVE_MODULE(m\($0), &operations, BEEHIVE_REQUIRES(\"m\(($0 + 1) % count)\"));"
    }
    let file = try Fixtures.build(
      """
      #include <BeeHive.h>
      static const beehive_module_operations operations = {0};
      \(entries.joined(separator: "\n"))
      """, as: "long-cycle.so")
    let outcome = try Tool.run(["verify", file]).expect(1)
    let line = try #require(outcome.lines.first)
    #expect(line.contains("error: 300 modules "), "\(line)")
    #expect(line.contains(" → 292 more → "))
    #expect(line.utf8.count < 1000)
    // Each node of the cycle still leads to the finding.
    let document = try Tool.object(Tool.run(["graph", "--format", "json", file]).output)
    let findings = try #require(document["findings"] as? [[String: Any]])
    #expect(findings.map { ($0["nodes"] as? [Any])?.count } == [count])
    let nodes = try #require(document["nodes"] as? [[String: Any]])
    #expect(nodes.allSatisfy { ($0["findings"] as? [Int]) == [0] })
  }
}
