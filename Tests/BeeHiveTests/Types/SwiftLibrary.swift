import Foundation
import Glibc
import TestSupport
import Testing

/// A Swift library that a test compiles for itself, as small as its source.
///
/// Never closed: an image that carries Swift stays for the life of the process.
struct SwiftLibrary: Sendable {
  let file: URL

  /// Compiles one file of Swift as module `module`.
  init(module: String, _ source: String, _ options: String...) throws {
    let folder = try Folder()
    let input = try folder.write(source, as: "\(module).swift")
    file = folder.place("lib\(module).so")
    try Command.output(
      "swiftc",
      ["-parse-as-library", "-emit-library", "-Onone", "-module-name", module]
        + options + ["-o", file.path, input.path])
  }

  /// Loads the library, as a plugin is loaded; its folder goes at once, its mapping never.
  func load() throws {
    guard unsafe dlopen(file.path, RTLD_NOW | RTLD_LOCAL) != nil else {
      throw Failure(text: unsafe dlerror().map { unsafe String(cString: $0) } ?? "dlopen failed")
    }
    try FileManager.default.removeItem(at: file.deletingLastPathComponent())
  }

  /// What the loader said.
  struct Failure: Error { let text: String }
}
