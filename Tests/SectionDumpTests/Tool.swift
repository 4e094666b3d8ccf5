import Foundation
import Testing

/// `section-dump` as it was built, run as a process.
enum Tool {
  /// What a run left behind.
  struct Outcome {
    var status: Int32
    var output: String
    var errors: String
  }

  /// The directory of the test bundle, where the package's products stand too.
  static let products = URL(fileURLWithPath: CommandLine.arguments[0])
    .resolvingSymlinksInPath().deletingLastPathComponent()

  /// Runs the tool in the directory of the fixtures, with `input` as its standard input.
  static func run(
    _ arguments: [String], input: Data? = nil, environment: [String: String] = [:]
  ) throws -> Outcome {
    try Fixtures.run(
      products.appendingPathComponent("section-dump").path, arguments, input: input,
      environment: environment)
  }

  /// Runs the tool; the seconds of processor time that it took, whatever runs beside it.
  static func timed(
    _ arguments: [String], limit: Int = 300
  ) throws -> (outcome: Outcome, seconds: Double) {
    let tool = products.appendingPathComponent("section-dump").path
    var outcome = try Fixtures.run(
      "bash", ["-c", #"TIMEFORMAT="%U %S"; time "$0" "$@""#, tool] + arguments,
      environment: ["LC_ALL": "C"], limit: limit)
    // Behind what the tool said there.
    var lines = outcome.errors.split(separator: "\n", omittingEmptySubsequences: false)
    try #require(lines.popLast()?.isEmpty == true, "\(outcome.errors)")
    let times = (lines.popLast() ?? "").split(separator: " ").compactMap { Double($0) }
    try #require(times.count == 2, "\(outcome.errors)")
    outcome.errors = lines.map { $0 + "\n" }.joined()
    return (outcome, times[0] + times[1])
  }

  /// The file objects of a JSON run.
  static func files(_ arguments: [String], input: Data? = nil) throws -> [[String: Any]] {
    let outcome = try run(arguments + ["--format", "json"], input: input)
    let document = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8))
    let object = try #require(document as? [String: Any])
    #expect(object["schema"] as? Int == 1)
    return try #require(object["files"] as? [[String: Any]])
  }

  /// The records of a file object, each as `kind name → implementation {attributes}`.
  static func lines(_ file: [String: Any]) throws -> [String] {
    try #require(file["records"] as? [[String: Any]]).map { record in
      let attributes = (record["attributes"] as? [String: Any] ?? [:])
        .map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
      let implementation = record["implementation"] as? String ?? "–"
      return "\(record["kind"] ?? "") \(record["name"] ?? "") → \(implementation) "
        + "\(record["priority"] ?? "") {\(attributes)}"
    }
  }
}

/// Compares what was printed with a file beside this one.
///
/// A golden that is missing is written, and the test fails once so that somebody looks at it;
/// `RECORD_GOLDENS=1` writes all of them anew.
func expectGolden(
  _ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Goldens/\(name)")
  let records = ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1"
  if !records, let golden = try? String(contentsOf: file, encoding: .utf8) {
    #expect(text == golden, "Goldens/\(name)", sourceLocation: sourceLocation)
    return
  }
  try Data(text.utf8).write(to: file)
  Issue.record("Goldens/\(name) was written; look at it", sourceLocation: sourceLocation)
}
