import Foundation
import TestSupport
import Testing

/// A removed behaviour, and the test named for it: an entry of Tests/mutations.
struct Mutation: Sendable, CustomTestStringConvertible {
  /// The line where the entry ends in the list.
  var line: Int
  /// The suite and the function of the test. Tests of another package have the target in front.
  var test: String
  /// The file, the text that is in it once, and its replacement.
  var file: String
  var old: String
  var new: String

  var testDescription: String { "\(test) (line \(line))" }

  /// The package of the test.
  var package: MutatedCopy.Package {
    .allCases.first { $0.tests.map { test.hasPrefix("\($0).") } == true } ?? .library
  }

  /// The name of the test's suite.
  var suite: Substring { test.split(separator: "/").first?.split(separator: ".").last ?? "" }

  /// The name of the test's function.
  var function: Substring { test.split(separator: "/").last ?? "" }

  /// Returns the text of the file with the mutation; nil unless the old text is in the file exactly once.
  func applied(to text: String) -> String? {
    let parts = text.components(separatedBy: old)
    return parts.count == 2 ? parts.joined(separator: new) : nil
  }

  /// All mutations, in the order of the list.
  static let all: [Mutation] = {
    var mutations: [Mutation] = []
    var test = ""
    var file = ""
    var old = ""
    let text = (try? Repository.text("Tests/mutations")) ?? ""
    for (number, line) in text.components(separatedBy: "\n").enumerated() {
      if line.isEmpty || line.hasPrefix("#") {
        continue
      } else if line.hasPrefix("  - ") {
        old = String(line.dropFirst(4))
      } else if line.hasPrefix("  + ") {
        let new = String(line.dropFirst(4))
        mutations.append(Mutation(line: number + 1, test: test, file: file, old: old, new: new))
      } else if line.hasPrefix("  ") {
        file = String(line.dropFirst(2))
      } else {
        test = line
      }
    }
    return mutations
  }()
}

/// The list of mutations, which goes out of date when the sources change.
@Suite("Each entry of Tests/mutations")
struct MutationListTests {
  @Test("is read")
  func read() {
    #expect(Mutation.all.count >= 62)
  }

  @Test("names a file, and text that is in it exactly once", arguments: Mutation.all)
  func file(mutation: Mutation) throws {
    let text = try Repository.text(mutation.file)
    #expect(mutation.applied(to: text) != nil, "\(mutation.file): \(mutation.old)")
    #expect(mutation.old != mutation.new)
  }

  @Test("names a test that there is", arguments: Mutation.all)
  func test(mutation: Mutation) throws {
    let files = try Texts.functions.get()["\(mutation.suite).\(mutation.function)", default: []]
    #expect(!files.isEmpty, "\(mutation.test)")
    for package in MutatedCopy.Package.allCases {
      guard let target = package.tests else { continue }
      let isInIt = files.contains { $0.contains("\(target)/") }
      #expect(isInIt == (mutation.package == package), "\(files)")
    }
  }
}
