import Foundation
import TestSupport
import Testing

/// What a test cannot have here, in words that Scripts/allowed-skips knows.
struct Missing: Error {
  var reason: String
}

/// Python with LIEF, pyelftools and a validator of schemas, in an environment of its own that is kept between runs.
struct Python {
  /// The readers, at versions that say the same tomorrow.
  private static let readers = ["lief==1.0.0", "pyelftools==0.33", "check-jsonschema==0.39.0"]

  private static let made = Result { try Python() }

  /// The environment. Skips the running test, or its running case, where it cannot be made.
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

  /// Runs one of the scripts in Tests/Oracles; answers its words about each file.
  func reports(_ script: String, _ arguments: [String]) throws -> [OracleReport] {
    try OracleReport.all(by: program, script, arguments)
  }

  /// Runs Python, which must succeed; a read-only checkout gets no compiled scripts.
  @discardableResult
  func run(_ arguments: [String]) throws -> String {
    try Command.output(
      program, arguments, environment: ["PYTHONDONTWRITEBYTECODE": "1"], limit: 3600)
  }

  /// Has pip fetch something. That there is no network is no failure, but that what was fetched has
  /// another hash is one.
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

/// What one of the scripts says of a file.
struct OracleReport: Decodable {
  var path: String
  /// The slots that were compared, by what the oracle says is done to them.
  var kinds: [String: Int]
  /// How many of them differ, and the first of these.
  var wrong: Int
  var failures: [String]
  /// Why the oracle cannot read the file.
  var unreadable: String?

  /// Runs one of the scripts in Tests/Oracles by a program of Python; a read-only checkout gets no compiled scripts.
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

  /// Its name, without folders.
  var name: String { (path as NSString).lastPathComponent }
}

/// Expects that an oracle has read all files but those of `unreadable`, and agrees on every slot.
///
/// Why it cannot read one of these, by its path or its name, is said, and must still be so.
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
