import Foundation
import TestSupport
import Testing

/// `Scripts/test` believes only completed checks. A stand-in for Swift's compiler writes the events.
@Suite("Scripts/test counts what has ended")
struct CountingTests {
  private static let declared = ["a", "b"].map { name in
    #"{"kind":"test","payload":{"_testCases":[{"id":"case()"}],"id":"M.S\/\#(name)()","isParameterized":true,"kind":"function"}}"#
  }
  private static func ended(_ name: String) -> String {
    #"{"kind":"event","payload":{"kind":"testEnded","testID":"M.S\/\#(name)()"}}"#
  }
  private static let finished = #"{"kind":"event","payload":{"kind":"runEnded"}}"#

  /// Runs the tests on a machine whose `swift test` writes these events and succeeds.
  private func run(_ events: [String]) throws -> Outcome {
    let machine = try Machine()
    try machine.install(
      "swift",
      """
      echo "Swift version 6.3.1"
      while [ $# != 0 ]; do
        [ "$1" != --event-stream-output-path ] || cat > "$2" << 'EVENTS'
      \(events.joined(separator: "\n"))
      EVENTS
        shift
      done
      """)
    return try machine.run("test", ["tests"])
  }

  static let runs: [([String], Int32, [String])] = [
    (declared + [ended("a"), ended("b"), finished], 0, ["3 passed, 0 failed, 0 skipped\n"]),
    // A process that leaves early, whatever its status, has failed.
    (declared + [ended("a")], 1, ["has not ended: M.S/b()", "the run of the tests broke off"]),
    ([finished], 1, ["there was no test to run"]),
  ]

  @Test("all that were declared must have ended, and no test is no success", arguments: runs)
  func counts(events: [String], status: Int32, words: [String]) throws {
    let outcome = try run(events).expect(status)
    for words in words { #expect(outcome.output.contains(words), "\(outcome)") }
  }

  @Test(
    "a step that says nothing of its checks has failed", arguments: ["format", "layers", "linkers"])
  func silent(step: String) throws {
    let machine = try Machine()
    let scripts = ["format": "format", "layers": "check-layers", "linkers": "linker-matrix"]
    try machine.replace(#require(scripts[step]), "exit 0")
    try machine.run("test", [step]).expect(1, output: "it does not say how many checks passed")
  }
}
