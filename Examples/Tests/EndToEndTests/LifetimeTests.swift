import Testing

/// Libraries of C alone come and go; what was handed out, and what carries Swift, stays.
@Suite struct LifetimeTests {
  static let entry = "bound service Speaker at libspeaker.so BeehiveRecords[0]"
  static let open = "open=./libspeaker.so"
  static let close = "close=./libspeaker.so"

  /// What a host does with a library, and what it says.
  struct Life: CustomTestStringConvertible {
    var testDescription: String
    var steps: [String]
    var said: [String]
  }

  static let lives = [
    Life(
      testDescription: "closed before the Hive was touched: it has never been",
      steps: [open, close, "mapped=libspeaker.so", "entries"],
      said: ["libspeaker.so is not mapped", "no entries"]),
    Life(
      testDescription: "closed before anybody looked",
      steps: ["touch", open, close, "mapped=libspeaker.so", "entries"],
      said: ["libspeaker.so is not mapped", "no entries"]),
    Life(
      testDescription: "closed after it was listed: it goes, and its entries with it",
      steps: ["touch", open, "entries", close, "mapped=libspeaker.so", "entries"],
      said: [entry, "libspeaker.so is not mapped", "no entries"]),
    Life(
      testDescription: "closed after its table was handed out: it stays, and works",
      steps: [
        "touch", open, "speak=Speaker", close, "mapped=libspeaker.so", "entries", "speak=Speaker",
      ],
      said: ["hello", "libspeaker.so is mapped", entry, "hello"]),
    Life(
      testDescription: "opened again: it registers again",
      steps: ["touch", open, "entries", close, "entries", open, "entries", "speak=Speaker"],
      said: [entry, "no entries", entry, "hello"]),
    Life(
      testDescription: "opened again before anybody looked",
      steps: ["touch", open, "entries", close, open, "entries", "speak=Speaker"],
      said: [entry, entry, "hello"]),
    Life(
      testDescription: "opened twice, closed once",
      steps: ["touch", open, open, close, "entries", close, "mapped=libspeaker.so", "entries"],
      said: [entry, "libspeaker.so is not mapped", "no entries"]),
    Life(
      testDescription: "another is mapped in its place",
      steps: [
        "touch", open, "entries", close, "open=./libloudspk.so", "entries", "speak=Speaker",
      ],
      said: [entry, "bound service Speaker at libloudspk.so BeehiveRecords[0]", "HELLO"]),
    Life(
      testDescription: "another file of the same name and size is mapped in its place",
      steps: [
        "touch", open, "entries", close, "rename=libloudspk.so,libspeaker.so", open, "entries",
        "speak=Speaker",
      ],
      said: [entry, entry, "HELLO"]),
  ]

  @Test("A C library is", arguments: lives) func c(life: Life) throws {
    let workshop = try Workshop()
    // Names of one length: two libraries that differ in nothing the loader can see.
    try workshop.library("speaker", Source.speaker())
    try workshop.library("loudspk", Source.speaker(says: "HELLO"))
    #expect(try Program.host(life.steps, in: workshop) == life.said)
  }

  static let plugin = Program.product("SwiftPlugin")
  static let swiftEntry = "bound service Greeter at libSwiftPlugin.so BeehiveRecords[0]"
  static let swiftLives = [
    Life(
      testDescription: "closed before the Hive was touched: still mapped, registered",
      steps: ["open=\(plugin)", "close=\(plugin)", "mapped=libSwiftPlugin.so", "entries", "casts"],
      said: ["libSwiftPlugin.so is mapped", swiftEntry, "12 casts"]),
    Life(
      testDescription: "closed three times as often as it was opened",
      steps: [
        "touch", "open=\(plugin)", "greet", "close-thrice=\(plugin)",
        "mapped=libSwiftPlugin.so", "casts", "greet", "entries",
      ],
      said: [
        "hello, made 1", "libSwiftPlugin.so is mapped", "12 casts", "hello, made 1", swiftEntry,
      ]),
    Life(
      testDescription: "closed before anybody looked",
      steps: [
        "touch", "open=\(plugin)", "close=\(plugin)", "casts", "greet", "mapped=libSwiftPlugin.so",
      ],
      said: ["12 casts", "hello, made 1", "libSwiftPlugin.so is mapped"]),
  ]

  @Test("A Swift library is", arguments: swiftLives) func swift(life: Life) throws {
    #expect(try Program.host(life.steps) == life.said)
  }
}
