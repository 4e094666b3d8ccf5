import Testing

/// A library that has registered stays, whoever closes it. Only the Hive removes what it declares.
@Suite struct LifetimeTests {
  static let entry = "bound service Speaker at libspeaker.so BeehiveRecords[0]"
  static let open = "open=./libspeaker.so"
  static let close = "close=./libspeaker.so"
  static let mapped = "mapped=libspeaker.so"
  static let withdraw = "withdraw=./libspeaker.so"

  /// The steps of a host with a library, and its output.
  struct Life: CustomTestStringConvertible {
    var testDescription: String
    var steps: [String]
    var said: [String]
  }

  static let lives = [
    Life(
      testDescription: "closed before the Hive was touched",
      steps: [open, close, mapped, "entries"], said: ["libspeaker.so is mapped", entry]),
    Life(
      testDescription: "closed before anybody looked",
      steps: ["touch", open, close, mapped, "entries", "speak=Speaker"],
      said: ["libspeaker.so is mapped", entry, "hello"]),
    Life(
      testDescription: "closed three times as often as it was opened",
      steps: ["touch", open, "entries", "close-thrice=./libspeaker.so", mapped, "speak=Speaker"],
      said: [entry, "libspeaker.so is mapped", "hello"]),
    Life(
      testDescription: "opened again: it is there once",
      steps: ["touch", open, "entries", close, open, "entries", "speak=Speaker"],
      said: [entry, entry, "hello"]),
    Life(
      testDescription: "removed: its names are free, and it stays mapped",
      steps: ["touch", open, "speak=Speaker", close, withdraw, mapped, "entries", withdraw],
      said: ["hello", "1 removed", "libspeaker.so is mapped", "no entries", "0 removed"]),
    Life(
      testDescription: "removed, and a new build of another name is opened",
      steps: [
        "touch", open, "entries", close, withdraw, "open=./libloudspk.so", "entries",
        "speak=Speaker",
      ],
      said: [
        entry, "1 removed", "bound service Speaker at libloudspk.so BeehiveRecords[0]", "HELLO",
      ]),
    Life(
      testDescription: "replaced by a file of the same name: the loader goes on with the first",
      steps: [
        "touch", open, "entries", close, "rename=libloudspk.so,libspeaker.so", open, "entries",
        "speak=Speaker",
      ],
      said: [entry, entry, "hello"]),
  ]

  @Test("A C library is", arguments: lives) func c(life: Life) throws {
    let workshop = try Workshop()
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
