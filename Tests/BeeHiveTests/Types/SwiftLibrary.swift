import Foundation
import Glibc
import Testing

/// A Swift library that a test compiles for itself, as small as its source.
///
/// Never closed: an image that carries Swift stays for the life of the process.
struct SwiftLibrary: Sendable {
  let file: URL

  /// Compiles one file of Swift as module `module`.
  init(module: String, _ source: String, _ options: String...) throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "beehive-\(module)-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let input = folder.appending(path: "\(module).swift")
    try source.write(to: input, atomically: true, encoding: .utf8)
    file = folder.appending(path: "lib\(module).so")

    let compiler = Process()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      ["swiftc", "-parse-as-library", "-emit-library", "-Onone", "-module-name", module]
      + options + ["-o", file.path(), input.path()]
    let output = Pipe()
    compiler.standardError = output
    try compiler.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw Failure(text: text) }
  }

  /// Loads the library, as a plugin is loaded; its folder goes at once, its mapping never.
  func load() throws {
    guard unsafe dlopen(file.path(), RTLD_NOW | RTLD_LOCAL) != nil else {
      throw Failure(text: unsafe dlerror().map { unsafe String(cString: $0) } ?? "dlopen failed")
    }
    try FileManager.default.removeItem(at: file.deletingLastPathComponent())
  }

  /// What the compiler or the loader said.
  struct Failure: Error { let text: String }
}
