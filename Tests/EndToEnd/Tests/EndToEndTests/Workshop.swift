import Foundation

/// A folder in which one test builds its libraries; all of them go when the tests end.
struct Workshop: Sendable {
  /// The folder.
  let folder: URL

  /// Why a fixture could not be built.
  struct Failure: Error, CustomStringConvertible { let description: String }

  init() throws {
    folder = Self.root.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private static let root: URL = {
    let root = FileManager.default.temporaryDirectory.appending(path: "end-to-end-\(UUID())")
    atexit { try? FileManager.default.removeItem(at: Workshop.root) }
    return root
  }()

  /// Builds a shared library of C as an author would, and answers its path.
  ///
  /// `options` come after the source, so that libraries are found by whoever needs them.
  @discardableResult
  func library(_ name: String, _ text: String, _ options: String...) throws -> String {
    try library(name, from: [source(name, text)], options)
  }

  /// Builds a shared library from several files, in their order.
  @discardableResult
  func library(_ name: String, from files: [String], _ options: [String] = []) throws -> String {
    let output = folder.appending(path: "lib\(name).so").path()
    try run(
      "gcc", "-std=c11", "-shared", "-fPIC", "-g0", "-Wl,--build-id", "-Wl,--gc-sections",
      "-o", output, arguments: Self.headers + files + options)
    return output
  }

  /// Compiles a file of C.
  func compile(_ source: String, as object: String) throws {
    try run("gcc", "-std=c11", "-c", "-fPIC", "-o", object, source, arguments: Self.headers)
  }

  private static let headers = [
    "CSupport/CBeeHive/include", "Tests/EndToEnd/Contract/Sources/CContract/include",
  ].map { "-I" + package.appending(path: $0).path() }

  /// Writes a file of C and answers its path.
  func source(_ name: String, _ text: String) throws -> String {
    let file = folder.appending(path: "\(name).c")
    try text.write(to: file, atomically: true, encoding: .utf8)
    return file.path()
  }

  /// Runs a tool in the folder; throws what it says if it fails.
  func run(_ tool: String, _ words: String..., arguments: [String] = []) throws {
    _ = try output([tool] + words + arguments)
  }

  /// What a tool prints that is run in the folder.
  func output(_ words: String...) throws -> String { try output(words) }

  private func output(_ words: [String]) throws -> String {
    let outcome = try Program.run(URL(filePath: "/usr/bin/env"), words, in: folder)
    let text = outcome.lines.joined(separator: "\n")
    guard outcome.status == 0 else {
      throw Failure(description: "\(words.joined(separator: " ")): \(text)\(outcome.errors)")
    }
    return text
  }

  /// The repository.
  static let package = (0..<5).reduce(URL(filePath: #filePath)) { path, _ in
    path.deletingLastPathComponent()
  }
}

/// Fixtures that many tests use.
enum Source {
  /// A library whose one service is a table, and says `words`.
  static func speaker(
    _ service: String = "Speaker", says words: String = "hello", _ attributes: String = "\"\""
  ) -> String {
    """
    #include <BeeHive.h>
    #include "contract.h"
    static const char *say(void) { return "\(words)"; }
    static const struct speaker speaker = { say };
    BEEHIVE_SERVICE(\(service), Table, &speaker, \(attributes));
    """
  }
}
