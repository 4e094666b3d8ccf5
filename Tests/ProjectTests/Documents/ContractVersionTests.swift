import TestSupport
import Testing

@Suite("What Swift plugins are compiled against has the package's minor version")
struct ContractVersionTests {
  @Test("in each library that has such protocols", arguments: ["BeeHive", "BeeHiveRouting"])
  func version(library: String) throws {
    let tool = try Repository.text("Sources/section-dump/Commands/SectionDump.swift")
    let told = try #require(tool.firstMatch(of: /version = "([0-9]+)\.([0-9]+)\./)?.output)
    let source = try Repository.text("Sources/\(library)/ContractVersion.swift")
    let names = Set(source.matches(of: /beehiveContract_[0-9_]+/).map { String($0.output) })
    #expect(names == ["beehiveContract_\(told.1)_\(told.2)"])
  }
}
