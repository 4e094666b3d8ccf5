import Foundation
import TestSupport
import Testing

/// A process that loads libraries, and waits to be inspected. With the real libBeeHive.so it does more with them.
enum LiveHost {
  private static let program = Result {
    try Fixtures.build(
      Repository.fixture("Live/host.c"), as: "live-host", ["-O1", "-ldl"] + headers)
  }

  /// The folder of `ready.h`. With this header a program reports that it is ready, and waits.
  static let headers = ["-I", Repository.place("Tests/Fixtures/Live").path]

  /// Opens the real libBeeHive.so.
  static let hive = "hive=" + Repository.products.appendingPathComponent("libBeeHive.so").path

  /// Returns steps that open libraries of the fixtures. A repeated name opens again in a name space of its own.
  static func open(_ names: [String]) -> [String] {
    names.enumerated().map { index, name in
      "\(index > 0 && names[index - 1] == name ? "again" : "open")=./\(name)"
    }
  }

  static func path() throws -> String { Fixtures.place(try program.get()).path }

  /// Runs the host while `body` looks at it; `printed` are its lines before it was ready.
  static func run(
    _ steps: [String], _ body: (_ pid: Int32, _ printed: [String]) throws -> Void
  ) throws {
    try Command.whileRunning(path(), steps, in: Fixtures.directory, body)
  }
}
