import Foundation
import TestSupport
import Testing
import Threads

@Suite("Files are read at the same time, and reported in their order")
struct JobsTests {
  /// A tree of several directories: files with entries, without, damaged, and of other kinds.
  private static let tree: Result<String, any Error> = Result {
    let name = "jobs-\(UUID().uuidString)"
    let library = try Fixtures.bytes(Fixtures.annotatedLibrary("\(name).so"))
    let mistaken = try Fixtures.bytes(Fixtures.build(Fixtures.handWritten, as: "\(name)-hand.so"))
    let empty = try Fixtures.bytes(Fixtures.build("int x;", as: "\(name)-empty.so"))
    let kinds = [library, empty, mistaken, library.prefix(700), Data("text".utf8), empty]
    for directory in 0..<7 {
      let place = try Fixtures.folder("\(name)/\(directory)")
      for file in 0..<Effort.times(24, full: 90) {
        try kinds[(directory + file * file) % kinds.count]
          .write(to: place.appendingPathComponent("\(file)"))
      }
    }
    return name
  }

  /// The outcome of one thread for the tree, by the arguments.
  private static let alone = Lock<[[String]: Outcome]>([:])

  static let commands =
    ["table", "json", "ndjson", "csv"].map { format in
      ["records", "--format", format, "--require", "module:audio", "--require", "module:nobody"]
    } + [["verify"], ["diff", "nothing-there"]]

  @Test(
    "Both streams are the same, byte by byte, however many there are", arguments: commands,
    [2, 3, 16])
  func sameOutput(command: [String], jobs: Int) throws {
    let tree = try Self.tree.get()
    try Fixtures.folder("nothing-there")
    let arguments = command + ["-r", tree] + (command[0] == "records" ? ["\(tree)/nosuch"] : [])
    let one = try Self.alone.withLock { known in
      if let outcome = known[arguments] { return outcome }
      let outcome = try Tool.run(arguments + ["--jobs", "1"])
      known[arguments] = outcome
      return outcome
    }
    #expect(!one.output.isEmpty)
    if command[0] == "records" {
      #expect(one.status == 2 && !one.errors.contains("audio"))
      #expect(one.errors.hasSuffix("no file has the required module nobody\n"))
    }
    try Tool.expectSame(Tool.run(arguments + ["--jobs", "\(jobs)"]), one)
  }

  @Test("A problem stands behind what came before it, where both streams are one file")
  func sameOrder() throws {
    let tree = try Self.tree.get()
    let outputs = try [1, 4].map { jobs in
      try Tool.shell("\"$0\" -r \(tree) --format csv --jobs \(jobs) 2>&1").output
    }
    #expect(outputs[0].contains("section-dump: "))
    #expect(outputs[0] == outputs[1])
  }

  @Test("Reports that are longer than anybody keeps come in order as well")
  func longReports() throws {
    // Each file makes megabytes of text, so threads have to wait for their turn.
    let source = """
      .section list, "aw"
      .rept 1000
      .quad name
      .endr
      .section .rodata.names, "a"
      name: .fill \(Effort.times(840, full: 3000)), 1, 0x78
      .byte 0
      """
    let name = try Fixtures.build(source, as: "long.so", suffix: "s", ["-shared"])
    let paths = [String](repeating: name, count: 6)
    let arguments = ["strings", "--section", "list", "--whole-texts", "--format", "json"] + paths
    let one = try Tool.run(arguments)
    let many = try Tool.run(arguments + ["--jobs", "4"])
    #expect(one.output.utf8.count > Effort.times(5, full: 12) << 20)
    #expect(many.output == one.output)
  }
}
