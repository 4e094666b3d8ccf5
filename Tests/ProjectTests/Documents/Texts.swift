import Foundation
import TestSupport

/// Texts of the checkout, found by walking its folders because a tarball has no index of them.
enum Texts {
  /// Returns the texts of all files below some folders whose names have this ending.
  static func below(_ folders: String..., ending: String = ".swift") throws -> [String] {
    try folders.flatMap { try paths(below: $0) }.filter { $0.hasSuffix(ending) }
      .map(Repository.text)
  }

  /// The sources of all tests, including the examples' tests, by their paths.
  static let ofTests = Result {
    let examples = try paths(below: "Examples").filter { $0.contains("/Tests/") }
    let tests = (try paths(below: "Tests") + examples).filter { $0.hasSuffix(".swift") }
    return try Dictionary(uniqueKeysWithValues: tests.map { ($0, try Repository.text($0)) })
  }

  /// The functions of each suite, as `Suite.function`, and the files with both.
  static let functions = Result {
    var functions: [String: Set<String>] = [:]
    for (path, words) in try ofTests.get().mapValues(\.words) {
      let pairs = Array(zip(words, words.dropFirst()))
      let types = ["struct", "class", "enum", "actor", "extension"]
      for (type, suite) in pairs where types.contains(type) {
        for (word, function) in pairs where word == "func" {
          functions["\(suite).\(function)", default: []].insert(path)
        }
      }
    }
    return functions
  }

  /// Returns the files below a folder, without symbolic links and hidden folders such as `.build`.
  private static func paths(below folder: String) throws -> [String] {
    let manager = FileManager.default
    let names = try manager.contentsOfDirectory(atPath: Repository.place(folder).path)
    return try names.filter { !$0.hasPrefix(".") }.sorted().flatMap { name in
      let path = "\(folder)/\(name)"
      let attributes = try manager.attributesOfItem(atPath: Repository.place(path).path)
      switch attributes[.type] as? FileAttributeType {
      case .typeDirectory: return try paths(below: path)
      case .typeRegular: return [path]
      default: return []
      }
    }
  }
}

extension StringProtocol {
  /// The identifiers and keywords of the text, in order.
  var words: [String] {
    utf8.split { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        false
      default: true
      }
    }
    .map { String(decoding: $0.drop { $0 <= UInt8(ascii: "9") }, as: UTF8.self) }
    .filter { !$0.isEmpty }
  }

  var lines: [Substring] { Substring(self).split(separator: "\n") }
}
