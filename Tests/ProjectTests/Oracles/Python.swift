import Foundation
import TestSupport
import Testing

/// Something that a test cannot have here. The reason is in the words of Scripts/allowed-skips.
struct Missing: Error {
  var reason: String
}

/// Python with LIEF, pyelftools and a validator of schemas, in an environment of its own that is kept between runs.
struct Python {
  /// The readers, at fixed versions.
  private static let readers = ["lief==1.0.0", "pyelftools==0.33", "check-jsonschema==0.39.0"]

  private static let made = Result { try Python() }

  /// Returns the environment. Skips the running test, or its running case, if it cannot be made.
  static func needed() throws -> Python {
    do { return try made.get() } catch let missing as Missing {
      try Test.cancel("\(missing.reason)")
    }
  }

  private let folder: URL

  private init() throws {
    folder = try Scratch.folder("oracles").appendingPathComponent("python")
    let done = folder.appendingPathComponent("installed").path
    let readers = Self.readers.joined(separator: " ")
    if (try? String(contentsOfFile: done, encoding: .utf8)) == readers { return }
    let made = try Command.run("python3", ["-m", "venv", "--clear", folder.path])
    guard made.status == 0 else { throw Missing(reason: "python3-venv is not installed") }
    try pip(["install"] + Self.readers, for: readers)
    try readers.write(toFile: done, atomically: true, encoding: .utf8)
  }

  private var program: String { folder.appendingPathComponent("bin/python").path }

  /// Runs one of the scripts in Tests/Oracles; returns its report on each file.
  func reports(_ script: String, _ arguments: [String]) throws -> [OracleReport] {
    try OracleReport.all(by: program, script, arguments)
  }

  /// Runs Python, which must succeed. A read-only checkout gets no compiled scripts.
  @discardableResult
  func run(_ arguments: [String]) throws -> String {
    try Command.output(
      program, arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1"], limit: 3600)
  }

  /// Makes pip fetch something. A missing network is not a failure, but a wrong hash of the download is.
  func pip(_ arguments: [String], for name: String) throws {
    let fixed = ["-m", "pip", "--quiet", "--retries", "2", "--disable-pip-version-check"]
    do { try run(fixed + arguments) } catch let outcome as Outcome {
      let lines = outcome.errors.split(separator: "\n")
      guard !outcome.errors.contains("DO NOT MATCH THE HASHES") else { throw outcome }
      let reason = lines.first { $0.hasPrefix("ERROR") } ?? lines.last ?? "it says nothing"
      throw Missing(reason: "pip cannot fetch \(name): \(reason)")
    }
  }
}

/// The report of a script on a file.
struct OracleReport: Decodable {
  var path: String
  /// The number of compared slots, by the kind that the oracle reports.
  var kinds: [String: Int]
  /// The number of slots that differ, and the first of them.
  var wrong: Int
  var failures: [String]
  /// The reason why the oracle cannot read the file.
  var unreadable: String?

  /// Runs one of the scripts in Tests/Oracles with a Python program. A read-only checkout gets no compiled scripts.
  static func all(
    by python: String, _ script: String, _ arguments: [String]
  ) throws -> [OracleReport] {
    let output = try Command.output(
      python, ["-W", "ignore", Repository.place("Tests/Oracles/\(script)").path] + arguments,
      environment: ["PYTHONDONTWRITEBYTECODE": "1"], limit: 3600)
    return try output.split(separator: "\n").map {
      try JSONDecoder().decode(OracleReport.self, from: Data($0.utf8))
    }
  }

  /// The name of the file, without folders.
  var name: String { (path as NSString).lastPathComponent }
}

/// Expects that an oracle has read all files except those of `unreadable`, and agrees on every slot.
///
/// `unreadable` has the reason for each such file, by its path or its name. The oracle must still report that reason.
func expectAgreement(
  _ reports: [OracleReport], _ oracle: String, of sample: String,
  unreadable: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
) {
  for report in reports {
    let failures = report.failures.joined(separator: "\n")
    #expect(report.wrong == 0, "\(failures)", sourceLocation: sourceLocation)
    #expect(
      report.unreadable == unreadable[report.path] ?? unreadable[report.name], "\(report.name)",
      sourceLocation: sourceLocation)
    if let reason = report.unreadable {
      print("\(oracle) cannot read \(report.name): \(reason)")
    }
  }
  let kinds = reports.reduce(into: [:]) { $0.merge($1.kinds, uniquingKeysWith: +) }
  let slots = kinds.values.reduce(0, +)
  let read = reports.filter { $0.unreadable == nil }
  #expect(slots > 0 || read.isEmpty, "\(sample) has no slots", sourceLocation: sourceLocation)
  let parts = kinds.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
  print(
    "\(oracle): \(slots) slots of \(read.count) files of \(sample)"
      + " (\(parts.joined(separator: ", ")))")
}
