import Foundation
import TestSupport
import Testing

/// An installation of this checkout by `Scripts/install`, under a prefix that breaks careless scripts.
struct Installation {
  private static let made = Result { try Installation() }

  /// Returns the installation. Skips the running test if something needed to install is missing.
  static func needed() throws -> Installation {
    do { return try made.get() } catch let missing as Missing {
      try Test.cancel("\(missing.reason)")
    }
  }

  /// `PREFIX`.
  let prefix: URL
  /// The paths that the script reported as written.
  let said: [String]

  var tool: String { prefix.appendingPathComponent("bin/section-dump").path }

  private init() throws {
    prefix = try Folder().place("für alle/pre fix")
    let outcome = try Self.run(["--only", "tool", "--prefix", prefix.path])
    // The script names the missing programs and libraries.
    if outcome.status == 69 {
      throw Missing(reason: outcome.errors.trimmingCharacters(in: .newlines))
    }
    try outcome.check()
    said = outcome.lines.filter { $0.hasPrefix("/") }
  }

  static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
    try Command.run(
      Repository.place("Scripts/install").path, arguments, environment: environment, limit: 3600)
  }
}
