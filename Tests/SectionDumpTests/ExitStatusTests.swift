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
  }

  static let rows = [
    Row(testDescription: "records", arguments: ["good.so"], status: 0),
    Row(testDescription: "records, by name", arguments: ["records", "good.so"], status: 0),
    Row(testDescription: "no records", arguments: ["plain.so"], status: 0),
    Row(testDescription: "sections", arguments: ["sections", "good.so"], status: 0),
    Row(
      testDescription: "no such section", arguments: ["strings", "--section", "nosuch", "good.so"],
      status: 1, errors: "no file has a section nosuch"),
    Row(
      testDescription: "met", arguments: ["good.so", "--require", "module:audio"], status: 0),
    Row(
      testDescription: "met by the union",
      arguments: [
        "plain.so", "good.so", "--require", "service:Greeter", "--require", "module:audio",
      ], status: 0),
    Row(
      testDescription: "met though a pattern hides it",
      arguments: ["good.so", "--module", "audio", "--require", "service:Greeter"], status: 0),
    Row(
      testDescription: "unmet", arguments: ["good.so", "--require", "service:audio"], status: 1,
      errors: "no file has the required service audio"),
    Row(
      testDescription: "one unmet",
      arguments: ["good.so", "--require", "module:audio", "--require", "module:Aud*"], status: 1,
      errors: "module Aud*"),
    Row(
      testDescription: "missing file", arguments: ["good.so", "nosuch.so"], status: 2,
      errors: "nosuch.so: No such file or directory"),
    Row(
      testDescription: "empty path", arguments: [""], status: 2, errors: "empty"),
    Row(testDescription: "directory", arguments: ["folder"], status: 2, errors: "--recursive"),
    Row(testDescription: "directory, -r", arguments: ["-r", "folder"], status: 0),
    Row(testDescription: "text", arguments: ["text.txt"], status: 2, errors: "text.txt: "),
    Row(testDescription: "empty file", arguments: ["empty"], status: 2, errors: "empty: "),
    Row(
      testDescription: "nothing but the magic", arguments: ["magic"], status: 2, errors: "magic: "),
    Row(testDescription: "half a file", arguments: ["half.so"], status: 2, errors: "half.so"),
    Row(
      testDescription: "half a file, -r", arguments: ["-r", "broken"], status: 2,
      errors: "broken/half.so"),
    Row(
      testDescription: "malformed entry", arguments: ["bad.so"], status: 2,
      errors: "BeehiveMods["),
    Row(
      testDescription: "2 wins over 1", arguments: ["bad.so", "--require", "module:nosuch"],
      status: 2, errors: "module nosuch"),
    Row(testDescription: "FIFO", arguments: ["fifo"], status: 2, errors: "fifo: "),
    Row(testDescription: "device", arguments: ["/dev/zero"], status: 2, errors: "/dev/zero: "),
    Row(
      testDescription: "section without bytes", arguments: ["hex", "--section", ".bss", "good.so"],
      status: 0),
    Row(
      testDescription: "not pointers", arguments: ["strings", "--section", ".text", "good.so"],
      status: 0),
    Row(
      testDescription: "larger than allowed",
      arguments: ["hex", "--section", ".text", "--max-bytes", "8", "good.so"], status: 2,
      errors: "--max-bytes"),
    Row(testDescription: "no path", arguments: [], status: 64, errors: "Name at least one file"),
    Row(
      testDescription: "unknown option", arguments: ["--nosuch", "good.so"], status: 64,
      errors: "--nosuch"),
    Row(
      testDescription: "unknown format", arguments: ["--format", "xml", "good.so"], status: 64,
      errors: "xml"),
    Row(
      testDescription: "bad requirement", arguments: ["--require", "audio", "good.so"], status: 64,
      errors: "audio"),
    Row(
      testDescription: "no section named", arguments: ["hex", "good.so"], status: 64,
      errors: "--section"),
    Row(
      testDescription: "standard input twice", arguments: ["-", "-"], status: 64, errors: "once"),
    Row(testDescription: "any jobs", arguments: ["--jobs", "\(Int.max)", "good.so"], status: 0),
    Row(
      testDescription: "help of none", arguments: ["help", "verfy"], status: 64,
      errors: "no command verfy; there are records, "),
    Row(testDescription: "help", arguments: ["--help"], status: 0),
    Row(testDescription: "help of a command", arguments: ["help", "hex"], status: 0),
  ]

  static let fixtures: Result<Void, any Error> = Result {
    let directory = Fixtures.directory
    _ = try Fixtures.annotatedLibrary("good.so")
    _ = try Fixtures.build("int x;", as: "plain.so", ["-shared", "-fPIC"])
    _ = try Fixtures.build(Fixtures.handWritten, as: "bad.so", ["-shared", "-fPIC"])
    let manager = FileManager.default
    for folder in ["folder", "broken"] {
      try manager.createDirectory(
        at: directory.appendingPathComponent(folder), withIntermediateDirectories: true)
    }
    let good = try Data(contentsOf: directory.appendingPathComponent("good.so"))
    for (name, data) in [
      ("text.txt", Data("no object file\n".utf8)), ("empty", Data()),
      ("magic", Data([0x7f, 0x45, 0x4c, 0x46])), ("half.so", good.prefix(good.count / 2)),
      ("broken/half.so", good.prefix(good.count / 2)), ("folder/good.so", good),
      ("folder/text.txt", Data("no object file\n".utf8)),
    ] {
      try data.write(to: directory.appendingPathComponent(name))
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
    let codes = try files.map { file in
      try #require(file["problems"] as? [[String: Any]]).map { $0["code"] as? String }
    }
    #expect(codes == [["unreadable"], [], ["not-an-object"]])
  }

  @Test("Lost output is a failure")
  func fullDisk() throws {
    try Self.fixtures.get()

    let outcome = try Fixtures.run(
      "sh", ["-c", "\"$0\" good.so > /dev/full", Repository.sectionDump])

    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("No space left on device"))
  }
}
