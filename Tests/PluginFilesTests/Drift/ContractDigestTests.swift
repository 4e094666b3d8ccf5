import Foundation
import PluginFiles
import SwiftContracts
import TestSupport
import Testing

@Suite("A version of contracts that clients refer to", .needs("swiftc"))
struct ContractDigestTests {
  @Test(
    "tells what nothing else shows: members in another order",
    arguments: [(false, false), (false, true), (true, true)])
  func order(isClass: Bool, isOptimised: Bool) throws {
    var builds = try ContractBuilds()
    let old = Build(isClass: isClass, isOptimised: isOptimised, digest: "1")
    let new = Build(change: .reordered, isClass: isClass, isOptimised: isOptimised, digest: "2")
    let plugin = try builds.plugin(old, isStripped: true)

    let lines = isClass ? ["e:x d:x n 7", "e:x d:x n 7"] : ["e:x d:x n"]
    #expect(try builds.drift(of: plugin, with: old).isEmpty)
    #expect(try builds.answers(of: plugin, with: old).lines == lines)

    let drift = try builds.drift(of: plugin, with: new)
    #expect(drift.map(\.verdict) == lines.map { _ in ["version 1 of the contract", "version 2"] })
    #expect(
      drift.first?.message(against: "libContracts.so")
        == "Client.Rot was built to \(isClass ? "extend" : "conform to") another Contracts.Codec than that of libContracts.so: "
        + "it expects version 1 of the contract and finds version 2")
    // The loader refuses the plugin too.
    let outcome = try builds.answers(of: plugin, with: new)
    #expect(outcome.status == 3)
    #expect(outcome.output.contains("undefined symbol: $s9Contracts17beehiveContract_1yyF"))
  }

  @Test("is a drift where the library has none")
  func lost() throws {
    var builds = try ContractBuilds()
    let plugin = try builds.plugin(Build(digest: "1"), isStripped: false)
    // Both have the same number of requirements, because the digest counts as one.
    let drift = try builds.drift(of: plugin, with: Build(change: .end))
    #expect(drift.map(\.verdict) == [["version 1 of the contract", "a contract without it"]])
  }

  @Test(
    "leaves its symbol undefined in each client, as Docs/contracts.md has it",
    arguments: [["-Onone"], ["-O"], ["-O", "-wmo"]])
  func page(options: [String]) throws {
    let folder = try Folder()
    let block = try Document("Docs/contracts.md").block("swift", with: "beehiveContract_2").text
    for (version, source) in [
      ("2", block), ("3", block.replacing("beehiveContract_2", with: "beehiveContract_3")),
    ] {
      try folder.makeFolder(version)
      try Compiler.swift(
        source, module: "Contracts", as: "libContracts.so", in: folder.place(version),
        ["-emit-module", "-O", "-wmo"])
    }
    let client = try Compiler.swift(
      """
      import Contracts
      public struct Rot: Codec { public func encode(_ text: String) -> String { text } }
      """, module: "Rot", as: "librot.so", in: folder.url,
      ["-I", "2", "-L", "2", "-lContracts"] + options)
    let symbol = "$s9Contracts17beehiveContract_2yyF"
    let expectations = try ContractExpectations(of: ContractBuilds.file(client))
    #expect(expectations.digests == [symbol])
    func digests(_ version: String) throws -> [String] {
      let library = folder.place("\(version)/libContracts.so")
      return try ContractLibrary(of: ContractBuilds.file(library)).digests
    }
    #expect(try digests("2") == [symbol])
    #expect(try digests("3") == ["$s9Contracts17beehiveContract_3yyF"])
  }
}
