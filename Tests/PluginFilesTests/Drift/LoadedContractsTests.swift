import BinaryImage
import Foundation
import PluginFiles
import SwiftContracts
import TestSupport
import Testing

@Suite("A plugin against the contracts that this process has loaded", .needs("swiftc"))
struct LoadedContractsTests {
  @Test("has the verdicts that it has against their file", arguments: [false, true])
  func loaded(isClass: Bool) throws {
    var builds = try ContractBuilds()
    let loaded = Build(change: .middle, isClass: isClass, isResilient: !isClass, digest: "1")
    let library = try builds.library(loaded)
    // The library is never closed: an image that carries Swift stays.
    try OpenLibrary.keep(library.path)
    let ranges = MappedRange.ofThisProcess().filter { $0.path == library.path }
    let others =
      isClass
      ? [loaded, Build(change: .wider, isClass: true)]
      : [
        loaded, Build(isResilient: true, digest: "1"), Build(isResilient: true),
        Build(change: .defaulted, isResilient: true, digest: "1"),
        Build(change: .middle, digest: "1"),
        Build(digest: "1"), Build(change: .middle, digest: "2"),
      ]
    for build in others {
      let plugin = try builds.plugin(build, isStripped: false)
      let expectations = try ContractExpectations(of: ContractBuilds.file(plugin))
      let inMemory = ContractDrift.all(
        of: expectations,
        against: ContractLibrary(loadedAs: library.path, at: ranges, for: expectations))
      let inFile = try builds.drift(of: plugin, with: loaded)
      #expect(inMemory.map(\.word) == inFile.map(\.word), "\(build)")
      #expect(inMemory.allSatisfy { $0.contract == "Contracts.Codec" })
      let elsewhere = ContractLibrary(loadedAs: library.path, at: [], for: expectations)
      #expect(elsewhere == ContractLibrary())
    }
  }

  @Test("is held to what is loaded, where the file was replaced since")
  func replaced() throws {
    var builds = try ContractBuilds()
    let loaded = try builds.library(Build())
    try OpenLibrary.keep(loaded.path)
    let new = Build(change: .middle)
    let plugin = try builds.declaringPlugin(new)
    // Package managers do the same: the new file takes the name.
    try FileManager.default.removeItem(at: loaded)
    try FileManager.default.moveItem(at: builds.library(new), to: loaded)
    var policy = PluginPolicy()
    policy.checksOwners = false
    let catalogue = PluginCatalogue(.file(plugin.path))
    let report = AdmissionFolder.report(of: catalogue, to: try AdmissionHost(), policy)
    #expect(report.problems.contains { $0.hasPrefix(loaded.path) && $0.contains("replaced") })
    // Other tests have loaded contracts too.
    let refusals = report.plugins.first?.refusals ?? []
    let own = refusals.filter { $0.message.contains("that of libContracts.so in memory") }
    #expect(own.map(\.code) == ["contract-drift"], "\(refusals)")
  }
}
