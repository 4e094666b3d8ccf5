import BinaryImage
import Registration
import Testing

@testable import section_dump

/// The conflicts of all processes, as found by looking at each process separately.
@Suite("Entries that are loaded together")
struct ContradictionsTests {
  /// Entries of one platform, each with its file, `lib` or an executable's number: `lib module log`,
  /// `1 route /a(/b)`, `2 module net > log`. Then the refusals, as `refused by other`, and the cycles, by position.
  static let rows: [(entries: [String], refused: [String], cycles: [[Int]])] = [
    // No executable.
    (["lib module a > b", "lib module b > a", "lib module a"], ["2 by 0"], [[0, 1]]),
    // Objects: no process loads them.
    (
      ["object module a", "lib module a", "object module a", "1 module a"], ["2 by 0", "3 by 1"],
      []
    ),
    // A cycle through an executable.
    (["lib module a > b", "1 module b > a", "2 module b", "3 module c > c"], [], [[0, 1], [3]]),
    // An executable that breaks a cycle of the libraries.
    (
      ["1 module b", "lib module a > b", "lib module b > a", "2 module c > a"], ["2 by 0"],
      [[1, 2]]
    ),
    // A cycle that remains after another one is broken.
    (
      ["1 module b", "lib module a > b c", "lib module b > a", "lib module c > a b"], ["2 by 0"],
      [[1, 3]]
    ),
  ]

  private static func declared(_ lines: [String]) -> [FileSet.Declared] {
    let kinds: [String: ImageIdentity.Kind] = ["lib": .shared, "object": .object]
    return lines.enumerated().map { index, line in
      let words = line.split(separator: " ").map(String.init)
      var entry = FileSet.Declared(
        record: .blank, place: Place(path: words[0], section: "BeehiveRecords", index: index),
        platform: .blank, file: kinds[words[0]] ?? .executable)
      entry.record.kind = words[1] == "module" ? .module : .route
      entry.record.name = words[2]
      entry.record.attributes.requires = Array(words.dropFirst(4))
      return entry
    }
  }

  /// Returns the duplicates among some entries, as `refused by other`.
  private static func refused(_ entries: [FileSet.Declared]) -> [String] {
    Contradictions(among: entries).findings.filter { $0.code.hasPrefix("duplicate-") }
      .map { "\($0.place.index ?? -1) by \($0.others.first?.index ?? -1)" }
  }

  @Test("are refused, or wait for each other, where a process has them", arguments: rows)
  func tells(lines: [String], refused: [String], cycles: [[Int]]) throws {
    let entries = Self.declared(lines)
    #expect(Self.refused(entries) == refused)
    #expect(Contradictions(among: entries).cycles.map { $0.map { $0.place.index ?? -1 } } == cycles)
  }

  /// Returns the pairs that one process refuses, looked at separately.
  private func refused(_ positions: [Int], _ entries: [FileSet.Declared]) -> [String] {
    var holders: [EntryIdentity: Int] = [:]
    var result: [String] = []
    for position in positions {
      let all = EntryIdentity.all(of: entries[position].record)
      if let other = all.compactMap({ holders[$0] }).first {
        result.append("\(position) by \(other)")
      } else {
        for identity in all { holders[identity] = position }
      }
    }
    return result
  }

  @Test("are refused as each process by itself refuses them, and told once", arguments: 0..<300)
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
    let executables = Set(entries.map(\.place.path)).subtracting(["lib"])
    let processes = (executables.isEmpty ? [""] : executables).map { executable in
      entries.indices.filter { ["lib", executable].contains(entries[$0].place.path) }
    }
    let expected = Set(processes.flatMap { refused($0, entries) })
    #expect(Self.refused(entries).sorted() == expected.sorted(), "\(lines)")
  }
}
