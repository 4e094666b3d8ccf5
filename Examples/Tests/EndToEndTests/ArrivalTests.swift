import Testing

/// A library that is opened after the Hive exists is in the Hive when `dlopen` has returned, whoever called it and
/// however.
@Suite struct ArrivalTests {
  static let entry = "bound service Speaker at libspeaker.so BeehiveRecords[0]"

  @Test(
    "A host that exports nothing opens it",
    arguments: ["open=./libspeaker.so", "open-global=./libspeaker.so", "open-deep=./libspeaker.so"])
  func opened(step: String) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    // Asked by name, and listed: two ways to look.
    #expect(try Program.host("touch", step, "speak=Speaker", in: workshop) == ["hello"])
    #expect(try Program.host("touch", step, "entries", in: workshop) == [Self.entry])
  }

  @Test("It was there before the Hive was") func beforehand() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let said = try Program.host("open=./libspeaker.so", "entries", "speak=Speaker", in: workshop)
    #expect(said == [Self.entry, "hello"])
  }

  @Test("A library needs it that says nothing itself") func dependency() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker() + "int used(void) { return 1; }")
    try workshop.library(
      "user", "int used(void); int use(void) { return used(); }", "-L.", "-lspeaker",
      "-Wl,-rpath,$ORIGIN")
    let said = try Program.host(
      "touch", "open=./libuser.so", "speak=Speaker", "entries", in: workshop)
    #expect(said == ["hello", Self.entry])
  }

  @Test("The constructor of another library opens it") func constructor() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.library(
      "opener",
      """
      #include <dlfcn.h>
      __attribute__((constructor)) static void open_it(void) {
        dlopen("./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
      }
      """)
    let said = try Program.host(
      "touch", "open=./libopener.so", "speak=Speaker", "entries", in: workshop)
    #expect(said == ["hello", Self.entry])
  }

  @Test("A Swift library is opened") func swift() throws {
    let plugin = Program.product("SwiftPlugin")
    #expect(
      try Program.host("touch", "open=\(plugin)", "greet", "entries")
        == [
          "hello, made 1", "bound service Greeter at libSwiftPlugin.so BeehiveRecords[0]",
        ])
  }

  /// The hook is null in the plugin: no library that exports it was there, or the plugin could not see it.
  @Test(
    "A C host opens it, and libBeeHive.so later or sooner",
    arguments: [
      ["open=./libspeaker.so", "hive=HIVE", "probe=PROBE"],
      ["hive=HIVE", "probe=PROBE", "touch", "open=./libspeaker.so"],
      ["hive-global=HIVE", "open=./libspeaker.so", "probe=PROBE"],
      ["hive-global=HIVE", "probe=PROBE", "touch", "open=./libspeaker.so"],
    ])
  func bareHost(steps: [String]) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let products = steps.map {
      $0.replacing("HIVE", with: Program.product("BeeHive"))
        .replacing("PROBE", with: Program.product("Probe"))
    }
    #expect(try Program.bareHost(products + ["speak=Speaker"], in: workshop) == ["hello"])
    #expect(try Program.bareHost(products + ["entries"], in: workshop) == [Self.entry])
  }

  /// A lookup that hits calls nothing but the hook.
  @Test("A better one replaces what was found before, at the next lookup") func better() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.library("better", Source.speaker(says: "HELLO", "BEEHIVE_PRIORITY(10)"))
    let said = try Program.host(
      "touch", "open=./libspeaker.so", "speak=Speaker", "speak=Speaker", "open=./libbetter.so",
      "speak=Speaker", in: workshop)
    #expect(said == ["hello", "hello", "HELLO"])
  }

  @Test(
    "A better one without an anchor is silent: it is found by the next look at the loader",
    arguments: ["refresh", "entries", "speak=Nobody"])
  func betterWithoutAnchor(probe: String) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    try workshop.library("better", Self.betterByHand)
    let said = try Program.host(
      "touch", "open=./libspeaker.so", "speak=Speaker", "open=./libbetter.so", "speak=Speaker",
      probe, "speak=Speaker", in: workshop)
    #expect(said.prefix(2) == ["hello", "hello"])
    #expect(said.last == "HELLO")
  }

  /// A service of a higher priority, without any header of ours.
  static let betterByHand = #"""
    #include <stddef.h>
    #include <stdint.h>
    struct speaker { const char *(*say)(void); };
    static const char *say(void) { return "HELLO"; }
    static const struct speaker speaker = {say};
    static const struct { uint32_t size, version; size_t table_size; const void *table; }
      table = {24, 1, sizeof speaker, &speaker};
    struct record {
      uint32_t size; uint16_t version, kind; uint32_t flags, text_offset;
      const void *accessor, *context; char text[40];
    };
    __attribute__((used, retain, aligned(8), section("BeehiveRecords")))
    static const struct record better = {
      72, 1, 2, 0, 32, 0, &table, "Speaker\0Better\0abi=c-table\0priority=10"};
    """#

  @Test("The header alone, without an annotation, declares nothing") func unusedHeader() throws {
    let workshop = try Workshop()
    try workshop.library("silent", "#include <BeeHive.h>\nint silent(void) { return 0; }")
    let said = try Program.host("open=./libsilent.so", "entries", "images", in: workshop)
    #expect(said == ["no entries", "every image is well"])
    let sections = try workshop.output("readelf", ["-SW", "libsilent.so"])
    #expect(!sections.lowercased().contains("beehive"))
  }
}
