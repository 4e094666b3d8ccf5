import Foundation
import TestSupport
import Testing

/// What `Scripts/install` made of this checkout, under a prefix that not every script can stand.
struct Installation {
  private static let made = Result { try Installation() }

  /// The installation. Skips the running test where something to install with is missing.
  static func needed() throws -> Installation {
    do { return try made.get() } catch let missing as Missing {
      try Test.cancel("\(missing.reason)")
    }
  }

  /// `PREFIX`.
  let prefix: URL
  /// The paths that the script said it had written.
  let said: [String]

  /// `section-dump`.
  var tool: String { prefix.appendingPathComponent("bin/section-dump").path }

  private init() throws {
    prefix = try Folder().place("für alle/pre fix")
    let outcome = try Self.run(["--only", "tool", "--prefix", prefix.path])
    // Missing programs and libraries, which the script names.
    if outcome.status == 69 {
      throw Missing(reason: outcome.errors.trimmingCharacters(in: .newlines))
    }
    try outcome.check()
    said = outcome.lines.filter { $0.hasPrefix("/") }
  }

  /// Runs the script.
  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    try Command.run(
      Repository.place("Scripts/install").path, arguments, environment: environment, limit: 3600)
  }
}
