import BinaryImage
import Registration
import Testing

@testable import section_dump

/// What each process tells anew, as somebody would find it who looks at each by itself.
@Suite("Entries that are loaded together")
struct ProcessesTests {
  /// Entries of one platform; the file of each is a library or the executable of that number.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// `lib module log`, `1 route /a(/b)`, `2 module net > log`.
    var entries: [String]
    /// `refused by other` of each process, by position.
    var refused: [[String]]
    /// The cycles of each process.
    var cycles: [[[Int]]]
  }

  static let rows = [
    Row(
      testDescription: "no executable",
      entries: ["lib module a > b", "lib module b > a", "lib module a"],
      refused: [["2 by 0"]], cycles: [[[0, 1]]]),
    Row(
      testDescription: "what the libraries refuse is told once",
      entries: ["lib module a", "lib module a", "1 module b", "2 module c"],
      refused: [["1 by 0"], []], cycles: [[], []]),
    Row(
      testDescription: "an executable before the libraries",
      entries: ["1 module a", "lib module a", "lib module a", "2 module b"],
      refused: [["1 by 0", "2 by 0"], ["2 by 1"]], cycles: [[], []]),
    Row(
      testDescription: "one between and one behind",
      entries: ["lib module a", "1 module a", "lib module b", "2 module b", "2 module a"],
      refused: [["1 by 0"], ["3 by 2", "4 by 0"]], cycles: [[], []]),
    Row(
      testDescription: "what is refused is in nobody's way",
      entries: ["1 route /a", "lib route /a(/b)", "lib route /a/b", "2 route /c"],
      refused: [["1 by 0"], ["2 by 1"]], cycles: [[], []]),
    Row(
      testDescription: "what is taken in after all is in the way",
      entries: [
        "1 route /a", "lib route /a(/b)", "lib route (/a)/b", "lib route /b", "2 route /c",
      ],
      refused: [["1 by 0", "3 by 2"], ["2 by 1"]], cycles: [[], []]),
    Row(
      testDescription: "a cycle through an executable",
      entries: ["lib module a > b", "1 module b > a", "2 module b", "3 module c > c"],
      refused: [[], [], []], cycles: [[[0, 1]], [], [[3]]]),
    Row(
      testDescription: "an executable that breaks a cycle of the libraries",
      entries: ["1 module b", "lib module a > b", "lib module b > a", "2 module c > a"],
      refused: [["2 by 0"], []], cycles: [[], [[1, 2]]]),
    Row(
      testDescription: "a cycle that is left of a broken one",
      entries: ["1 module b", "lib module a > b c", "lib module b > a", "lib module c > a b"],
      refused: [["2 by 0"]], cycles: [[[1, 3]]]),
  ]

  private static func declared(_ lines: [String]) -> [Survey.Declared] {
    lines.enumerated().map { index, line in
      let words = line.split(separator: " ").map(String.init)
      var entry = Survey.Declared(
        record: .blank, place: Place(path: words[0], section: "BeehiveRecords", index: index),
        platform: Survey.Platform(of: .blank), file: words[0] == "lib" ? .shared : .executable)
      entry.record.kind = words[1] == "module" ? .module : .route
      entry.record.name = words[2]
      entry.record.attributes.requires = Array(words.dropFirst(4))
      return entry
    }
  }

  @Test(arguments: rows)
  func tells(row: Row) throws {
    let processes = try #require(Processes.all(of: Self.declared(row.entries)).last)
    var (duplicates, order) = (Duplicates(in: processes), StartOrder(in: processes))
    var (refused, cycles): ([[String]], [[[Int]]]) = ([], [])
    order.exclude([])
    for own in processes.own {
      refused.append(duplicates.next(own).map { "\($0.entry) by \($0.other)" })
      cycles.append(order.cycles(with: own))
    }
    #expect(refused == row.refused)
    #expect(cycles == row.cycles)
  }

  /// Pairs that one process refuses, looked at by itself.
  private func refused(_ positions: [Int], _ entries: [Survey.Declared]) -> [[Int]] {
    var holders: [EntryIdentity: Int] = [:]
    var result: [[Int]] = []
    for position in positions {
      let all = EntryIdentity.all(of: entries[position].record)
      if let other = all.compactMap({ holders[$0] }).first {
        result.append([position, other])
      } else {
        for identity in all { holders[identity] = position }
      }
    }
    return result
  }

  @Test("tell what each process tells by itself, but once", arguments: 0..<300)
  func alone(seed: UInt64) throws {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    func pick<Choice>(_ choices: [Choice]) -> Choice {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return choices[Int(state >> 33) % choices.count]
    }
    let lines = (0..<pick([3, 8, 20])).map { _ in
      let file = pick(["lib", "lib", "1", "2", "3"])
      return pick([false, true])
        ? "\(file) module \(pick(["a", "b", "c"]))"
        : "\(file) route \(pick(["/a", "/a(/b)", "(/a)/b", "/a(/b(/c))", "/a/b/c", "(/a)(/b)"]))"
    }
    let entries = Self.declared(lines)
    let processes = try #require(Processes.all(of: entries).last)
    var duplicates = Duplicates(in: processes)
    var known: Set<[Int]> = []
    for own in processes.own {
      let expected = refused((processes.shared + own).sorted(), entries)
        .filter { known.insert($0).inserted }
      let told = duplicates.next(own).map { [$0.entry, $0.other] }
      // What was told before may be told again; who collects them keeps one.
      #expect(told.filter { expected.contains($0) || !known.contains($0) } == expected, "\(lines)")
    }
  }
}
