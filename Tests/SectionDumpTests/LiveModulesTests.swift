import Foundation
import TestSupport
import Testing

@Suite("What became of the modules of a running process", .serialized, .opensLibrary)
struct LiveModulesTests {
  private static let preamble = """
    #include <BeeHive.h>
    static bool set_up(const beehive_context *context) { return context != 0; }
    static bool refuse(const beehive_context *context) { return context == 0; }
    static const beehive_module_operations good = { .set_up = set_up };
    static const beehive_module_operations bad = { .set_up = refuse };

    """

  private static func library(_ name: String, _ entries: String) throws -> String {
    try Fixtures.build(preamble + entries, as: name)
  }

  /// One module of each fate.
  private static let early = Result {
    try library(
      "modules-early.so",
      """
      BEEHIVE_MODULE(log, &good);
      BEEHIVE_MODULE(net, &bad);
      BEEHIVE_MODULE(web, &good, BEEHIVE_REQUIRES("net"));
      BEEHIVE_MODULE(shop, &good, BEEHIVE_REQUIRES("nowhere"));
      BEEHIVE_MODULE(till, &good, BEEHIVE_REQUIRES("shop"));
      BEEHIVE_MODULE(off, &good);
      """)
  }

  private static let lateLibrary = Result {
    try library(
      "modules-late.so",
      "static const void *unused[] = {&bad};\nBEEHIVE_MODULE(late, &good);\n"
        + "BEEHIVE_MODULE(shut, &good);\nint use(void) { return unused[0] != 0; }")
  }

  /// What `live` says of the modules, by their names: `state code: reason`.
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
      + "declares it, or say after in place of requires",
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

  /// What `live` and the Hive itself say after a start, and the words of a table besides `bound`.
  private func expect(_ expected: [String: String], after start: String, words: [String]) throws {
    let steps = [LiveHost.hive, "open=./\(try Self.early.get())", start, "entries"]
    try LiveHost.run(steps) { pid, printed in
      let found = try modules(of: pid)
      #expect(found == expected)
      // The Hive itself says the same.
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
    let library = try Self.library(
      "modules-hanging.so",
      """
      #include <stdio.h>
      #include <unistd.h>
      static bool hang(const beehive_context *context) {
        puts("ready");
        sleep(3000);
        return context && bad.set_up;
      }
      static const beehive_module_operations stuck = { .set_up = hang };
      BEEHIVE_MODULE(first, &good);
      BEEHIVE_MODULE(second, &stuck, BEEHIVE_REQUIRES("first"));
      BEEHIVE_MODULE(third, &good, BEEHIVE_REQUIRES("second"));
      BEEHIVE_MODULE(lacking, &good, BEEHIVE_REQUIRES("nowhere"));
      """)
    let steps = [LiveHost.hive, "open=./\(library)", "start=off"]
    try LiveHost.run(steps) { pid, _ in
      let found = try modules(of: pid)
      #expect(
        found == [
          "first": "bound starting: it waits for its initialize",
          "second": "bound starting: it is in setUp",
          "third": "bound starting: it waits for its setUp",
          "lacking": "bound not-started: requires nowhere, which nothing in this process declares; "
            + "load what declares it, or say after in place of requires",
        ])
    }
  }

  @Test("Those that come after the start, until they are started; after the end nothing runs")
  func latecomers() throws {
    let steps = [
      LiveHost.hive, "open=./\(try Self.early.get())", "start=shut",
      "open=./\(try Self.lateLibrary.get())", "service=Nobody", "entries",
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
    let library = "open=./\(try Self.early.get())"
    let steps = [LiveHost.hive, library, "entries", "open=./libsecond.so"]
    try LiveHost.run(steps) { pid, _ in
      let outcome = try Tool.run(["live", "--pid", "\(pid)"])
      #expect(outcome.status == 2)
      let lines = outcome.errors.split(separator: "\n")
      #expect(lines.count == 1, "\(outcome.errors)")
      #expect(lines.first?.contains("libsecond.so: A second BeeHive runtime") == true)
      #expect(outcome.output.contains("bound "), "\(outcome.output)")
    }
  }
}
