import Foundation
import PluginFiles
import TestSupport
import Testing

/// Contracts of two versions are mixed in every way, and each pair is loaded and called in a child.
@Suite("A plugin that was built against other contracts than it is loaded with", .needs("swiftc"))
struct ContractDriftTests {
  /// What a plugin was built with, and what it meets.
  struct Pair: CustomStringConvertible {
    var plugin: Build
    var library: Build
    var isStripped: Bool

    var description: String {
      let words = [
        "\(plugin.change) for \(library.change)",
        "plugin \(plugin.isResilient ? "with" : "without") evolution",
        "library \(library.isResilient ? "with" : "without")",
        plugin.isOptimised ? "optimised" : "", isStripped ? "stripped" : "",
      ]
      return words.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The words about it; nil if it fits.
    var verdict: String? {
      let (old, new) = (plugin.change.requirements, library.change.requirements)
      if plugin.isResilient {
        let missing = new.filter { !old.contains($0) && library.change != .defaulted }
        let isAnswered = old.allSatisfy(new.contains) && missing.isEmpty
        return library.isResilient && isAnswered ? nil : "drifted"
      }
      if isStripped { return "not visible" }
      return old.count == new.count ? "not visible" : "drifted"
    }
  }

  static func pairs(
    _ changes: [Change], resilience: [(Bool, Bool)], optimised: [Bool], stripped: [Bool]
  ) -> [Pair] {
    var pairs: [Pair] = []
    for change in changes {
      for (plugin, library) in resilience {
        for isOptimised in optimised {
          for isStripped in stripped {
            let old = Build(isResilient: plugin, isOptimised: isOptimised)
            let new = Build(change: change, isResilient: library, isOptimised: isOptimised)
            pairs.append(Pair(plugin: old, library: new, isStripped: isStripped))
            var (newer, older) = (old, new)
            (newer.change, older.change) = (change, .none)
            guard change != .none else { continue }
            pairs.append(Pair(plugin: newer, library: older, isStripped: isStripped))
          }
        }
      }
    }
    return pairs
  }

  private func check(_ pairs: [Pair]) throws {
    var builds = try ContractBuilds()
    for pair in pairs {
      let plugin = try builds.plugin(pair.plugin, isStripped: pair.isStripped)
      let drift = try builds.drift(of: plugin, with: pair.library)
      #expect(drift.allSatisfy { $0.contract == "Contracts.Codec" }, "\(pair)")
      #expect(drift.allSatisfy { $0.subject == .conformance(of: "Client.Rot") }, "\(pair)")
      #expect(drift.map(\.word) == (pair.verdict.map { [$0] } ?? []), "\(pair)")
      let outcome = try builds.answers(of: plugin, with: pair.library)
      let right = pair.library.change.calls.map(\.answer).joined(separator: " ")
      if drift.isEmpty {
        #expect(outcome.status == 0 && outcome.lines == [right], "\(pair): \(outcome)")
      }
      // What is the same works, whatever can be told of it.
      if pair.plugin == pair.library {
        #expect(outcome.lines == [right], "\(pair): \(outcome)")
      }
    }
  }

  @Test("is told by its file; what is said to fit answers as its host expects")
  func some() throws {
    try check(
      Self.pairs([.middle], resilience: [(false, false)], optimised: [false], stripped: [false])
        + Self.pairs(
          [.defaulted], resilience: [(true, true)], optimised: [false], stripped: [false, true]))
  }

  @Test("is refused where it has the contracts' sources in itself")
  func ownCopy() throws {
    var builds = try ContractBuilds()
    let copy = try builds.library(Build(change: .end))
    let drift = try builds.drift(of: copy, with: Build())
    #expect(drift.map(\.subject) == [.ownCopy])
    #expect(drift.map(\.word) == ["drifted"])
    #expect(
      drift.first?.message(against: "libContracts.so")
        == "the protocol Contracts.Codec of libContracts.so is in this file too: a copy of its own, which is another"
    )
    #expect(
      drift.first?.remedy
        == "link the contracts library, in place of compiling its sources into the plugin")
  }

  @Test("in every direction, with and without evolution, optimised and stripped or not", .full)
  func all() throws {
    let both = [false, true]
    try check(
      Self.pairs(
        Change.allCases, resilience: both.flatMap { plugin in both.map { (plugin, $0) } },
        optimised: both, stripped: both))
  }
}

extension ContractDrift {
  /// The verdict without its reasons.
  var word: String { expected == nil ? "not visible" : "drifted" }
  /// The expected contract, and the one that is there.
  var verdict: [String?] { [expected, found] }
}
