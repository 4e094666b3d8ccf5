import Foundation
import TestSupport
import Testing

@Suite("What became of the modules of a running process", .serialized, .opensLibrary)
struct LiveModulesTests {
  /// Builds a library of `Tests/Fixtures/Live/modules.c`: the early, late or hanging modules, or the sessions.
  static func library(_ name: String) throws -> String {
    try Fixtures.build(
      Repository.fixture("Live/modules.c"), as: "modules-\(name).so",
      ["-shared", "-fPIC", "-D\(name.uppercased())"])
  }

  /// Returns what `live` reports of the modules, by their names: `state code: reason`.
  private func modules(of pid: Int32) throws -> [String: String] {
    let images = try Tool.live(["--pid", "\(pid)"]).values
    let records = images.flatMap { $0["records"] as? [[String: Any]] ?? [] }
    return Dictionary(
      uniqueKeysWithValues: records.map { record in
        let words = ["state", "code", "reason"].map { record[$0] as? String ?? "–" }
        return (record["name"] as? String ?? "", "\(words[0]) \(words[1]): \(words[2])")
      })
  }

  private static let disabled =
    "bound disabled: switched off by BEEHIVE_DISABLE or the options of the start"
  private static let late =
    "bound not-started: came after the start; startLatecomers() starts it, in C "
    + "beehive_start_latecomers()"

  private static let started = [
    "log": "bound –: –", "net": "bound failed: setUp: answered false",
    "web": "bound failed: setUp: skipped, because net failed",
    "shop":
      "bound not-started: requires nowhere, which nothing in this process declares; load what "
      + "declares it, or say after instead of requires",
    "till": "bound not-started: requires shop, which cannot start", "off": disabled,
  ]

  @Test("Those that do not run are bound, with a code and the reason that the Hive reports")
  func stages() throws {
    try expect(Self.started, after: "start=off", words: ["failed", "disabled", "not-started"])
  }

  @Test("One that counts as started though a step failed says so")
  func continued() throws {
    var expected = Self.started
    expected["net"] = "bound started: setUp: answered false; it counts as started all the same"
    expected["web"] = "bound –: –"
    try expect(expected, after: "continue=off", words: ["started", "disabled", "not-started"])
  }

  /// Expects the same from `live` and the Hive after a start, and words in the table in addition to `bound`.
  private func expect(_ expected: [String: String], after start: String, words: [String]) throws {
    let steps = [LiveHost.hive, "open=./\(try Self.library("early"))", start, "entries"]
    try LiveHost.run(steps) { pid, printed in
      let found = try modules(of: pid)
      #expect(found == expected)
      // The Hive itself reports the same.
      let reported = printed.map { $0.split(separator: "\t", omittingEmptySubsequences: false)[2] }
      let reasons = found.values.map { $0.split(separator: ": ", maxSplits: 1)[1] }
      #expect(reported.map { $0.isEmpty ? "–" : $0 }.sorted() == reasons.sorted())
      let table = try Tool.run(["live", "--pid", "\(pid)"]).output
      for word in words + ["bound"] {
        #expect(table.contains("\n  \(word) "), "\(table)")
      }
    }
  }

  @Test("While a start hangs, the one that it hangs in says so, and those behind it that they wait")
  func hanging() throws {
    let steps = [LiveHost.hive, "open=./\(try Self.library("hanging"))", "start=off"]
    try LiveHost.run(steps) { pid, _ in
      let found = try modules(of: pid)
      #expect(
        found == [
          "first": "bound starting: it waits for its initialize",
          "second": "bound starting: it is in setUp",
          "third": "bound starting: it waits for its setUp",
          "lacking": "bound not-started: requires nowhere, which nothing in this process declares; "
            + "load what declares it, or say after instead of requires",
        ])
    }
  }

  @Test("Those that come after the start, until they are started; after the end nothing runs")
  func latecomers() throws {
    let steps = [
      LiveHost.hive, "open=./\(try Self.library("early"))", "start=shut",
      "open=./\(try Self.library("late"))", "service=Nobody", "entries",
    ]
    try LiveHost.run(steps) { pid, _ in
      let found = try modules(of: pid)
      #expect(found["late"] == Self.late)
      #expect(found["shut"] == Self.disabled)
      #expect(found["off"] == "bound –: –")
    }
    try LiveHost.run(steps + ["latecomers"]) { pid, _ in
      let found = try modules(of: pid)
      #expect(found["late"] == "bound –: –")
      #expect(found["shut"] == Self.disabled)
      #expect(found["net"] == Self.started["net"])
    }
    try LiveHost.run(steps + ["latecomers", "stop"]) { pid, _ in
      let found = try modules(of: pid)
      #expect(found["shut"] == Self.disabled)
      #expect(Set(found.filter { $0.key != "shut" }.values) == ["bound –: –"])
    }
  }

  @Test("A second runtime is a problem of its image, and the entries are shown")
  func secondRuntime() throws {
    let copy = Fixtures.place("libsecond.so")
    if !FileManager.default.fileExists(atPath: copy.path) {
      try FileManager.default.copyItem(
        at: Repository.products.appendingPathComponent("libBeeHive.so"), to: copy)
    }
    let library = "open=./\(try Self.library("early"))"
    let steps = [LiveHost.hive, library, "entries", "open=./libsecond.so"]
    try LiveHost.run(steps) { pid, _ in
      let outcome = try Tool.run(["live", "--pid", "\(pid)"]).expect(2)
      let lines = outcome.errors.split(separator: "\n")
      #expect(lines.count == 1, "\(outcome.errors)")
      #expect(lines.first?.contains("libsecond.so: A second BeeHive runtime") == true)
      #expect(outcome.output.contains("bound "), "\(outcome.output)")
    }
  }
}
