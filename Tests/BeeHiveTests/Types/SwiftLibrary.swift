import Foundation
import TestSupport
import Testing

/// A Swift library that a test compiles for itself, as small as its source.
///
/// It is never closed: an image that carries Swift stays for the life of the process.
struct SwiftLibrary: Sendable {
  let file: URL

  /// Compiles one file of Swift as module `module`.
  init(module: String, _ source: String, _ options: String...) throws {
    file = try Compiler.swift(
      source, module: module, as: "lib\(module).so", in: Folder().url, ["-Onone"] + options)
  }

  /// Loads the library like a plugin. Its folder goes at once, its mapping never.
  func load() throws {
    try OpenLibrary.keep(file.path)
    try FileManager.default.removeItem(at: file.deletingLastPathComponent())
  }
}
