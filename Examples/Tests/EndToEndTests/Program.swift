import Foundation
import Testing

/// Hosts and libraries that were built next to the tests.
enum Program {
  /// Runs the Swift host, which is linked against libBeeHive.so and exports nothing.
  ///
  /// - Parameters:
  ///   - steps: The steps of the host, one after another.
  ///   - workshop: Its working directory.
  ///   - sanitizer: The sanitizer that it was built with.
  /// - Returns: The lines that it printed.
  /// - Throws: Its outcome if it crashed, hung or does not know a step.
  static func host(
    _ steps: String..., in workshop: Workshop? = nil, under sanitizer: Sanitizer? = nil
  ) throws -> [String] {
    try host(steps, in: workshop, under: sanitizer)
  }

  /// Runs the Swift host, with further variables in its environment.
  static func host(
    _ steps: [String], in workshop: Workshop? = nil, under sanitizer: Sanitizer? = nil,
    environment: [String: String] = [:]
  ) throws -> [String] {
    let outcome = try Command.run(
      (sanitizer?.products ?? Repository.products).appendingPathComponent("SwiftHost").path,
      steps, in: workshop?.folder.url,
      environment: (sanitizer?.environment ?? [:]).merging(environment) { $1 })
    guard outcome.status == 0 else { throw outcome }
    return outcome.lines
  }

  /// Runs the host in C that is linked against nothing.
  static func bareHost(_ steps: [String], in workshop: Workshop? = nil) throws -> [String] {
    let path = Repository.products.appendingPathComponent("BareHost").path
    let outcome = try Command.run(path, steps, in: workshop?.folder.url)
    guard outcome.status == 0 else { throw outcome }
    return outcome.lines
  }

  /// Returns the path of a library that was built next to the tests, or with a sanitizer.
  static func product(_ name: String, under sanitizer: Sanitizer? = nil) -> String {
    (sanitizer?.products ?? Repository.products).appendingPathComponent("lib\(name).so").path
  }
}

/// A sanitizer that the hosts were built with too.
enum Sanitizer: String, CaseIterable, CustomTestStringConvertible {
  case address
  case thread

  /// The folder of the scratch paths `address` and `thread`, if there is one.
  static let builds = ProcessInfo.processInfo.environment["BEEHIVE_SANITIZED_HOSTS"]
    .flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }

  /// The folder of its products.
  var products: URL {
    (Self.builds ?? Repository.root).appendingPathComponent("\(rawValue)/release")
      .resolvingSymlinksInPath()
  }

  /// The options that make a report end the program.
  var environment: [String: String] {
    switch self {
    // Freed memory stays mapped for a while, which is no growth of ours.
    case .address:
      [
        "ASAN_OPTIONS": "detect_leaks=1:halt_on_error=1:quarantine_size_mb=1",
        "LSAN_OPTIONS": "print_suppressions=0:suppressions="
          + Repository.place("Examples/Tests/Fixtures/live-not-leaked").path,
      ]
    case .thread: ["TSAN_OPTIONS": "halt_on_error=1"]
    }
  }

  var testDescription: String { "\(rawValue) sanitizer" }
}

extension Trait where Self == ConditionTrait {
  /// Skips the test unless hosts were built with sanitizers.
  static var needsSanitizedHosts: Self {
    .enabled(
      if: Sanitizer.builds != nil,
      "needs hosts built with sanitizers: Scripts/test --all builds them")
  }
}
