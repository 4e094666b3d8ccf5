import Testing

/// A library that is opened after the Hive is there is in it when `dlopen` has returned, whoever
/// called it and however.
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

  /// The hook is null in the plugin: nothing that exports it was there, or it is nobody's to see.
  @Test(
    "A C host opens it, and libBeeHive.so later or sooner",
    arguments: [
      ["open=./libspeaker.so", "hive=HIVE", "probe=PROBE"],
      ["hive=HIVE", "probe=PROBE", "touch", "open=./libspeaker.so"],
      ["hive-global=HIVE", "open=./libspeaker.so", "probe=PROBE"],
      ["hive-global=HIVE", "probe=PROBE", "touch", "open=./libspeaker.so"],
    ])
  func cHost(steps: [String]) throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let products = steps.map {
      $0.replacing("HIVE", with: Program.product("BeeHive"))
        .replacing("PROBE", with: Program.product("Probe"))
    }
    #expect(try Program.cHost(products + ["speak=Speaker"], in: workshop) == ["hello"])
    #expect(try Program.cHost(products + ["entries"], in: workshop) == [Self.entry])
  }

  @Test("The header alone, without an annotation, declares nothing") func unusedHeader() throws {
    let workshop = try Workshop()
    try workshop.library("silent", "#include <BeeHive.h>\nint silent(void) { return 0; }")
    let said = try Program.host("open=./libsilent.so", "entries", "images", in: workshop)
    #expect(said == ["no entries", "every image is well"])
    let sections = try workshop.output("readelf", "-SW", "libsilent.so")
    #expect(!sections.lowercased().contains("beehive"))
  }
}
