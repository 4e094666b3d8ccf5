import Foundation
import TestSupport
import Testing

@Suite("Inputs that cannot be read are shown by section-dump diff, graph and verify")
struct UnreadInputsTests {
  private static let files: Result<String, any Error> = Result {
    let good = try Fixtures.annotatedLibrary("unread-good.so")
    for folder in ["unread-folder", "unread-half"] {
      try Fixtures.folder(folder)
      try Fixtures.bytes(good).write(to: Fixtures.place("\(folder)/good.so"))
    }
    try Fixtures.bytes(good).prefix(900).write(to: Fixtures.place("unread-half/half.so"))
    return good
  }

  @Test("Where nothing of a build is read, nothing is compared")
  func notCompared() throws {
    let good = try Self.files.get()
    for (old, new, what) in [
      ("/nope", good, "old"), (good, "/nope", "new"), ("unread-folder", good, "old"),
      ("unread-folder", "unread-folder", "old and new"),
    ] {
      let outcome = try Tool.run(["diff", old, new])
      #expect(outcome.status == 2)
      #expect(outcome.output == "not compared: nothing of \(what) was read\n")
      #expect(!outcome.errors.isEmpty)
      let document = try Tool.object(Tool.run(["diff", "--format", "json", old, new]).output)
      for key in ["added", "removed", "changed"] {
        #expect((document[key] as? [Any])?.isEmpty == true)
      }
      let problems = try #require(document["problems"] as? [[String: Any]])
      #expect(problems.map { $0["build"] as? String } == what.components(separatedBy: " and "))
      #expect(problems.allSatisfy { $0["code"] as? String == "unreadable" })
    }
    #expect(try Tool.run(["diff", "unread-folder", good]).errors.contains("--recursive"))
  }

  @Test("Where a part is not read, the rest is compared and says so")
  func compared() throws {
    _ = try Self.files.get()
    let outcome = try Tool.run(["diff", "-r", "unread-half", "unread-folder"])
    #expect(outcome.status == 2)
    #expect(outcome.output.hasPrefix("no difference, of what could be read: "))
    #expect(outcome.errors.contains("unread-half/half.so"))
    let lines = try Tool.run(["diff", "-r", "--format", "ndjson", "unread-half", "unread-folder"])
      .lines
    #expect(!lines.isEmpty)
    let start = #"{"problem":{"build":"old","path":"unread-half/half.so""#
    #expect(lines.allSatisfy { $0.hasPrefix(start) }, "\(lines)")
  }

  @Test("A picture names them, in every format", arguments: ["dot", "mermaid", "json"])
  func graph(format: String) throws {
    let good = try Self.files.get()
    for (inputs, word) in [(["unread-folder"], "--recursive"), (["/nope", good], "/nope")] {
      let outcome = try Tool.run(["graph", "--format", format] + inputs)
      #expect(outcome.status == 2)
      #expect(outcome.output.contains(word), "\(outcome)")
      #expect(outcome.errors.contains(word))
    }
    guard format == "json" else { return }
    let document = try Tool.object(Tool.run(["graph", "--format", "json", "/nope", good]).output)
    let problems = try #require(document["problems"] as? [[String: Any]])
    #expect(problems.map { $0["path"] as? String } == ["/nope"])
    #expect((document["nodes"] as? [Any])?.count == 8)
    #expect((document["findings"] as? [[String: Any]])?.first?["code"] as? String == "unreadable")
  }

  @Test("verify says each thing once, on standard output", arguments: ["table", "json", "csv"])
  func once(format: String) throws {
    _ = try Self.files.get()
    let bad = try Fixtures.build(Fixtures.handWritten, as: "unread-bad.so")
    let outcome = try Tool.run(["verify", "--format", format, "/nope", bad])
    #expect(outcome.status == 2)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.output.ranges(of: "No such file").count == 1)
    #expect(outcome.output.ranges(of: "null-pointer").count == 1)
    if format == "table" { #expect(outcome.output.contains(" (offset 0x")) }
  }

  @Test("One is one")
  func counts() throws {
    let one = try Fixtures.build("#include <BeeHive.h>\nBeeHiveMod(Log);", as: "count-1.so")
    #expect(try Tool.run(["verify", one]).lines.last == "1 file, 1 entry: 0 errors, 1 warning")
  }

  @Test("A very long cycle is shown in part, with its length")
  func longCycle() throws {
    let count = 300
    let entries = (0..<count).map {
      "BEEHIVE_MODULE(m\($0), &operations, BEEHIVE_REQUIRES(\"m\(($0 + 1) % count)\"));"
    }
    let file = try Fixtures.build(
      """
      #include <BeeHive.h>
      static const beehive_module_operations operations = {0};
      \(entries.joined(separator: "\n"))
      """, as: "long-cycle.so")
    let outcome = try Tool.run(["verify", file])
    #expect(outcome.status == 1)
    let line = try #require(outcome.lines.first)
    #expect(line.contains("error: 300 modules "), "\(line)")
    #expect(line.contains(" → 292 more → "))
    #expect(line.utf8.count < 1000)
    // Each of its nodes leads to it all the same.
    let document = try Tool.object(Tool.run(["graph", "--format", "json", file]).output)
    let findings = try #require(document["findings"] as? [[String: Any]])
    #expect(findings.map { ($0["nodes"] as? [Any])?.count } == [count])
    let nodes = try #require(document["nodes"] as? [[String: Any]])
    #expect(nodes.allSatisfy { ($0["findings"] as? [Int]) == [0] })
  }
}
