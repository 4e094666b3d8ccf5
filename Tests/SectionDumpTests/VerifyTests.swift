import Foundation
import TestSupport
import Testing

/// Sets of libraries, and what is found in each.
@Suite("What section-dump verify finds")
struct VerifyTests {
  /// A set: the source of each file, and the findings as `file code level`.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var sources: [String]
    var options: [String] = []
    /// How each file is compiled.
    var arguments = ["-shared", "-fPIC"]
    var suffix = "so"
    var findings: [String] = []
    var status: Int32 = 0
  }

  private static func module(_ name: String, _ attributes: String = "") -> String {
    """
    #include <BeeHive.h>
    static const beehive_module_operations \(name)_operations = {0};
    BEEHIVE_MODULE(\(name), &\(name)_operations, \(attributes));
    """
  }

  private static func service(_ implementation: String, _ attributes: String = "") -> String {
    """
    #include <BeeHive.h>
    static const int \(implementation) = 1;
    BEEHIVE_SERVICE(Greeter, \(implementation)Greeter, &\(implementation), \(attributes));
    """
  }

  /// A file for each list of routes: pattern and attributes.
  private static func routes(_ routes: [(pattern: String, attributes: String)]) -> String {
    let entries = routes.map { "BEEHIVE_ROUTE(\"\($0.pattern)\", perform, \($0.attributes));" }
    return """
      #include <BeeHive.h>
      static bool perform(const beehive_call *call, beehive_reply *reply) {
        return call == 0 && reply == 0;
      }

      """ + entries.joined(separator: "\n")
  }

  private static func target(_ attributes: String) -> String {
    """
    #include <BeeHive.h>
    static const beehive_action actions[] = {{"open", 0}};
    BEEHIVE_TARGET(Shop, actions, \(attributes));
    """
  }

  static let rows = [
    Row(testDescription: "nothing", sources: [module("log"), module("net")]),
    Row(
      testDescription: "a duplicate in another file",
      sources: [module("log"), module("net"), module("log") + "\nint other;"],
      findings: ["c BeehiveRecords[0] duplicate-module error"], status: 1),
    Row(
      testDescription: "a duplicate in the same file",
      sources: ["#include <BeeHive.h>\nBeeHiveMod(Log);\nBeeHiveMod(Log);"],
      findings: [
        "a BeehiveMods[1] duplicate-module error",
        "a BeehiveMods[0] missing-implementation warning",
        "a BeehiveMods[1] missing-implementation warning",
      ], status: 1),
    Row(
      testDescription: "a module and a service of one name",
      sources: [module("Greeter"), service("english")]),
    Row(
      testDescription: "two services that nothing tells apart",
      sources: [service("english"), service("french")],
      findings: ["b BeehiveRecords[0] duplicate-service error"], status: 1),
    Row(
      testDescription: "services of different priority and name",
      sources: [
        service("english"), service("french", "BEEHIVE_PRIORITY(1)"),
        service("german", "BEEHIVE_NAME(\"german\")"),
      ]),
    Row(
      testDescription: "two targets, whatever their priority",
      sources: [target("BEEHIVE_PRIORITY(1)"), target("BEEHIVE_PRIORITY(2)")],
      findings: ["b BeehiveRecords[0] duplicate-target error"], status: 1),
    Row(
      testDescription: "routes of one shape, by other names",
      sources: [routes([("/a/:id<Int>?x", "")]), routes([("/a/:number<int>?y", "")])],
      findings: ["b BeehiveRecords[0] duplicate-route error"], status: 1),
    Row(
      testDescription: "routes of one shape at one priority",
      sources: [
        routes([("app://a/:id", "BEEHIVE_PRIORITY(3)")]),
        routes([("APP://a/:name", "BEEHIVE_PRIORITY(3)")]),
      ],
      findings: ["b BeehiveRecords[0] duplicate-route error"], status: 1),
    Row(
      testDescription: "routes of one shape at other priorities",
      sources: [routes([("/a/:id", "")]), routes([("/a/:id", "BEEHIVE_PRIORITY(1)")])]),
    Row(
      testDescription: "routes of other shapes",
      sources: [
        routes([("/a/:id", "")]), routes([("/a/:id<Int>", "")]),
        routes([("/a/:id", "BEEHIVE_MATCH(\"prefix\")")]),
      ]),
    Row(
      testDescription: "a route that is one form of another",
      sources: [routes([("/a(/:id)", "")]), routes([("/a", "")])],
      findings: ["b BeehiveRecords[0] duplicate-route error"], status: 1),
    Row(
      testDescription: "a route that is a form of one that is refused",
      sources: [routes([("/a", "")]), routes([("/a(/b)", "")]), routes([("/a/b", "")])],
      findings: ["b BeehiveRecords[0] duplicate-route error"], status: 1),
    Row(
      testDescription: "a requirement that nobody meets",
      sources: [module("shop", "BEEHIVE_REQUIRES(\"log\") BEEHIVE_AFTER(\"net\")")],
      findings: ["a BeehiveRecords[0] unmet-requirement warning"]),
    Row(
      testDescription: "the same, strictly",
      sources: [module("shop", "BEEHIVE_REQUIRES(\"log\")")], options: ["--strict"],
      findings: ["a BeehiveRecords[0] unmet-requirement warning"], status: 1),
    Row(
      testDescription: "a requirement that a version meets",
      sources: [
        module("shop", "BEEHIVE_REQUIRES(\"log >=1.2 <2\")"),
        module("log", "BEEHIVE_VERSION(\"1.10\")"),
      ]),
    Row(
      testDescription: "a requirement that no version meets",
      sources: [
        module("shop", "BEEHIVE_REQUIRES(\"log >=1.2 <2\")"),
        module("log", "BEEHIVE_VERSION(\"2\")"),
      ],
      findings: ["a BeehiveRecords[0] unmet-requirement error"], status: 1),
    Row(
      testDescription: "a version that a refused duplicate has",
      sources: [
        module("shop", "BEEHIVE_REQUIRES(\"log >=2\")"), module("log", "BEEHIVE_VERSION(\"1\")"),
        module("log", "BEEHIVE_VERSION(\"2\")"),
      ],
      findings: [
        "c BeehiveRecords[0] duplicate-module error", "a BeehiveRecords[0] unmet-requirement error",
      ], status: 1),
    Row(
      testDescription: "a module that only follows one that cannot start",
      sources: [
        module("log", "BEEHIVE_AFTER(\"net\")"),
        module("net", "BEEHIVE_REQUIRES(\"disk\") BEEHIVE_AFTER(\"log\")"),
      ],
      findings: ["b BeehiveRecords[0] unmet-requirement warning"]),
    Row(
      testDescription: "a cycle across files",
      sources: [
        module("log", "BEEHIVE_REQUIRES(\"net\")"), module("net", "BEEHIVE_AFTER(\"disk\")"),
        module("disk", "BEEHIVE_REQUIRES(\"log\")"),
      ],
      findings: ["a BeehiveRecords[0] cycle error"], status: 1),
    Row(
      testDescription: "an object without retain",
      sources: [
        """
        __attribute__((used, aligned(8), section("BeehiveMods")))
        static const char *const entry = "Log";
        """
      ], arguments: ["-c"], suffix: "o",
      findings: [
        "a BeehiveMods not-retained error", "a BeehiveMods[0] missing-implementation warning",
      ], status: 1),
    Row(
      testDescription: "an object with it", sources: ["#include <BeeHive.h>\nBeeHiveMod(Log);"],
      arguments: ["-c"], suffix: "o", findings: ["a BeehiveMods[0] missing-implementation warning"]),
    Row(
      testDescription: "a malformed entry, and what is good beside it",
      sources: [
        """
        #include <BeeHive.h>
        BEEHIVE_ENTRY static const char *const nothing = 0;
        BeeHiveMod(Log);
        """.replacing(
          "BEEHIVE_ENTRY",
          with: "__attribute__((used, retain, aligned(8), section(\"BeehiveMods\")))"),
        "#include <BeeHive.h>\nBeeHiveMod(Log);",
      ],
      findings: [
        "a BeehiveMods[0] null-pointer error", "b BeehiveMods[0] duplicate-module error",
        "a BeehiveMods[1] missing-implementation warning",
        "b BeehiveMods[0] missing-implementation warning",
      ], status: 2),
  ]

  @Test(arguments: rows)
  func finds(row: Row) throws {
    let folder = UUID().uuidString
    try Fixtures.folder(folder)
    let files = try zip("abc", row.sources).map { name, source in
      try Fixtures.build(source, as: "\(folder)/\(name).\(row.suffix)", row.arguments)
    }
    let outcome = try Tool.run(["verify", "--format", "json"] + row.options + files)
    #expect(outcome.status == row.status)
    let findings = try Tool.files(of: outcome, key: "findings").map { finding in
      var place = (finding["path"] as? String ?? "").replacing("\(folder)/", with: "")
        .replacing(".\(row.suffix)", with: "")
      if let section = finding["section"] as? String { place += " \(section)" }
      if let index = finding["index"] as? Int { place += "[\(index)]" }
      #expect((finding["remedy"] as? String)?.isEmpty == false)
      #expect((finding["message"] as? String)?.contains("Optional(") == false)
      return "\(place) \(finding["code"] ?? "") \(finding["level"] ?? "")"
    }
    #expect(findings == row.findings)
  }

  @Test("what is required is told with what is nearly so called, of its kind alone")
  func similar() throws {
    let file = try Fixtures.build(Self.module("log"), as: "verify-near.so")
    let outcome = try Tool.run(
      ["verify", file, "--require", "module:lgo", "--require", "service:logg"])
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("no file has the required module lgo; did you mean log? ["))
    #expect(outcome.output.contains("no file has the required service logg ["))

    let shop = try Fixtures.build(
      Self.module("shop", #"BEEHIVE_REQUIRES("logg")"#), as: "verify-requiring.so")
    let set = try Tool.run(["verify", file, shop])
    #expect(set.output.contains("requires logg, which no file declares; did you mean log? ["))

    let mistyped = try Fixtures.build(
      Self.module("shop", #"BEEHIVE_REQUIRES("log>=1.2")"#), as: "verify-mistyped.so")
    let typed = try Tool.run(["verify", file, mistyped])
    #expect(typed.output.contains(#"say which versions will do as in "log >=1.2 <2""#))
  }

  @Test("people read the place, what is wrong and what to do")
  func text() throws {
    let files = try ["first", "second"].map {
      try Fixtures.build(Self.module("log") + "\nint \($0);", as: "verify-\($0).so")
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
}
