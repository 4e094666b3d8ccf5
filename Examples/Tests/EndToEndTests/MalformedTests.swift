import Testing

/// Each malformed entry is rejected with a reason of its own, and its good neighbours register.
@Suite struct MalformedTests {
  /// An entry as somebody might write it, and the Hive's report.
  struct Entry: CustomTestStringConvertible {
    var testDescription: String
    /// Statements of C that put something into a section, by hand.
    var source: String
    /// The state, the kind and the name that are listed.
    var listed: String
    /// Whether nothing after it can be found in its section.
    var endsSection = false
    /// Whether it has to be the last of its section.
    var isLast = false
  }

  /// `used`, `retain`, `aligned(8)` and the section, as every entry has them.
  static let attributes = """
    #include <stdint.h>
    #define MODS __attribute__((used, retain, aligned(8), section("BeehiveMods")))
    #define SERVICES __attribute__((used, retain, aligned(8), section("BeehiveServices")))
    #define RECORDS __attribute__((used, retain, aligned(8), section("BeehiveRecords")))
    struct head { uint32_t size; uint16_t version, kind; uint32_t flags, offset;
                  const void *accessor, *context; char text[16]; };

    """

  static func pointer(_ value: String, in section: String) -> String {
    "static const char *const bad \(section) = \(value);"
  }

  static func record(_ head: String) -> String {
    "static const struct head bad RECORDS = {\(head)};"
  }

  static let entries = [
    Entry(
      testDescription: "a null pointer", source: pointer("0", in: "MODS"),
      listed: "rejected (null-pointer) module"),
    Entry(
      testDescription: "a pointer into another image",
      source: "#include <stdio.h>\nextern char **environ;"
        + "static void *const bad MODS = (void *)&environ;",
      listed: "rejected (pointer-outside-image) module"),
    Entry(
      testDescription: "a pointer past every image",
      source: pointer("(const char *)0x10", in: "MODS"),
      listed: "rejected (pointer-outside-image) module"),
    Entry(
      testDescription: "text without an end",
      source: """
        __asm__(".pushsection .unending,\\"aw\\"\\n.global unending\\n.hidden unending\\n"
                "unending: .fill 70000,1,65\\n.popsection");
        extern const char unending[];
        """ + pointer("unending", in: "MODS"),
      listed: "rejected (unterminated-text) module"),
    Entry(
      testDescription: "a name that is not UTF-8", source: pointer(#""Shop\xff\xfe""#, in: "MODS"),
      listed: "rejected (invalid-utf8) module"),
    Entry(
      testDescription: "no name", source: pointer(#""""#, in: "MODS"),
      listed: "rejected (empty-name) module"),
    Entry(
      testDescription: "no JSON", source: pointer(#""Shop.View : Shop.Model""#, in: "SERVICES"),
      listed: "rejected (malformed-json) service"),
    Entry(
      testDescription: "several keys",
      source: pointer(#""{ \"Shop.View\" : \"Shop.Model\", \"A\" : \"B\" }""#, in: "SERVICES"),
      listed: "rejected (several-json-keys) service"),
    Entry(
      testDescription: "a section of an odd size",
      source:
        "static const char bad[3] __attribute__((used, retain, section(\"BeehiveMods\"))) = {1};",
      listed: "rejected (odd-section-size) module", isLast: true),
    Entry(
      testDescription: "an unknown version", source: record("48, 2, 1, 0, 32, 0, 0, \"audio\""),
      listed: "rejected (unknown-version) module"),
    Entry(
      testDescription: "an unknown kind", source: record("48, 1, 9, 0, 32, 0, 0, \"audio\""),
      listed: "rejected (unknown-kind) 0x9"),
    Entry(
      testDescription: "a size of 1", source: record("1, 1, 1, 0, 32, 0, 0, \"audio\""),
      listed: "rejected (bad-record-size) module", endsSection: true),
    Entry(
      testDescription: "a size of 31", source: record("31, 1, 1, 0, 32, 0, 0, \"audio\""),
      listed: "rejected (bad-record-size) module", endsSection: true),
    Entry(
      testDescription: "a size past the end", source: record("4096, 1, 1, 0, 32, 0, 0, \"audio\""),
      listed: "rejected (bad-record-size) module", endsSection: true),
    Entry(
      testDescription: "a record whose text has no end",
      source: record("48, 1, 1, 0, 32, 0, 0, \"sixteen letters.\""),
      listed: "rejected (unterminated-text) module"),
    Entry(
      testDescription: "a record whose text begins past its end",
      source: record("48, 1, 1, 0, 64, 0, 0, \"audio\""),
      listed: "rejected (bad-text-offset) module"),
    Entry(
      testDescription: "a scope that there is none of",
      source: """
        #include <BeeHive.h>
        static const beehive_module_operations operations;
        BEEHIVE_MODULE(audio, &operations, BEEHIVE_SCOPE("eternal"));
        """,
      listed: "rejected (bad-attribute) module audio"),
    Entry(
      testDescription: "a name of which no type is loaded",
      source: pointer(#""Shop.ShopModule""#, in: "MODS"),
      listed: "accepted (no-such-type) module Shop.ShopModule"),
    Entry(
      testDescription: "a module whose type is none",
      source: pointer(#""LatePlugin.Bystander""#, in: "MODS"),
      listed: "rejected (does-not-conform) module LatePlugin.Bystander"),
    Entry(
      testDescription: "an implementation that does not conform to the service",
      source: pointer(
        #""{ \"TestContracts.Greeter\" : \"LatePlugin.Bystander\" }""#, in: "SERVICES"),
      listed: "rejected (does-not-conform) service TestContracts.Greeter"),
  ]

  /// Returns good entries of each kind, to surround the bad one in the same sections.
  static func neighbours(_ name: String) -> String {
    Source.speaker("\(name).Speaker")
      + "BeeHiveMod(\(name).Module); BeeHiveService(\(name).View, \(name).Model);"
  }

  @Test("Rejected with its reason, and the neighbours register", arguments: entries)
  func malformed(entry: Entry) throws {
    let workshop = try Workshop()
    let before = try workshop.source("before", Self.neighbours("Before"))
    let after = try workshop.source("after", Self.neighbours("After"))
    // The compiler may reverse the entries of one file, the linker keeps the order of files. A section has an odd size
    // only if nothing follows its last entry.
    let files = entry.isLast ? [before, after] : [before]
    let bad = try workshop.source("bad", Self.attributes + entry.source)
    try workshop.library(
      "bad", from: files + [bad] + (entry.isLast ? [] : [after]))
    let late = Program.product("LatePlugin")
    let said = try Program.host("open=\(late)", "open=./libbad.so", "entries", in: workshop)
    #expect(said.count { $0.contains(" Before.") } == 3, "\(said)")
    // If the size of a record cannot be trusted, nothing after the record can be found.
    #expect(said.count { $0.contains(" After.") } == (entry.endsSection ? 2 : 3), "\(said)")
    let listed = said.filter { !$0.contains(" Before.") && !$0.contains(" After.") }
    #expect(listed.count == 1 && listed[0].hasPrefix(entry.listed), "\(said)")
  }

  /// Entries that name a type of LatePlugin, which is opened later.
  @Test("A name without a type is accepted, and bound when the type's library arrives")
  func arrival() throws {
    let workshop = try Workshop()
    try workshop.library(
      "names",
      """
      #include <BeeHive.h>
      BeeHiveMod(LatePlugin.LateModule);
      BeeHiveService(TestContracts.Greeter, LatePlugin.LateGreeter);
      BeeHiveMod(LatePlugin.Bystander);
      """)
    let late = Program.product("LatePlugin")
    let said = try Program.host(
      "open=./libnames.so", "count", "greet", "open=\(late)", "greet", "count", "bind=Nobody",
      in: workshop)
    #expect(said.count == 4)
    #expect(said.first == "0 bound, 3 accepted, 0 rejected")
    #expect(said.dropFirst().first?.contains("no type of this name yet") == true, "\(said)")
    #expect(said.suffix(2) == ["hello, late", "2 bound, 0 accepted, 1 rejected"])
  }

  @Test("A name without a type is bound by what the host gives") func binding() throws {
    let workshop = try Workshop()
    try workshop.library(
      "names", "#include <BeeHive.h>\nBeeHiveService(TestContracts.Greeter, Shop.HostGreeter);")
    let said = try Program.host(
      "open=./libnames.so", "count", "bind=Shop.HostGreeter", "greet", "count", in: workshop)
    #expect(
      said == [
        "0 bound, 1 accepted, 0 rejected", "hello, bound", "1 bound, 0 accepted, 0 rejected",
      ])
  }
}
