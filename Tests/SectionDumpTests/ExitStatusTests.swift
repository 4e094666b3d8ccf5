import Foundation
import TestSupport
import Testing

@Suite("Exit statuses of section-dump")
struct ExitStatusTests {
  /// A run and what it must come to.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var arguments: [String]
    var status: Int32
    /// What standard error must say; nil for nothing at all.
    var errors: String?

    init(_ name: String, _ arguments: [String], _ status: Int32, _ errors: String? = nil) {
      (testDescription, self.arguments) = (name, arguments)
      (self.status, self.errors) = (status, errors)
    }
  }

  static let rows = [
    Row("records", ["good.so"], 0),
    Row("records, by name", ["records", "good.so"], 0),
    Row("no records", ["plain.so"], 0),
    Row("sections", ["sections", "good.so"], 0),
    Row(
      "no such section", ["strings", "--section", "nosuch", "good.so"], 1,
      "no file has a section nosuch"),
    Row("met", ["good.so", "--require", "module:audio"], 0),
    Row(
      "met by the union",
      ["plain.so", "good.so", "--require", "service:Greeter", "--require", "module:audio"], 0),
    Row(
      "met though a pattern hides it",
      ["good.so", "--module", "audio", "--require", "service:Greeter"], 0),
    Row(
      "unmet", ["good.so", "--require", "service:audio"], 1,
      "no file has the required service audio"),
    Row(
      "one unmet", ["good.so", "--require", "module:audio", "--require", "module:Aud*"], 1,
      "module Aud*"),
    Row("missing file", ["good.so", "nosuch.so"], 2, "nosuch.so: No such file or directory"),
    Row("empty path", [""], 2, "empty"),
    Row("directory", ["folder"], 2, "--recursive"),
    Row("directory, -r", ["-r", "folder"], 0),
    Row("text", ["text.txt"], 2, "text.txt: "),
    Row("empty file", ["empty"], 2, "empty: "),
    Row("nothing but the magic", ["magic"], 2, "magic: "),
    Row("half a file", ["half.so"], 2, "half.so"),
    Row("half a file, -r", ["-r", "broken"], 2, "broken/half.so"),
    Row("malformed entry", ["bad.so"], 2, "BeehiveMods["),
    Row("2 wins over 1", ["bad.so", "--require", "module:nosuch"], 2, "module nosuch"),
    Row("FIFO", ["fifo"], 2, "fifo: "),
    Row("device", ["/dev/zero"], 2, "/dev/zero: "),
    Row("section without bytes", ["hex", "--section", ".bss", "good.so"], 0),
    Row("not pointers", ["strings", "--section", ".text", "good.so"], 0),
    Row(
      "larger than allowed", ["hex", "--section", ".text", "--max-bytes", "8", "good.so"], 2,
      "--max-bytes"),
    Row("a path like an option", ["--format", "csv", "--", "--odd.so"], 0),
    Row("the same, with its directory", ["./--odd.so"], 0),
    Row("the same, which is taken for one", ["--odd.so"], 64, "Name at least one file"),
    Row("no path", [], 64, "Name at least one file"),
    Row("unknown option", ["--nosuch", "good.so"], 64, "--nosuch"),
    Row("unknown format", ["--format", "xml", "good.so"], 64, "xml"),
    Row("bad requirement", ["--require", "module:", "good.so"], 64, "The name is missing"),
    Row(
      "unknown kind", ["verify", "--require", "servce:A", "good.so"], 64,
      "The kind 'servce' is unknown; use module, service, target, route or plugin."),
    Row("no section named", ["hex", "good.so"], 64, "--section"),
    Row("empty section", ["hex", "--section", "", "good.so"], 64, "--section is empty"),
    Row("no command", ["frobnicate", "good.so"], 2, "There is no command frobnicate, so"),
    Row("qualified", ["good.so", "--service", "HomeService"], 1, "did you mean Shop.HomeService?"),
    Row("standard input twice", ["-", "-"], 64, "once"),
    Row("any jobs", ["--jobs", "\(Int.max)", "good.so"], 0),
    Row("help of none", ["help", "verfy"], 64, "no command verfy; there are records, "),
    Row("help", ["--help"], 0),
    Row("help of a command", ["help", "hex"], 0),
  ]

  static let fixtures: Result<Void, any Error> = Result {
    for name in ["good.so", "--odd.so"] { _ = try Fixtures.annotatedLibrary(name) }
    _ = try Fixtures.build("int x;", as: "plain.so")
    _ = try Fixtures.build(Fixtures.handWritten, as: "bad.so")
    for folder in ["folder", "broken"] { try Fixtures.folder(folder) }
    let good = try Fixtures.bytes("good.so")
    for (name, data) in [
      ("text.txt", Data("no object file\n".utf8)), ("empty", Data()),
      ("magic", Data([0x7f, 0x45, 0x4c, 0x46])), ("half.so", good.prefix(good.count / 2)),
      ("broken/half.so", good.prefix(good.count / 2)), ("folder/good.so", good),
      ("folder/text.txt", Data("no object file\n".utf8)),
    ] {
      try data.write(to: Fixtures.place(name))
    }
    try Fixtures.tool("mkfifo", ["fifo", "folder/fifo"])
  }

  @Test("A run comes to its status and says why", arguments: rows)
  func status(_ row: Row) throws {
    try Self.fixtures.get()

    let outcome = try Tool.run(row.arguments)

    #expect(outcome.status == row.status, "\(outcome.errors)")
    if let errors = row.errors {
      #expect(outcome.errors.contains(errors), "\(outcome.errors)")
    } else {
      #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    }
  }

  @Test("What could be read is printed though another input could not")
  func partial() throws {
    try Self.fixtures.get()

    let files = try Tool.files(["nosuch.so", "good.so", "text.txt"])

    #expect(files.map { $0["path"] as? String } == ["nosuch.so", "good.so", "text.txt"])
    #expect(try Tool.lines(files[1]).sorted() == Fixtures.annotatedLines.sorted())
    for file in [files[0], files[2]] {
      #expect((file["records"] as? [Any])?.isEmpty == true)
      for key in ["format", "bits", "endian", "machine", "type", "id"] {
        #expect(file[key] is NSNull)
      }
    }
    #expect(files.map(Tool.codes) == [["unreadable"], [], ["not-an-object"]])
  }

  @Test(
    "A file that was cut off is told once, and no name is called missing",
    arguments: [
      [], ["sections"], ["hex", "--section", "Bee*"], ["--module", "audio"], ["verify"],
    ], ["table", "json"])
  func cut(command: [String], format: String) throws {
    try Self.fixtures.get()
    let outcome = try Tool.run(command + ["half.so", "--format", format]).expect(2)
    let text = outcome.output + outcome.errors
    #expect(
      text.ranges(of: "The file ends before").count
        == (command == ["verify"] || format == "table" ? 1 : 2))
    #expect(!text.contains("no file has") && !text.contains("remark"), "\(text)")
    // What goes to standard error begins a line, where both streams are one.
    let lines = try Tool.shell(
      "\"$0\" \"$@\" 2>&1", command + ["half.so", "--format", format]
    ).lines
    #expect(command == ["verify"] || lines.contains { $0.hasPrefix("section-dump: half.so") })
  }

  @Test("Lost output is a failure", arguments: ["good.so", "--version", "help hex"])
  func fullDisk(arguments: String) throws {
    try Self.fixtures.get()
    for (target, reason) in [(">/dev/full", "No space left on device"), (">&-", "Bad file")] {
      try Tool.shell("\"$0\" \(arguments) \(target)").expect(2, errors: reason)
    }
    // ThreadSanitizer writes a file itself before anything runs.
    guard !Needs.isSanitized else { return }
    // Standard error is a file here, and may not grow either.
    try Tool.shell("ulimit -f 0; \"$0\" \(arguments) >limited").expect(2)
  }
}
