import Foundation
import TestSupport
import Testing

/// The installed tool's reports on every file in the system's library folders. Whatever these files hold, the scan must
/// end.
@Suite("The installed section-dump over the system's libraries", .serialized, .full)
struct SystemFilesTests {
  @Test("ends, prints JSON to the last line, and says in a line each what is damaged")
  func scan() throws {
    let arguments = ["-r", "--format", "ndjson", "/usr/lib"]
    let outcome = try Command.run(Installation.needed().tool, arguments)
    // The status is 2 if a file is damaged, or not read in full.
    #expect([0, 2].contains(outcome.status))
    var records = 0
    var codes: [String: Int] = [:]
    #expect(!outcome.lines.isEmpty)
    for line in outcome.lines {
      let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
      let file = try #require(value as? [String: Any], "\(line)")
      records += try #require(file["records"] as? [Any], "\(line)").count
      for problem in try #require(file["problems"] as? [[String: Any]], "\(line)") {
        codes[try #require(problem["code"] as? String, "\(line)"), default: 0] += 1
      }
    }
    print("\(outcome.lines.count) object files, \(records) entries")
    for (code, count) in codes.sorted(by: { $0.value > $1.value }) { print("  \(count) \(code)") }
    let errors = outcome.errors.split(separator: "\n")
    for line in errors.suffix(10) { print("  \(line)") }
    #expect(errors.first { !$0.hasPrefix("section-dump: ") } == nil)
  }
}
