import Foundation
import TestSupport
import Testing

/// What the installed tool says of every file in the system's library folders. Which they are, nobody
/// here chose; whatever they hold, the scan must end.
@Suite("The installed section-dump over the system's libraries", .serialized, .full)
struct SystemFilesTests {
  private static let scan = Result {
    try Command.run(Installation.needed().tool, ["-r", "--format", "ndjson", "/usr/lib"])
  }

  @Test("ends")
  func ends() throws {
    _ = try Installation.needed()
    // With status 2 where a file is damaged, or not read in full.
    #expect(try [0, 2].contains(Self.scan.get().status))
  }

  @Test("prints JSON to the last line, and counts of what it finds")
  func lines() throws {
    _ = try Installation.needed()
    var records = 0
    var codes: [String: Int] = [:]
    let lines = try Self.scan.get().lines
    #expect(!lines.isEmpty)
    for line in lines {
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let file = try #require(value as? [String: Any], "\(line)")
      records += try #require(file["records"] as? [Any], "\(line)").count
      for problem in try #require(file["problems"] as? [[String: Any]], "\(line)") {
        codes[try #require(problem["code"] as? String, "\(line)"), default: 0] += 1
      }
    }
    print("\(lines.count) object files, \(records) entries")
    for (code, count) in codes.sorted(by: { $0.value > $1.value }) { print("  \(count) \(code)") }
  }

  @Test("says what is damaged in a line each")
  func errors() throws {
    _ = try Installation.needed()
    let lines = try Self.scan.get().errors.split(separator: "\n")
    for line in lines.suffix(10) { print("  \(line)") }
    #expect(lines.first { !$0.hasPrefix("section-dump: ") } == nil)
  }
}
