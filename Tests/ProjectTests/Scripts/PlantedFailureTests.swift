import Foundation
import TestSupport
import Testing

/// `Scripts/test` fails if a step fails, and shows the failing lines first. Each test plants a failure in one step of
/// the default suite, in a copy of this checkout.
@Suite(.full, .serialized) struct PlantedFailureTests {
  struct Plant: CustomTestStringConvertible, Sendable {
    var step: String
    var file: String
    /// The text to replace; empty for the end of the file.
    var old = ""
    var new: String
    /// A part of the first failing lines.
    var shown: String
    var testDescription: String { step }
  }

  private static let unitTest = "Tests/ThreadsTests/LockTests.swift"
  private static let failingTest = "@Test(\"planted\") func planted() { #expect(1 == 2) }\n"

  static let plants = [
    Plant(step: "format", file: unitTest, new: "let  two = 2\n", shown: "[Spacing]"),
    Plant(
      step: "layers", file: "Sources/BeeHive/Hive.swift", new: "import Foundation\n",
      shown: "imports Foundation"),
    Plant(
      step: "house", file: "Sources/Threads/Lock.swift", new: "struct Planted {}\n",
      shown: "types is "),
    Plant(
      step: "build", file: unitTest, new: "let wrong: Int = \"text\"\n",
      shown: "error: cannot convert value"),
    Plant(step: "tests", file: unitTest, new: failingTest, shown: "ThreadsTests/LockTests.swift:"),
    Plant(
      step: "linkers", file: "CSupport/CBeeHive/include/beehive/portability.h",
      old: "#define BEEHIVE_RETAIN __retain__,", new: "#define BEEHIVE_RETAIN", shown: "fail "),
    Plant(
      step: "examples", file: "Examples/Sources/Greetings/EnglishGreeter.swift",
      new: "let wrong: Int = \"text\"\n", shown: "error: cannot convert value"),
    Plant(
      step: "hosts", file: "Examples/Tests/EndToEndTests/ArrivalTests.swift", new: failingTest,
      shown: "Expectation failed: 1 == 2"),
    Plant(
      step: "demo", file: "Examples/Sources/Greetings/EnglishGreeter.swift",
      old: "Good morning", new: "Good evening", shown: "FAILED  the Swift plugin answered"),
  ]

  /// The build products of one step serve the next.
  private static let builds = Result { try Folder() }

  @Test(arguments: plants) func isShown(plant: Plant) throws {
    let checkout = try Folder()
    defer { checkout.remove() }
    try Command.output(
      "bash",
      ["-c", "tar -C \"$0\" -c --exclude='.build*' . | tar -C \"$1\" -x"]
        + [Repository.root.path, checkout.path])
    let file = checkout.place(plant.file)
    let text = try String(contentsOf: file, encoding: .utf8)
    try #require(plant.old.isEmpty || text.contains(plant.old))
    let planted = plant.old.isEmpty ? text + plant.new : text.replacing(plant.old, with: plant.new)
    try Data(planted.utf8).write(to: file)

    let outcome = try Command.run(
      checkout.place("Scripts/test").path,
      ["--scratch", try Self.builds.get().path, plant.step],
      // A newcomer's run, without the repetitions of --all.
      environment: ["BEEHIVE_TESTS": ""], limit: 3600)
    #expect(outcome.status == 1, "\(outcome)")
    let lines = outcome.lines
    let failed = try #require(lines.firstIndex { $0.hasPrefix("FAILED") }, "\(outcome)")
    #expect(lines[failed].contains(" \(plant.step) "))
    #expect(
      lines[failed...].dropFirst().prefix(3).contains { $0.contains(plant.shown) }, "\(outcome)")
    #expect(lines.last?.hasSuffix(", 0 failed, 0 skipped") == false, "\(outcome)")
  }

  @Test("a plant for each step of the default suite") func everyStep() throws {
    let list = try Command.output(Repository.place("Scripts/test").path, ["--list"])
    let words = list.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    let steps = words.filter { $0.count > 1 && $0[1] == "default" }.map { $0[0] }
    #expect(steps == Self.plants.map(\.step))
  }
}
