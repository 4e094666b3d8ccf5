import Foundation
import TestSupport
import Testing

@testable import section_dump

/// Only that `verify` and its children say what the files show; `PluginFilesTests` has each way of drifting.
@Suite("What section-dump verify finds in a plugin and the contracts beside it", .needs("swiftc"))
struct VerifyContractsTests {
  private static let folders = Result {
    let requirements = ["func encode() -> Int", "func encode() -> Int; func check() -> Int"]
    return try requirements.enumerated().map { index, requirements in
      let folder = try Folder()
      let source = try folder.write(
        "public protocol Codec { \(requirements) }\npublic protocol Other {}", as: "Contracts.swift"
      )
      try Command.output(
        "swiftc",
        [
          "-parse-as-library", "-emit-library", "-emit-module", "-module-name", "Contracts", "-o",
          "libContracts.so", source.path,
        ], in: folder.url)
      guard index == 0 else { return folder }
      let plugin = try folder.write(
        """
        import Contracts
        struct Rot: Codec { func encode() -> Int { 1 } }
        struct Plain: Codec { func encode() -> Int { 2 } }
        struct None: Other, Equatable {}
        """, as: "Plugin.swift")
      try Command.output(
        "swiftc",
        [
          "-parse-as-library", "-emit-library", "-module-name", "Plugin", "-I", ".", "-L", ".",
          "-lContracts", "-o", "libPlugin.so", plugin.path,
        ], in: folder.url)
      return folder
    }
  }

  private func findings(_ arguments: [String], status: Int32) throws -> [[String: Any]] {
    let outcome = try Tool.run(["verify", "--format", "json"] + arguments)
    #expect(outcome.status == status, "\(outcome)")
    return try Tool.files(of: outcome, key: "findings")
  }

  private func values(_ findings: [[String: Any]], _ key: String) -> [String] {
    findings.compactMap { $0[key] as? String }
  }

  @Test("are errors where it drifted, each with what was expected", arguments: [[], ["--isolate"]])
  func drifted(options: [String]) throws {
    if !options.isEmpty { try Needs.isolation() }
    let folders = try Self.folders.get()
    let plugin = folders[0].place("libPlugin.so").path
    let library = folders[1].place("libContracts.so").path
    let found = try findings(options + [library, plugin], status: 1)
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
    let found = try findings(["--strict"] + files, status: 0)
    #expect(values(found, "code") == ["contract-not-visible"])
    #expect(values(found, "level") == ["remark"])
    #expect(
      values(found, "message").first?.hasSuffix("; the same holds for 2 more") == true)
    #expect(try findings([files[0]], status: 0).isEmpty)
    #expect(try findings([files[1]], status: 0).isEmpty)
  }

  @Test("are no errors of libraries that were built together: those of the toolchain", .full)
  func toolchain() throws {
    let compiler = URL(filePath: try #require(Needs.path(of: "swiftc"))).resolvingSymlinksInPath()
    let folder = compiler.deletingLastPathComponent().appending(path: "../lib/swift/linux")
      .standardized
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".so") }.map { folder.appending(path: $0).path }.sorted()
    try #require(files.contains { $0.hasSuffix("/libFoundation.so") })
    let found = try findings(files, status: 0)
    #expect(Set(values(found, "code")) == ["contract-not-visible"])
    let table = try Tool.run(["conformances", "--format", "csv"] + files)
    #expect(table.status == 0)
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
    let none = try Tool.run(["conformances", plugin, "--to", "Missing"])
    #expect(none.status == 1)
    #expect(none.output.contains("no such conformances"))
    #expect(none.errors.contains("no file has a protocol Missing"))
  }
}
