import TestSupport
import Testing

@Suite("Docs/routing.md names a test in each row")
struct RoutingTableTests {
  /// The test that a row names in its last cell.
  static func test(of row: Substring) -> (suite: String, function: String)? {
    guard let match = row.firstMatch(of: /\| `([A-Za-z]+)\.([A-Za-z]+)` \|$/) else { return nil }
    return (String(match.output.1), String(match.output.2))
  }

  static func rows() throws -> [Substring] {
    Markdown(text: try Repository.text("Docs/routing.md")).rows
  }

  @Test("no row is without one")
  func rowsWithoutTest() throws {
    let others = try Self.rows().filter { row in
      Self.test(of: row) == nil && !row.hasPrefix("|---|") && !row.hasSuffix("| test |")
    }
    #expect(others == [])
  }

  @Test("each test is there")
  func tests() throws {
    // Functions by the suites that share their file.
    var functions: [String: Set<String>] = [:]
    for words in try Texts.ofTests().map(\.words) {
      let pairs = zip(words, words.dropFirst())
      let names = pairs.filter { $0.0 == "func" }.map(\.1)
      for (_, suite) in pairs.filter({ $0.0 == "struct" }) {
        functions[suite, default: []].formUnion(names)
      }
    }
    let tests = try Self.rows().compactMap(Self.test)
    #expect(!tests.isEmpty)
    let missing = tests.filter { functions[$0.suite]?.contains($0.function) != true }
    #expect(missing.map { "\($0.suite).\($0.function)" } == [])
  }
}
