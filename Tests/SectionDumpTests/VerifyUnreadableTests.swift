import Foundation
import TestSupport
import Testing

/// Inputs of which `verify` can say nothing but why.
@Suite("Files that section-dump verify cannot read")
struct VerifyUnreadableTests {
  /// The code, the file, and what to do.
  static let unreadable = [
    (
      "unreadable", "nosuch.so",
      "correct the path or the permissions; a directory takes --recursive"
    ),
    ("not-an-object", "finding.txt", "leave the file out, or name what it was built from"),
    (
      "truncated", "finding-cut.so",
      "copy or build the file again; it was cut off, or something overwrote it"
    ),
    (
      "no-such-architecture", "finding-whole.so",
      "name another --arch, or a file that was built for this one"
    ),
  ]

  private static let files: Result<Void, any Error> = Result {
    let bytes = try Fixtures.bytes(Fixtures.annotatedLibrary("finding-whole.so"))
    try bytes.prefix(bytes.count / 2).write(to: Fixtures.place("finding-cut.so"))
    try Data("text\n".utf8).write(to: Fixtures.place("finding.txt"))
  }

  @Test("are findings like any other", arguments: unreadable)
  func file(code: String, file: String, remedy: String) throws {
    try Self.files.get()
    let options = code == "no-such-architecture" ? ["--arch", "s390x"] : []
    let outcome = try Tool.run(["verify", "--format", "csv", file] + options)
    #expect(outcome.status == 2)
    let line = try #require(outcome.output.split(separator: "\n").last { $0.contains(code) })
    #expect(line.hasPrefix("error,\(code),\(file),,,,"))
    #expect(line.hasSuffix(",\(remedy)") || line.hasSuffix(",\"\(remedy)\""), "\(line)")
  }

  @Test("A Mach-O object that is overwritten anywhere is verified to the end")
  func overwritten() throws {
    let bytes = try Linkages.bytes("macho-arm64.o")
    let folder = try Fixtures.folder("overwritten-object")
    defer { try? FileManager.default.removeItem(at: folder) }
    var list = Data()
    // Its headers, and its symbols at the end, which say what is retained.
    let positions = Array(0..<640) + Array(bytes.count - 640..<bytes.count)
    for position in Effort.sample(100, of: positions) {
      for value: UInt8 in [0, 0x20, 0xff] where bytes[position] != value {
        var copy = bytes
        copy[position] = value
        let file = folder.appendingPathComponent("\(position)-\(value)")
        try copy.write(to: file)
        list += Data(file.path.utf8) + [0]
      }
    }
    let outcome = try Tool.run(["verify", "--stdin0", "--format", "json"], input: list)
    #expect((1...2).contains(outcome.status), "\(outcome.status)")
    let findings = try Tool.files(of: outcome, key: "findings")
    #expect(findings.contains { $0["code"] as? String == "not-retained" })
  }
}
