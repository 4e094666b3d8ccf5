import Foundation
import TestSupport
import Testing

@testable import section_dump

@Suite("Inputs of section-dump")
struct InputsTests {
  /// Makes a directory of its own with `b/lib.so`, `a.so`, `Z.so`, a text, a FIFO and links.
  private func tree() throws -> String {
    let name = "tree-\(UUID().uuidString)"
    let root = Fixtures.place(name)
    let manager = FileManager.default
    try Fixtures.folder("\(name)/b")
    let library = Fixtures.place(try Fixtures.annotatedLibrary("\(name).so"))
    for place in ["b/lib.so", "a.so", "Z.so"] {
      try manager.copyItem(at: library, to: root.appendingPathComponent(place))
    }
    try Data("text".utf8).write(to: root.appendingPathComponent("readme.txt"))
    try Fixtures.tool("mkfifo", ["\(name)/fifo"])
    for (link, target) in [
      ("link.so", "a.so"), ("loop", "."), ("dangling", "nowhere"), ("dir", "b"),
    ] {
      try manager.createSymbolicLink(
        atPath: root.appendingPathComponent(link).path, withDestinationPath: target)
    }
    return name
  }

  @Test("A directory is walked in bytewise order; links to directories are not followed")
  func recursion() throws {
    let tree = try tree()
    for slash in ["", "/"] {
      let paths = try Tool.files(["-r", tree + slash]).map { $0["path"] as? String }
      #expect(paths == ["Z.so", "a.so", "b/lib.so", "link.so"].map { "\(tree)/\($0)" })
    }
  }

  @Test("What is no object file is counted, and is no failure")
  func skipped() throws {
    let tree = try tree()
    let table = try Tool.run(["-r", tree]).expect(0)
    #expect(
      table.output.hasSuffix(
        "\n4 files: 4 shown, 1 skipped (no object files), 4 passed over (no regular files)\n"))
    let json = try Tool.run(["-r", tree, "--format", "json"])
    #expect(
      json.errors == """
        section-dump: 1 skipped (no object files)
        section-dump: 4 passed over (no regular files)

        """)
  }

  @Test(
    "Many paths behind the options are all read, in order",
    arguments: [["--format", "ndjson"], ["records", "--format", "ndjson", "--jobs", "2"]])
  func manyPaths(options: [String]) throws {
    let name = try Fixtures.annotatedLibrary("many-\(UUID().uuidString).so")
    let paths = ["./\(name)", name, "missing.so", name]
    let count = Effort.times(400, full: 3200)
    let result = try Tool.run(options + (0..<count).map { paths[$0 % 4] }).expect(2)
    let found = try result.lines.map { try Tool.object($0)["path"] as? String }
    let isInOrder = found == (0..<count).map { paths[$0 % 4] }
    #expect(isInOrder, "\(found.count) of \(count)")
  }

  @Test(
    "The parser, whose time grows with the square of its arguments, is given a few of many paths",
    arguments: [
      [], ["--format", "ndjson"], ["records", "--format", "ndjson", "--jobs", "2"],
      ["verify", "--strict"], ["-r", "first", "--color", "always"],
    ])
  func fewParsed(options: [String]) {
    let paths = (0..<3200).map { "path \($0)" }
    let arguments = CommandArguments(options + paths)
    #expect(arguments.parsed.count <= options.count + 3)
    #expect(arguments.parsed + arguments.laterPaths == options + paths)
    // These commands take two paths, or none.
    for command in ["diff", "live", "help"] {
      #expect(CommandArguments([command] + options + paths).laterPaths.isEmpty)
    }
  }

  @Test("Standard input is read from a file and from a pipe", arguments: [[], ["--isolate"]])
  func standardInput(options: [String]) throws {
    let name = try Fixtures.annotatedLibrary("input.so")
    let data = try Fixtures.bytes(name)

    let file = try #require(try Tool.files(["-"] + options, input: data).first)
    #expect(file["path"] as? String == "-")
    #expect(try Tool.lines(file).sorted() == Fixtures.annotatedLines.sorted())

    let piped = try Tool.shell("cat \(name) | \"$0\" \(options.joined()) - --format csv")
      .expect(0, output: "\n-,,module,")
    #expect(piped.lines.count == 5)

    try Tool.shell("cat \(name) | \"$0\" - --max-bytes 100").expect(2, errors: "--max-bytes")
  }

  @Test("A list of paths comes ended by NUL")
  func list() throws {
    let name = try Fixtures.annotatedLibrary("listed.so")
    let files = try Tool.files(["--stdin0"], input: Data("\(name)\0nosuch\nname\0".utf8))
    #expect(files.map { $0["path"] as? String } == [name, "nosuch\nname"])
  }

  @Test("A path that is not UTF-8 is opened, named with replacements, and given in hex")
  func rawPath() throws {
    let name = try Fixtures.annotatedLibrary("raw.so")
    let outcome = try Tool.shell(
      "cp \(name) \"$(printf 'x\\377')\"; \"$0\" x[!a-z]* --format ndjson"
    ).expect(0)
    let file = try Tool.object(outcome.output)
    #expect(file["path"] as? String == "x\u{fffd}")
    #expect(file["pathBytes"] as? String == "78ff")
    #expect(try Tool.lines(file).count == 4)
  }

  @Test("Several files: those with nothing to show are counted")
  func summary() throws {
    let name = try Fixtures.annotatedLibrary("shown.so")
    let plain = try Fixtures.build("int x;", as: "silent.so")
    #expect(
      try Tool.run([plain, name, plain]).output.hasSuffix("\n3 files: 1 shown, 2 no entries\n"))
    #expect(try Tool.run([plain]).output.hasSuffix("  no entries\n"))
    // A file that could not be opened does not count as a file without entries.
    #expect(
      try Tool.run([plain, name, "nosuch.so"]).output
        .hasSuffix("\n3 files: 1 shown, 1 not read, 1 no entries\n"))
  }

  @Test("One slice of a universal file, by its machine")
  func arch() throws {
    let name = try Fixtures.annotatedLibrary("machine.so")
    #expect(try Tool.files(["--arch", "x86_64", name]).count == 1)
    let other = try Tool.run(["--arch", "s390x", name]).expect(2)
    #expect(
      other.errors.hasSuffix(
        "machine.so: The file has no image for s390x; it is made for x86_64.\n"))
  }
}
