import Foundation
import TestSupport
import Testing

/// A package of extension modules that others built, as Tests/Oracles/wheels.txt pins it.
struct Wheel: Sendable, CustomTestStringConvertible {
  var name: String
  var version: String
  var platform: String
  var hash: String

  var testDescription: String { "\(name) \(version) \(platform)" }

  private static let all: [Wheel] = {
    let text = (try? Repository.text("Tests/Oracles/wheels.txt")) ?? ""
    return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
      let words = line.split(separator: " ").map(String.init) + ["", "", "", ""]
      return Wheel(name: words[0], version: words[1], platform: words[2], hash: words[3])
    }
  }()

  /// The packages for Linux, and those for macOS.
  static let elf = all.filter { $0.platform.contains("linux") }
  static let machO = all.filter { $0.platform.hasPrefix("macosx") }

  /// Returns the paths of the libraries in the package, and fetches it first if necessary. Skips the running case if it
  /// cannot be fetched.
  func libraries(_ python: Python) throws -> [String] {
    let files = FileManager.default
    let folder = try Scratch.folder("oracles/wheels")
      .appendingPathComponent("\(name)-\(version)-\(platform)-\(hash.prefix(8))")
    if !files.fileExists(atPath: folder.path) {
      // An incomplete download must not count.
      let part = try Scratch.folder("oracles/wheels/\(UUID().uuidString)")
      defer { try? files.removeItem(at: part) }
      let requirement = part.appendingPathComponent("requirement")
      try "\(name)==\(version) --hash=sha256:\(hash)\n"
        .write(to: requirement, atomically: true, encoding: .utf8)
      do {
        try python.pip(
          [
            "download", "--no-deps", "--only-binary=:all:", "--require-hashes",
            "--python-version", "3.12", "--platform", platform,
            "-d", part.path, "-r", requirement.path,
          ], for: testDescription)
      } catch let missing as Missing { try Test.cancel("\(missing.reason)") }
      let wheels = try files.contentsOfDirectory(atPath: part.path).filter { $0.hasSuffix(".whl") }
      let contents = part.appendingPathComponent("contents")
      try python.run(
        ["-m", "zipfile", "-e", part.appendingPathComponent(wheels.joined()).path, contents.path])
      try files.moveItem(at: contents, to: folder)
    }
    let names = files.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.contains(/\.so$|\.so\.|\.dylib$/) }.sorted()
      .map { folder.appendingPathComponent($0).path }
  }
}
