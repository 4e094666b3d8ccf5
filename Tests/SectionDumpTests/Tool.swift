import Foundation
import TestSupport
import Testing

/// `section-dump` as it was built with the tests, run as a process.
enum Tool {
  /// Runs the tool in the directory of the fixtures, with `input` as its standard input.
  static func run(
    _ arguments: [String], input: Data? = nil, environment: [String: String] = [:]
  ) throws -> Outcome {
    if arguments.contains("--isolate") { try Needs.isolation() }
    return try Fixtures.run(
      Repository.sectionDump, arguments, input: input, environment: environment)
  }

  /// Runs a shell script that gets the tool as `$0` and the arguments as `$@`.
  static func shell(
    _ script: String, _ arguments: [String] = [], with shell: String = "sh"
  ) throws -> Outcome {
    try Fixtures.run(shell, ["-c", script, Repository.sectionDump] + arguments)
  }

  /// Runs the tool with limited memory, except under a sanitizer.
  static func limited(_ arguments: [String], kilobytes: Int = 160_000) throws -> Outcome {
    let limit = Needs.isSanitized ? "unlimited" : "\(kilobytes)"
    return try shell("ulimit -v \(limit); exec \"$0\" \"$@\"", arguments)
  }

  /// Runs the tool, and again with `--isolate`, which must change nothing.
  @discardableResult
  static func runIsolated(_ arguments: [String], jobs: Int = 1) throws -> Outcome {
    let isolated = try run(arguments + ["--isolate", "--jobs", "\(jobs)"])
    try expectSame(isolated, run(arguments))
    return isolated
  }

  /// Expects that two runs printed the same and ended with the same status.
  static func expectSame(_ one: Outcome, _ other: Outcome) {
    #expect(one.output == other.output, "\(one.command)")
    #expect(one.errors == other.errors, "\(one.command)")
    #expect(one.status == other.status, "\(one.command)")
  }

  /// Returns the file objects of a JSON run.
  static func files(_ arguments: [String], input: Data? = nil) throws -> [[String: Any]] {
    try files(of: run(arguments + ["--format", "json"], input: input))
  }

  /// Returns the sections of the first file of a JSON run.
  static func sections(_ arguments: [String]) throws -> [[String: Any]] {
    try #require(files(arguments).first?["sections"] as? [[String: Any]])
  }

  /// Returns the entries of the first section of a JSON run.
  static func entries(_ arguments: [String]) throws -> [[String: Any]] {
    try #require(sections(arguments).first?["entries"] as? [[String: Any]])
  }

  /// Shows a process in JSON.
  static func live(_ pid: Int32) throws -> Outcome {
    try run(["live", "--pid", "\(pid)", "--format", "json"])
  }

  /// Returns the images that `live` shows, by the last parts of their paths.
  static func live(_ arguments: [String], status: Int32 = 0) throws -> [String: [String: Any]] {
    let outcome = try run(["live", "--format", "json"] + arguments).expect(status)
    let images = try files(of: outcome).map {
      ((($0["path"] as? String ?? "") as NSString).lastPathComponent, $0)
    }
    return Dictionary(images) { first, _ in first }
  }

  /// Returns the JSON object that a run has printed, on all lines or on one.
  static func object(_ text: some StringProtocol) throws -> [String: Any] {
    let document = try JSONSerialization.jsonObject(with: Data(text.utf8))
    return try #require(document as? [String: Any])
  }

  /// Returns the file objects that a JSON run has printed, or its list under another key.
  static func files(of outcome: Outcome, key: String = "files") throws -> [[String: Any]] {
    let object = try object(outcome.output)
    #expect(object["schema"] as? Int == 1)
    return try #require(object[key] as? [[String: Any]])
  }

  /// Returns the findings of `verify`, and expects this status, if any is given.
  static func findings(_ arguments: [String], status: Int32? = 0) throws -> [[String: Any]] {
    let outcome = try run(["verify", "--format", "json"] + arguments)
    #expect(status == nil || outcome.status == status, "\(outcome)")
    return try files(of: outcome, key: "findings")
  }

  /// Returns the findings of `verify`, each as `level code file section[index]`.
  static func found(_ arguments: [String], status: Int32? = 0) throws -> [String] {
    try findings(arguments, status: status).map { finding in
      let words = ["level", "code", "path", "section"].compactMap { finding[$0] as? String }
      let index = (finding["index"] as? Int).map { "[\($0)]" }
      return words.joined(separator: " ") + (index ?? "")
    }
  }

  /// Returns the codes of the problems of a file object.
  static func codes(_ file: [String: Any]) -> [String] {
    (file["problems"] as? [[String: Any]] ?? []).map { $0["code"] as? String ?? "" }
  }

  /// Returns the records of a file object, each as `kind name → implementation {attributes}`.
  static func lines(_ file: [String: Any]) throws -> [String] {
    try #require(file["records"] as? [[String: Any]]).map { record in
      let attributes = (record["attributes"] as? [String: Any] ?? [:])
        .map { "\($0.key)=\($0.value)" }.sorted().joined(separator: " ")
      let implementation = record["implementation"] as? String ?? "–"
      return "\(record["kind"] ?? "") \(record["name"] ?? "") → \(implementation) "
        + "\(record["priority"] ?? "") {\(attributes)}"
    }
  }

  /// Returns the fields of each line of CSV.
  static func rows(_ text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      var (fields, isQuoted) = ([""], false)
      for character in line {
        switch character {
        case "\"": isQuoted.toggle()
        case "," where !isQuoted: fields.append("")
        default: break
        }
        if character != "," || isQuoted { fields[fields.count - 1].append(character) }
      }
      return fields.map { field in
        guard field.hasPrefix("\"") else { return field }
        return String(field.dropFirst().dropLast()).replacing("\"\"", with: "\"")
      }
    }
  }
}

/// Compares the printed text with a golden file.
///
/// A missing golden is written, and the test fails once so that somebody looks at it. `RECORD_GOLDENS=1` writes all
/// goldens anew.
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
