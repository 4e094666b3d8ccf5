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
    let bytes = try Fixtures.bytes(good)
    try bytes.prefix(bytes.count / 2).write(to: Fixtures.place("unread-half/half.so"))
    try Data("text\n".utf8).write(to: Fixtures.place("unread.txt"))
    return good
  }

  @Test("Where nothing of a build is read, nothing is compared")
  func notCompared() throws {
    let good = try Self.files.get()
    for (old, new, what) in [
      ("/nope", good, "old"), (good, "/nope", "new"), ("unread-folder", good, "old"),
      ("unread-folder", "unread-folder", "old and new"),
    ] {
      let outcome = try Tool.run(["diff", old, new]).expect(2)
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
    let arguments = ["diff", "-r", "unread-half", "unread-folder"]
    let outcome = try Tool.run(arguments).expect(2, errors: "unread-half/half.so")
    #expect(outcome.output.hasPrefix("no difference, of what could be read: "))
    let lines = try Tool.run(arguments + ["--format", "ndjson"]).lines
    #expect(!lines.isEmpty)
    let start = #"{"problem":{"build":"old","path":"unread-half/half.so""#
    #expect(lines.allSatisfy { $0.hasPrefix(start) }, "\(lines)")
  }

  @Test("A picture names them, in every format", arguments: ["dot", "mermaid", "json"])
  func graph(format: String) throws {
    let good = try Self.files.get()
    for (inputs, word) in [(["unread-folder"], "--recursive"), (["/nope", good], "/nope")] {
      try Tool.run(["graph", "--format", format] + inputs).expect(2, errors: word, output: word)
    }
    guard format == "json" else { return }
    let document = try Tool.object(Tool.run(["graph", "--format", "json", "/nope", good]).output)
    let problems = try #require(document["problems"] as? [[String: Any]])
    #expect(problems.map { $0["path"] as? String } == ["/nope"])
    let nodes = try #require(document["nodes"] as? [[String: Any]])
    #expect(nodes.count == 8)
    let module = nodes.first { $0["name"] as? String == "Shop.ShopModule" }
    #expect((module?["findings"] as? [Any])?.count == 1, "it leads to its missing-implementation")
    #expect((document["findings"] as? [[String: Any]])?.first?["code"] as? String == "unreadable")
  }

  @Test("verify says each thing once, on standard output", arguments: ["table", "json", "csv"])
  func once(format: String) throws {
    _ = try Self.files.get()
    let bad = try Fixtures.build(Fixtures.handWritten, as: "unread-bad.so")
    let outcome = try Tool.run(["verify", "--format", format, "/nope", bad]).expect(2)
    #expect(outcome.errors.isEmpty)
    #expect(outcome.output.ranges(of: "No such file").count == 1)
    #expect(outcome.output.ranges(of: "null-pointer").count == 1)
    if format == "table" { #expect(outcome.output.contains(" (offset 0x")) }
  }

  /// The code, the file, and the remedy.
  static let unreadable = [
    (
      "unreadable", "nosuch.so",
      "correct the path or the permissions"
    ),
    ("not-an-object", "unread.txt", "leave the file out, or name what it was built from"),
    (
      "truncated", "unread-half/half.so",
      "copy or build the file again; it was cut off, or something overwrote it"
    ),
    (
      "no-such-architecture", "unread-good.so",
      "name another --arch, or a file that was built for this one"
    ),
  ]

  @Test("They are findings like any other", arguments: unreadable)
  func file(code: String, file: String, remedy: String) throws {
    _ = try Self.files.get()
    let options = code == "no-such-architecture" ? ["--arch", "s390x"] : []
    let findings = try Tool.findings([file] + options, status: 2)
    let finding = try #require(findings.last { $0["code"] as? String == code })
    #expect(finding["level"] as? String == "error" && finding["path"] as? String == file)
    #expect(finding["remedy"] as? String == remedy)
  }

  @Test("A Mach-O object that is overwritten anywhere is verified to the end")
  func overwritten() throws {
    let bytes = try Linkages.bytes("macho-arm64.o")
    let folder = try Folder()
    defer { folder.remove() }
    // The positions cover the headers, and the symbols at the end, which mark the retained sections.
    let positions = Array(0..<640) + Array(bytes.count - 640..<bytes.count)
    let list = try Fixtures.overwritten(
      bytes, at: Effort.sample(100, of: positions), by: [0, 0x20, 0xff], in: folder)
    let outcome = try Tool.run(["verify", "--stdin0", "--format", "json"], input: list)
    #expect((1...2).contains(outcome.status), "\(outcome.status)")
    let findings = try Tool.files(of: outcome, key: "findings")
    #expect(findings.contains { $0["code"] as? String == "not-retained" })
  }
}
