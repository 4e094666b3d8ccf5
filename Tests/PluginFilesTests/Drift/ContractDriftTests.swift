import Foundation
import PluginFiles
import SwiftContracts
import TestSupport
import Testing

/// Contracts of two versions are mixed in every way. Each pair is loaded and called in a child.
@Suite("A plugin that was built against other contracts than it is loaded with", .needs("swiftc"))
struct ContractDriftTests {
  /// The build of a plugin, and the build of the library that it meets.
  struct Pair: CustomStringConvertible {
    var plugin: Build
    var library: Build
    var isStripped: Bool

    var description: String {
      let words = [
        "\(plugin.change) for \(library.change)",
        "plugin \(plugin.isResilient ? "with" : "without") evolution",
        "library \(library.isResilient ? "with" : "without")",
        plugin.isClass ? "class" : "", plugin.isOptimised ? "optimised" : "",
        isStripped ? "stripped" : "",
      ]
      return words.filter { !$0.isEmpty }.joined(separator: ", ")
    }

    /// The expected verdict; nil if the plugin fits.
    var verdict: String? {
      let (old, new) = (plugin.change.methods, library.change.methods)
      if plugin.isClass {
        if plugin.isResilient { return nil }
        let changes = [plugin.change, library.change]
        let hasMore = old.count != new.count || changes.contains(.property)
        return hasMore || changes.contains(.wider) && !isStripped ? "drifted" : "not visible"
      }
      if plugin.isResilient {
        let missing = new.filter { !old.contains($0) && library.change != .defaulted }
        let isAnswered = old.allSatisfy(new.contains) && missing.isEmpty
        return library.isResilient && isAnswered ? nil : "drifted"
      }
      if isStripped { return "not visible" }
      return old.count == new.count ? "not visible" : "drifted"
    }

    /// The lines that the host is to print if the plugin is loaded.
    var answers: [String] {
      guard plugin.isClass else { return [library.change.methods.map(\.answer).line] }
      let inherited = library.change.methods.map {
        plugin.change.methods.contains($0) ? $0.answer : "base"
      }
      return Array(repeating: (inherited + ["7"]).line, count: 2)
    }
  }

  static func pairs(
    _ changes: [Change], isClass: Bool = false, resilience: [(Bool, Bool)], optimised: [Bool],
    stripped: [Bool]
  ) -> [Pair] {
    var pairs: [Pair] = []
    for change in changes {
      for (plugin, library) in resilience {
        for isOptimised in optimised {
          for isStripped in stripped {
            let old = Build(isClass: isClass, isResilient: plugin, isOptimised: isOptimised)
            let new = Build(
              change: change, isClass: isClass, isResilient: library, isOptimised: isOptimised)
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
      let subjects: [ContractDrift.Subject] =
        pair.plugin.isClass
        ? [.subclass("Client.Rot"), .subclass("Client.Own")] : [.conformance(of: "Client.Rot")]
      #expect(drift.map(\.subject) == (pair.verdict == nil ? [] : subjects), "\(pair)")
      #expect(drift.allSatisfy { $0.word == pair.verdict }, "\(pair): \(drift)")
      // An equal pair works, whatever the verdict is.
      guard drift.isEmpty || pair.plugin == pair.library else { continue }
      let outcome = try builds.answers(of: plugin, with: pair.library)
      // The loader finds the methods of a resilient class by their names.
      if pair.plugin.isClass,
        !pair.plugin.change.methods.allSatisfy(pair.library.change.methods.contains)
      {
        #expect(
          outcome.status == 3 && outcome.output.contains("undefined symbol"), "\(pair): \(outcome)")
      } else {
        #expect(outcome.status == 0 && outcome.lines == pair.answers, "\(pair): \(outcome)")
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

  @Test("shows it in its file, too, if it extends a class of theirs")
  func classes() throws {
    try check(
      Self.pairs(
        [.none, .end], isClass: true, resilience: [(false, false)], optimised: [true],
        stripped: [false])
        + Self.pairs(
          [.wider], isClass: true, resilience: [(false, false)], optimised: [true],
          stripped: [false, true])
        + Self.pairs(
          [.middle], isClass: true, resilience: [(true, true)], optimised: [false],
          stripped: [true]
        ).prefix(1))
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
      drift.first.map { "\($0.remedy)" }
        == "link the contracts library instead of compiling its sources into the plugin")
  }

  @Test("in every direction, with and without evolution, optimised and stripped or not", .full)
  func all() throws {
    let both = [false, true]
    let resilience = both.flatMap { plugin in both.map { (plugin, $0) } }
    for isClass in both {
      try check(
        Self.pairs(
          Change.allCases.filter { isClass || $0 != .property && $0 != .wider }, isClass: isClass,
          resilience: resilience, optimised: both, stripped: both))
    }
  }
}

extension [String] {
  /// The line that a host prints of these answers.
  fileprivate var line: String { joined(separator: " ") }
}

extension ContractDrift {
  /// The verdict without its reasons.
  var word: String { expected == nil ? "not visible" : "drifted" }
  /// The expected contract, and the contract that was found.
  var verdict: [String?] { [expected, found] }
}
