import Foundation
import Testing

/// Inputs of which `verify` can say nothing but why.
@Suite("Files that section-dump verify cannot read")
struct VerifyUnreadableTests {
  /// The code, the file, and what to do.
  static let unreadable = [
    ("unreadable", "nosuch.so", "correct the path, or the permissions of the file"),
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
    let directory = Fixtures.directory
    let whole = try Fixtures.annotatedLibrary("finding-whole.so")
    let bytes = try Data(contentsOf: directory.appendingPathComponent(whole))
    try bytes.prefix(bytes.count / 2).write(to: directory.appendingPathComponent("finding-cut.so"))
    try Data("text\n".utf8).write(to: directory.appendingPathComponent("finding.txt"))
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
}
