import Foundation
import TestSupport
import Testing

@Suite("What a running process made of its entries", .serialized, .opensLibrary)
struct LiveStatesTests {
  /// Two libraries that declare the same entries. Everything in the second is a duplicate.
  private static let libraries = Result {
    try ["live-first.so", "live-second.so"].map { try Fixtures.annotatedLibrary($0) }
  }

  static func opened() throws -> [String] {
    try libraries.get().map { "open=./\($0)" }
  }

  /// The state of an entry, from `live` or from the Hive of the process itself.
  private struct State: Hashable, CustomStringConvertible {
    var place: String
    var state: String?
    var reason: String?
    var description: String { "\(place): \(state ?? "–") (\(reason ?? "–"))" }
  }

  /// Returns the states that `live` shows for the entries of a process.
  private func states(of pid: Int32) throws -> Set<State> {
    try states(Tool.live(pid).expect(0))
  }

  /// Returns the states in the output of a JSON run.
  private func states(_ outcome: Outcome) throws -> Set<State> {
    let files = try Tool.files(of: outcome)
    var states: Set<State> = []
    for file in files {
      let name = (file["path"] as? String ?? "").split(separator: "/").last ?? ""
      for record in try #require(file["records"] as? [[String: Any]]) {
        for key in ["state", "code", "reason"] { #expect(record[key] != nil) }
        #expect((record["reason"] is String) || !(record["code"] is String))
        states.insert(
          State(
            place: "\(name) \(record["section"] ?? "")[\(record["index"] ?? "")]",
            state: record["state"] as? String, reason: record["reason"] as? String))
      }
    }
    return states
  }

  /// Returns the number of entries in each state.
  private func tally(_ states: Set<State>) -> [String?: Int] {
    Dictionary(states.map { ($0.state, 1) }, uniquingKeysWith: +)
  }

  @Test("It is what the Hive itself reports: bound, accepted and rejected, with the same reasons")
  func sameAsReport() throws {
    try LiveHost.run([LiveHost.hive] + Self.opened() + ["entries"]) { pid, printed in
      let reported = printed.map { line in
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        return State(place: parts[0], state: parts[1], reason: parts[2].isEmpty ? nil : parts[2])
      }
      #expect(reported.count == 8)
      let states = try states(of: pid)
      #expect(states == Set(reported))
      #expect(tally(states) == ["bound": 2, "accepted": 2, "rejected": 4])
      let table = try Tool.run(["live", "--pid", "\(pid)"]).output
      #expect(table.contains("STATE     KIND"))
      #expect(
        table.contains("accepted ") && table.contains("bound ") && table.contains("rejected "))
      #expect(table.contains("already provides it"))
      let csv = try Tool.run(["live", "--pid", "\(pid)", "--format", "csv"]).output
      #expect(csv.contains(",accessor,state,code,reason\n"))
      #expect(csv.contains(",rejected,duplicate,"))
    }
  }

  @Test("Entries of types that were not asked for yet are accepted, and that is said")
  func unmade() throws {
    let steps = [LiveHost.hive, try Self.opened()[0], "service=Nobody"]
    let reasons = ["no start has come to it yet", "it was not asked for yet"]
    try LiveHost.run(steps) { pid, _ in
      let states = try states(of: pid)
      // C records lead to what makes them, so they are bound at once.
      #expect(tally(states) == ["accepted": 2, "bound": 2])
      #expect(Set(states.compactMap(\.reason)) == Set(reasons))
    }
    try LiveHost.run(steps + ["service=Shop.HomeService"]) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == ["accepted": 2, "bound": 2])
      #expect(!states.contains { $0.reason == reasons[1] })
    }
  }

  @Test("Without a Hive that is used there is no state", arguments: [[], [LiveHost.hive]])
  func none(steps: [String]) throws {
    try LiveHost.run(steps + [try Self.opened()[0]]) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == [nil: 4])
      let table = try Tool.run(["live", "--pid", "\(pid)"]).output
      #expect(!table.contains("STATE"))
    }
  }

  @Test("What was loaded since the Hive last looked has no state")
  func later() throws {
    let opened = try Self.opened()
    try LiveHost.run([LiveHost.hive, opened[0], "service=Nobody", opened[1]]) { pid, _ in
      let states = try states(of: pid)
      #expect(states.filter { $0.state == nil }.count == 4)
      #expect(states.filter { $0.state == nil }.allSatisfy { $0.place.hasPrefix("live-second") })
    }
  }

  @Test("What was removed is withdrawn; what its library's owner closed is still there")
  func withdrawn() throws {
    let opened = try Self.opened()
    let steps = [LiveHost.hive, opened[1], opened[0], "entries", "remove=Greeter"]
    try LiveHost.run(steps) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states)["withdrawn"] == 2)
    }
    try LiveHost.run([LiveHost.hive] + opened + ["entries", "close", opened[1], "entries"]) {
      pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == ["bound": 2, "accepted": 2, "rejected": 4])
    }
  }

  @Test(
    "What was removed says who still has something of it, until that is given back",
    arguments: [
      ([], "objects of its factory that were not given back: 1"), (["give=Session"], nil),
    ])
  func held(then steps: [String], expected: String?) throws {
    let library = try LiveModulesTests.library("session")
    let before = [LiveHost.hive, "open=./\(library)", "take=Session", "remove=Session"]
    try LiveHost.run(before + steps) { pid, printed in
      #expect(printed == ["taken"])
      let state = try #require(try states(of: pid).first)
      #expect(state.state == "withdrawn")
      #expect(
        state.reason.map { $0.hasSuffix(expected ?? "nothing") } == expected.map { _ in true })
    }
  }

  @Test("What is opened again and again has its cells once") func reuse() throws {
    try LiveHost.run([LiveHost.hive, "reopen=./\(try Self.libraries.get()[1])"]) { _, printed in
      let cells = printed.first.flatMap { Int($0.split(separator: " ")[0]) }
      #expect((1...8).contains(cells ?? 0), "\(printed)")
    }
  }

  /// A step that sets one word of the record, by its number, and the code of the problem.
  private static let damages = [
    ("word=1:2", "unsupported"), ("word=2:1", "unreadable"), ("word=0:8", "malformed"),
    ("word=4:0", "malformed"), ("word=4:31", "malformed"), ("word=4:4096", "malformed"),
    ("word=5:0xffffffff", "malformed"), ("word=5:0x30000", "truncated"),
    ("word=6:8", "truncated"), ("word=7:0xffffffff", "truncated"),
  ]

  @Test("A record that cannot be true is a problem, and the entries are shown", arguments: damages)
  func damaged(step: String, code: String) throws {
    try LiveHost.run([LiveHost.hive, try Self.opened()[0], "entries", step]) { pid, _ in
      let outcome = try Tool.live(pid).expect(2, output: "\"code\":\"\(code)\"")
      #expect(tally(try states(outcome)) == [nil: 4])
    }
  }

  @Test(
    "A record with noise in it is a problem or harmless",
    arguments: Effort.sample(8, of: Array(1...24)))
  func noise(seed: Int) throws {
    try LiveHost.run([LiveHost.hive] + Self.opened() + ["entries", "noise=\(seed)"]) { pid, _ in
      let outcome = try Tool.live(pid)
      #expect([0, 2].contains(outcome.status))
      _ = try Tool.object(outcome.output)
    }
  }

  @Test("A process that changes all the time is read at one of its moments, or that is said")
  func changing() throws {
    let opened = try Self.opened()
    let steps = [LiveHost.hive, opened[0], "entries", "churn=./live-second.so"]
    try LiveHost.run(steps) { pid, _ in
      for _ in 0..<10 {
        let outcome = try Tool.live(pid)
        #expect([0, 2].contains(outcome.status))
        let files = try Tool.files(of: outcome)
        let first = files.first { ($0["path"] as? String)?.hasSuffix("live-first.so") == true }
        let records = try #require(first?["records"] as? [[String: Any]])
        let words = records.compactMap { $0["state"] as? String }.sorted()
        #expect(
          words == ["accepted", "accepted", "bound", "bound"]
            || outcome.errors.contains("changed during each reading"), "\(words) \(outcome.errors)")
      }
    }
  }
}
