import Testing

/// A record, or a structure that it leads to, has a bad pointer. The host lives and names the record and the reason.
/// The records next to it serve.
@Suite("A record with a wild pointer") struct WildPointersTests {
  /// The source between two good records.
  struct Wild: CustomTestStringConvertible {
    var testDescription: String
    /// Statements of C.
    var source: String
    /// The host's steps with the record, after it has listed all entries.
    var steps: [String] = []
    /// Words that must be somewhere in the output.
    var said: String
  }

  /// Pointers to places that are neither code nor data, with their names in tests.
  static let places: [(name: String, value: String)] = [
    ("outside every image", "(void *)0x1234"), ("at the end of memory", "(void *)-8"),
    ("in no canonical place", "(void *)0x8000000000000000"),
  ]

  /// Returns a record written by hand: kind, accessor, context, and 64 bytes of text.
  static func record(_ kind: Int, _ accessor: String, _ context: String, _ text: String) -> String {
    Source.record
      + "static const struct head wild RECORD = {96, 1, \(kind), 0, 32, \(accessor), \(context), "
      + "\(text)};\n"
  }

  static let header = "#include <BeeHive.h>\n#include \"contract.h\"\n"

  static let accessors: [Wild] =
    (places + [("in data", "&number"), ("in data of another image", "&environ")]).map { place in
      Wild(
        testDescription: "an accessor \(place.name)",
        source: "static int number = 1;\nextern char **environ;\n"
          + record(2, "(void *)\(place.value)", "0", #""Greeter\0Wild\0""#)
          + "int *use_number(void) { return &number; }",
        said: "rejected (bad-code) service Greeter")
    }

  static let contexts: [Wild] = places.flatMap { place in
    [
      Wild(
        testDescription: "a table \(place.name)",
        source: record(2, "0", place.value, #""Wild\0T\0abi=c-table\0""#), steps: ["speak=Wild"],
        said: "rejected (bad-context) service Wild"),
      Wild(
        testDescription: "a module's table \(place.name)",
        source: record(1, "0", place.value, #""Wild\0T\0abi=c-module\0""#), steps: ["start"],
        said: "rejected (bad-context) module Wild"),
    ]
  }

  /// Structures in the image itself; `@` is their wild field.
  static let wildStructures: [Wild] = [
    Wild(
      testDescription: "a service's table",
      source: """
        static const beehive_service_table t = {sizeof t, 1, 8, @};
        \(record(2, "0", "&t", #""Wild\0T\0abi=c-table\0""#))
        """,
      steps: ["speak=Wild", "reasons"], said: "the table of the service is to be 8 bytes at"),
    Wild(
      testDescription: "a factory's function",
      source: """
        static const beehive_service_factory f = {sizeof f, 1, @, 0};
        \(record(2, "0", "&f", #""Wild\0T\0abi=c-factory\0""#))
        """,
      steps: ["speak=Wild", "reasons"], said: "a function of the factory is to be at"),
    Wild(
      testDescription: "an operation",
      source: """
        static const beehive_module_operations o = { .splash = @ };
        BEEHIVE_MODULE(Wild, &o);
        """,
      steps: ["start"], said: "the operation splash is to be at"),
    Wild(
      testDescription: "the operations",
      source: """
        static const beehive_module_table m = {sizeof m, 1, 48, @};
        \(record(1, "0", "&m", #""Wild\0T\0abi=c-module\0""#))
        """,
      steps: ["start"], said: "the table of the operations is to be 48 bytes at"),
    Wild(
      testDescription: "an action's function",
      source: """
        static const beehive_action a[] = {{"go", @}};
        BEEHIVE_TARGET(wild, a, BEEHIVE_ACTION("remote go() -> String"));
        """,
      steps: ["why=wild.go"], said: "its function is to be at"),
    Wild(
      testDescription: "an action's name",
      source: """
        static bool go(const beehive_call *c, beehive_reply *r) { return c != (void *)r; }
        static const beehive_action a[] = {{(const char *)@, go}};
        BEEHIVE_TARGET(wild, a, BEEHIVE_ACTION("remote go() -> String"));
        """,
      steps: ["why=wild.go"], said: "its table has no function go"),
    Wild(
      testDescription: "the actions",
      source: """
        static const beehive_target_table t = {sizeof t, 1, 16, 1, @};
        \(record(3, "0", "&t", #""wild\0t\0abi=c-target\0action=go() -> String\0""#))
        """,
      steps: ["why=wild.go"], said: "its table of actions is to be 16 bytes at"),
    Wild(
      testDescription: "a route's function",
      source: """
        static const beehive_route_table t = {sizeof t, 1, @};
        \(record(4, "0", "&t", #""app://wild\0t\0abi=c-route\0""#))
        """,
      steps: ["ask=app://wild", "reasons"], said: "its function is to be at"),
  ]

  /// Each structure with a pointer to each place.
  static let structures: [Wild] = wildStructures.flatMap { wild in
    places.map { place in
      Wild(
        testDescription: "\(wild.testDescription) \(place.name)",
        source: header + wild.source.replacing("@", with: place.value), steps: wild.steps,
        said: wild.said)
    }
  }

  /// Structures with impossible claims about themselves.
  static let claims: [Wild] = [
    Wild(
      testDescription: "a table of a version that is to come",
      source: """
        \(header)static const long l = 1;
        static const beehive_service_table t = {sizeof t, 7, 8, &l};
        \(record(2, "0", "&t", #""Wild\0T\0abi=c-table\0""#))
        """,
      steps: ["speak=Wild", "reasons"], said: "of version 7, this host knows 1"),
    Wild(
      testDescription: "a module's table of a version that is to come",
      source: """
        \(header)static const beehive_module_operations o;
        static const beehive_module_table m = {sizeof m, 9, sizeof o, &o};
        \(record(1, "0", "&m", #""Wild\0T\0abi=c-module\0""#))
        """,
      steps: ["start"], said: "of version 9, this host knows 1"),
    Wild(
      testDescription: "a table that claims more than there is",
      source: """
        \(header)static const long l = 1;
        static const beehive_service_table t = {sizeof t, 1, (size_t)-1, &l};
        \(record(2, "0", "&t", #""Wild\0T\0abi=c-table\0""#))
        """,
      steps: ["speak=Wild", "reasons"], said: "which no loaded image has"),
  ]

  @Test(
    "is named, and its neighbours serve", arguments: accessors + contexts + structures + claims)
  func wild(wild: Wild) throws {
    let workshop = try Workshop()
    let files = try [
      workshop.source("before", Source.speaker("Before", says: "before")),
      workshop.source("wild", wild.source),
      workshop.source("after", Source.speaker("After", says: "after")),
    ]
    try workshop.library("wild", from: files, ["-Wno-int-conversion"])
    let said = try Program.host(
      ["open=./libwild.so", "entries"] + wild.steps + ["speak=Before", "speak=After"], in: workshop)
    #expect(said.contains { $0.contains(wild.said) }, "\(said)")
    #expect(said.suffix(2) == ["before", "after"], "\(said)")
  }

  @Test("A record without an end hides none behind it, and says how much was passed over")
  func unending() throws {
    let workshop = try Workshop()
    let files = try [
      workshop.source("before", Source.speaker("Before")),
      workshop.source(
        "wild", Self.record(2, "0", "0", "{[0 ... 63] = 'x'}")),
      workshop.source("after", Source.speaker("After")),
    ]
    try workshop.library("wild", from: files)
    let said = try Program.host("open=./libwild.so", "reasons", in: workshop)
    #expect(said.count == 3)
    #expect(said.count { $0.hasPrefix("bound service") } == 2)
    #expect(
      said.contains {
        $0.hasPrefix("rejected (unterminated-text) service") && $0.contains("96 bytes")
      },
      "\(said)")
  }
}
