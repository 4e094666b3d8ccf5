import Foundation
import Testing

/// What a program printed and how it ended.
struct Outcome: Error {
  /// Standard output.
  var lines: [String]
  /// Standard error.
  var errors: String
  /// The exit status; the number of the signal, negative, where one ended it.
  var status: Int32
}

/// Programs that were built beside the tests.
enum Program {
  /// What the Swift host prints, which is linked against libBeeHive.so and exports nothing.
  ///
  /// Throws where it crashes, hangs or is told what it does not know.
  static func host(
    _ steps: String..., in workshop: Workshop? = nil, under sanitizer: Sanitizer? = nil
  ) throws -> [String] {
    try host(steps, in: workshop, under: sanitizer)
  }

  /// What the Swift host prints.
  static func host(
    _ steps: [String], in workshop: Workshop? = nil, under sanitizer: Sanitizer? = nil
  ) throws -> [String] {
    let products = sanitizer?.products ?? products
    return try answer(
      of: run(
        products.appending(path: "SwiftHost"), steps, in: workshop?.folder,
        environment: sanitizer?.environment ?? [:]))
  }

  /// What the C host prints, which is linked against nothing.
  static func cHost(_ steps: [String], in workshop: Workshop? = nil) throws -> [String] {
    try answer(of: run(products.appending(path: "CHost"), steps, in: workshop?.folder))
  }

  private static func answer(of outcome: Outcome) throws -> [String] {
    guard outcome.status == 0 else { throw outcome }
    return outcome.lines
  }

  /// A library that was built beside the tests, or with a sanitizer.
  static func product(_ name: String, under sanitizer: Sanitizer? = nil) -> String {
    (sanitizer?.products ?? products).appending(path: "lib\(name).so").path()
  }

  /// The tool that reads files without loading them.
  static let sectionDump = products.appending(path: "section-dump").path()

  /// Where the products are: where this program is.
  static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// Runs a program to its end.
  static func run(
    _ program: URL, _ arguments: [String], in folder: URL?, environment: [String: String] = [:]
  ) throws -> Outcome {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    // Files, since a full pipe would stop a program that nobody reads from.
    let output = FileManager.default.temporaryDirectory.appending(path: "end-to-end-\(UUID())")
    let errors = output.appendingPathExtension("errors")
    defer { for file in [output, errors] { try? FileManager.default.removeItem(at: file) } }
    for file in [output, errors] { try Data().write(to: file) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    let status = process.terminationStatus
    return Outcome(
      lines: try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(
        String.init),
      errors: try String(contentsOf: errors, encoding: .utf8),
      status: process.terminationReason == .exit ? status : -status)
  }
}

/// A build of the hosts with a sanitizer: `Scripts/end-to-end` makes them.
enum Sanitizer: String, CaseIterable, CustomTestStringConvertible {
  case address
  case thread

  /// Where its products are: the same folders under another scratch path.
  var products: URL {
    let parts = Program.products.pathComponents.map { $0 == "plain" ? rawValue : $0 }
    return URL(filePath: parts.joined(separator: "/").replacing("//", with: "/"))
  }

  /// What makes a report end the program.
  var environment: [String: String] {
    switch self {
    // What was freed stays mapped for a while, which is no growth of ours.
    case .address: ["ASAN_OPTIONS": "detect_leaks=1:halt_on_error=1:quarantine_size_mb=1"]
    case .thread: ["TSAN_OPTIONS": "halt_on_error=1"]
    }
  }

  var testDescription: String { "\(rawValue) sanitizer" }

  /// Whether Scripts/end-to-end has built the hosts with both, and not been told to be quick.
  static var areBuilt: Bool {
    let without = ProcessInfo.processInfo.environment["WITHOUT_SANITIZERS"] ?? ""
    return without.isEmpty
      && allCases.allSatisfy {
        FileManager.default.isExecutableFile(
          atPath: $0.products.appending(path: "SwiftHost").path())
      }
  }
}
