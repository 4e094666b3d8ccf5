import Foundation
import TestSupport
import Testing

/// Files with few or plain entries, and a comparison that could cost the product of all.
@Suite("Sets that are made to take long")
struct HostileSetsTests {
  private static func words(_ names: [String]) -> String {
    """
    .section BeehiveMods, "awR"
    \(names.indices.map { ".quad t\($0)" }.joined(separator: "\n"))
    .section .rodata.text, "a"
    \(names.enumerated().map { "t\($0): .asciz \"\($1)\"" }.joined(separator: "\n"))
    """
  }

  @Test(
    "Thousands of executables beside a library are told of, each by itself", .mayHang,
    arguments: [["verify", "--format", "ndjson"], ["graph"]])
  func executables(command: [String]) throws {
    let id = UUID().uuidString
    let library = try Fixtures.build(
      Self.words((0..<1000).map { "m\($0)" }), as: "\(id).so", suffix: "s",
      ["-shared", "-nostdlib"])
    let executable = try Fixtures.build(
      Self.words(["m7"]), as: "\(id).exe", suffix: "s",
      ["-static", "-nostdlib", "-s", "-Wl,-e,0", "-Wl,--build-id=none"])
    var content = try Fixtures.bytes(executable)
    // Bytes after the image tell the files apart: no two files have the same.
    content.append(Data(repeating: 0x20, count: 6 + content.count % 2))
    var archive = Data("!<arch>\n".utf8)
    for number in 0..<2000 {
      content.replaceSubrange(content.count - 6..<content.count, with: "\(100_000 + number)".utf8)
      archive += Fixtures.memberHeader("e\(number)/", "\(content.count)") + content
    }
    try archive.write(to: Fixtures.place("\(id).a"))
    let outcome = try Tool.run(command + [library, "\(id).a"])
    if command[0] == "verify" {
      #expect(outcome.output.ranges(of: "\"duplicate-module\"").count == 2000)
    }
    #expect(outcome.status == (command[0] == "verify" ? 1 : 0), "\(outcome.errors)")
  }

  @Test(
    "A route of megabytes and many forms is no duplicate, and needs little memory",
    .needs("prlimit"),
    .limitsMemory)
  func forms() throws {
    let size = 12 << 20
    let pattern = "/(a)(b)(c)(d)(e)(f)/"
    let entry = """
      .long \(32 + size)
      .short 1, 4
      .long 0, 32
      .quad 0, 0
      .ascii "\(pattern)"
      .fill \(size - pattern.utf8.count - 8), 1, 0x78
      .zero 8
      """
    let name = try Fixtures.build(
      ".section BeehiveRecords, \"awR\"\n\(entry)\n\(entry)\n", as: "route-of-megabytes.so",
      suffix: "s",
      ["-shared", "-nostdlib"])
    let outcome = try Fixtures.run(
      "prlimit",
      ["--as=\(1 << 30)", Repository.sectionDump, "verify", "--format", "csv", name]
    ).expect(2)
    #expect(!outcome.output.contains("duplicate-"))
    #expect(outcome.output.components(separatedBy: "error,bad-pattern").count == 3)
  }
}
