import Foundation
import TestSupport
import Testing

@testable import section_dump

/// Tests only that `verify` and its children report the drift. `PluginFilesTests` has each way to drift.
@Suite("What section-dump verify finds in a plugin and the contracts beside it", .needs("swiftc"))
struct VerifyContractsTests {
  private static let folders = Result {
    let requirements = ["func encode() -> Int", "func encode() -> Int; func check() -> Int"]
    let folders = try requirements.map { requirements in
      let folder = try Folder()
      try Compiler.swift(
        "public protocol Codec { \(requirements) }\npublic protocol Other {}", module: "Contracts",
        as: "libContracts.so", in: folder.url, ["-emit-module"])
      return folder
    }
    try Compiler.swift(
      """
      import Contracts
      struct Rot: Codec { func encode() -> Int { 1 } }
      struct Plain: Codec { func encode() -> Int { 2 } }
      struct None: Other, Equatable {}
      """, module: "Plugin", as: "libPlugin.so", in: folders[0].url,
      ["-I", ".", "-L", ".", "-lContracts"])
    return folders
  }

  private func values(_ findings: [[String: Any]], _ key: String) -> [String] {
    findings.compactMap { $0[key] as? String }
  }

  @Test("are errors where it drifted, each with what was expected", arguments: [[], ["--isolate"]])
  func drifted(options: [String]) throws {
    let folders = try Self.folders.get()
    let plugin = folders[0].place("libPlugin.so").path
    let library = folders[1].place("libContracts.so").path
    let found = try Tool.findings(options + [library, plugin], status: 1)
    #expect(values(found, "code") == ["contract-drift", "contract-drift", "contract-not-visible"])
    #expect(values(found, "level") == ["error", "error", "remark"])
    #expect(values(found, "path") == [plugin, plugin, plugin])
    #expect(
      values(found, "message").first
        == "Plugin.Rot was built to conform to another Contracts.Codec than that of \(library): it expects "
        + "1 requirement and finds 2 requirements")
    #expect(
      values(found, "remedy").first
        == "build the plugin again, against the contracts that it is loaded with")
  }

  @Test("are one remark where the files do not tell, which never fails")
  func notVisible() throws {
    let folder = try Self.folders.get()[0]
    let files = ["libPlugin.so", "libContracts.so"].map { folder.place($0).path }
    let found = try Tool.findings(["--strict"] + files)
    #expect(values(found, "code") == ["contract-not-visible"])
    #expect(values(found, "level") == ["remark"])
    #expect(values(found, "message").first?.hasSuffix("; the same holds for 2 more") == true)
    #expect(try Tool.findings([files[0]]).isEmpty)
    #expect(try Tool.findings([files[1]]).isEmpty)
  }

  @Test("are no errors of libraries that were built together: those of the toolchain", .full)
  func toolchain() throws {
    let compiler = URL(filePath: try #require(Needs.path(of: "swiftc"))).resolvingSymlinksInPath()
    let folder = compiler.deletingLastPathComponent().appending(path: "../lib/swift/linux")
      .standardized
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".so") }.map { folder.appending(path: $0).path }.sorted()
    try #require(files.contains { $0.hasSuffix("/libFoundation.so") })
    let found = try Tool.findings(files)
    #expect(Set(values(found, "code")) == ["contract-not-visible"])
    let table = try Tool.run(["conformances", "--format", "csv"] + files).expect(0)
    #expect(table.lines.count > 5000)
  }

  @Test("conformances are listed in every format")
  func conformances() throws {
    let plugin = try Self.folders.get()[0].place("libPlugin.so").path
    let csv = try Tool.run(["conformances", plugin, "--format", "csv", "--to", "Codec"])
    #expect(
      csv.output == """
        path,container,type,protocol,symbol,how
        \(plugin),,Plugin.Rot,Contracts.Codec,$s9Contracts5CodecMp,
        \(plugin),,Plugin.Plain,Contracts.Codec,$s9Contracts5CodecMp,

        """)
    let table = try Tool.run(["conformances", plugin, "--to", "Contracts.Othe?"])
    #expect(table.lines.last?.split(separator: " ") == ["Plugin.None", "Contracts.Other"])
    let json = try Tool.run(["conformances", plugin, "--format", "ndjson"])
    #expect(
      json.output.contains(
        #"{"type":"Plugin.None","protocol":"Swift.Equatable","symbol":"$sSQMp","how":["resilient"]}"#
      ),
      "\(json)")
    try Tool.run(["conformances", plugin, "--to", "Missing"]).expect(
      1, errors: "no file has a protocol Missing", output: "no such conformances")
  }
}
