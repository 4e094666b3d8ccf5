import Foundation
import TestSupport
import Testing

@Suite("Exit statuses of section-dump")
struct ExitStatusTests {
  /// Runs and their expected results. `errors` is nil if standard error must be empty.
  static let rows: [(what: String, arguments: [String], status: Int32, errors: String?)] = [
    ("records", ["good.so"], 0, nil),
    ("records, by name", ["records", "good.so"], 0, nil),
    ("no records", ["plain.so"], 0, nil),
    ("sections", ["sections", "good.so"], 0, nil),
    ("met", ["good.so", "--require", "module:audio"], 0, nil),
    (
      "met by the union",
      ["plain.so", "good.so", "--require", "service:Greeter", "--require", "module:audio"], 0, nil
    ),
    (
      "met though a pattern hides it",
      ["good.so", "--module", "audio", "--require", "service:Greeter"], 0, nil
    ),
    (
      "unmet", ["good.so", "--require", "service:audio"], 1,
      "no file has the required service audio"
    ),
    (
      "one unmet", ["good.so", "--require", "module:audio", "--require", "module:Aud*"], 1,
      "module Aud*"
    ),
    ("missing file", ["good.so", "nosuch.so"], 2, "nosuch.so: No such file or directory"),
    ("empty path", [""], 2, "empty"),
    ("directory", ["folder"], 2, "--recursive"),
    ("directory, -r", ["-r", "folder"], 0, nil),
    ("text", ["text.txt"], 2, "text.txt: "),
    ("empty file", ["empty"], 2, "empty: "),
    ("nothing but the magic", ["magic"], 2, "magic: "),
    ("half a file", ["half.so"], 2, "half.so"),
    ("half a file, -r", ["-r", "broken"], 2, "broken/half.so"),
    ("malformed entry", ["bad.so"], 2, "BeehiveMods["),
    ("2 wins over 1", ["bad.so", "--require", "module:nosuch"], 2, "module nosuch"),
    ("FIFO", ["fifo"], 2, "fifo: "),
    ("device", ["/dev/zero"], 2, "/dev/zero: "),
    ("not pointers", ["strings", "--section", ".text", "good.so"], 0, nil),
    (
      "larger than allowed", ["hex", "--section", ".text", "--max-bytes", "8", "good.so"], 2,
      "--max-bytes"
    ),
    ("a path like an option", ["--format", "csv", "--", "--odd.so"], 0, nil),
    ("the same, with its directory", ["./--odd.so"], 0, nil),
    ("the same, which is taken for one", ["--odd.so"], 64, "Name at least one file"),
    ("no path", [], 64, "Name at least one file"),
    ("unknown option", ["--nosuch", "good.so"], 64, "--nosuch"),
    ("unknown format", ["--format", "xml", "good.so"], 64, "xml"),
    ("bad requirement", ["--require", "module:", "good.so"], 64, "The name is missing"),
    (
      "unknown kind", ["verify", "--require", "servce:A", "good.so"], 64,
      "The kind 'servce' is unknown; use module, service, target, route or plugin."
    ),
    ("no section named", ["hex", "good.so"], 64, "--section"),
    ("empty section", ["hex", "--section", "", "good.so"], 64, "--section is empty"),
    ("no command", ["frobnicate", "good.so"], 2, "There is no command frobnicate, so"),
    ("qualified", ["good.so", "--service", "HomeService"], 1, "did you mean Shop.HomeService?"),
    ("standard input twice", ["-", "-"], 64, "once"),
    ("any jobs", ["--jobs", "\(Int.max)", "good.so"], 0, nil),
    ("no jobs", ["--jobs=0", "good.so"], 64, "--jobs"),
    ("fewer than none", ["--jobs=-1", "good.so"], 64, "--jobs"),
    ("jobs that are no number", ["--jobs=many", "good.so"], 64, "--jobs"),
    ("no process", ["live"], 64, "--pid"), ("not a process", ["live", "--pid", "0"], 64, "--pid"),
    ("no such picture", ["graph", "--format", "png", "good.so"], 64, "png"),
    ("help of none", ["help", "verfy"], 64, "no command verfy; there are records, "),
    ("help", ["--help"], 0, nil),
    ("help of a command", ["help", "hex"], 0, nil),
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
  func status(what: String, arguments: [String], status: Int32, errors: String?) throws {
    try Self.fixtures.get()
    let said = try Tool.run(arguments).expect(status).errors
    #expect(errors.map { said.contains($0) } ?? said.isEmpty, "\(said)")
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
    // Messages on standard error begin a line, even if both streams are one.
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
    // ThreadSanitizer itself writes a file before anything runs.
    guard !Needs.isSanitized else { return }
    // Standard error is a file here, and may not grow either.
    try Tool.shell("ulimit -f 0; \"$0\" \(arguments) >limited").expect(2)
  }
}
