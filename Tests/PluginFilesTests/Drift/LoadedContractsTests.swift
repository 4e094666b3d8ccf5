import BinaryImage
import Foundation
import PluginFiles
import TestSupport
import Testing

@Suite("A plugin against the contracts that this process has loaded", .needs("swiftc"))
struct LoadedContractsTests {
  @Test("has the verdicts that it has against their file")
  func loaded() throws {
    var builds = try ContractBuilds()
    let loaded = Build(change: .middle, isResilient: true, digest: "1")
    let library = try builds.library(loaded)
    // Never closed: an image that carries Swift stays.
    try #require(unsafe dlopen(library.path, RTLD_NOW | RTLD_GLOBAL) != nil)
    let others = [
      loaded, Build(isResilient: true, digest: "1"), Build(isResilient: true),
      Build(change: .defaulted, isResilient: true, digest: "1"),
      Build(change: .middle, digest: "1"),
      Build(digest: "1"), Build(change: .middle, digest: "2"),
    ]
    for build in others {
      let plugin = try builds.plugin(build, isStripped: false)
      let expectations = try ContractExpectations(of: ContractBuilds.file(plugin))
      let inMemory = ContractDrift.all(
        of: expectations, against: ContractLibrary(loadedFor: expectations))
      let inFile = try builds.drift(of: plugin, with: loaded)
      #expect(inMemory.map(\.verdict.word) == inFile.map(\.verdict.word), "\(build)")
      #expect(inMemory.map(\.contract) == ["Contracts.Codec"])
    }
    #expect(
      ContractDrift.all(
        of: ContractExpectations(), against: ContractLibrary(loadedFor: ContractExpectations())
      ).isEmpty)
  }
}
