import Foundation
import TestSupport
import Testing

/// Code written against the headers of a release works with today's library: `Docs/versions.md`. Each release that
/// changed a header has a folder with its headers, a plugin, a host, and the host's output.
@Suite("Plugins and hosts in C and C++ of an earlier release")
struct HeaderReleasesTests {
  private static let releases = Repository.place("Tests/Fixtures/Releases")
  static let versions =
    (try? FileManager.default.contentsOfDirectory(atPath: releases.path).sorted()) ?? []

  @Test("the first release is kept")
  func first() { #expect(Self.versions.first == "0.1.0") }

  @Test("register and run", arguments: versions, Compiler.allCases)
  func run(version: String, compiler: Compiler) throws {
    // clang++ links with libraries that come with g++.
    if compiler == .clangxx { try Needs.programs("g++") }
    let release = Self.releases.appending(path: version)
    let folder = try Folder()
    let library = Repository.products.path
    func make(_ name: String, _ source: String, _ options: [String]) throws -> String {
      try compiler.make(
        name,
        ["-x", compiler.language, "-std=\(compiler.oldest)", "-Wall", "-Wextra", "-Werror"] + [
          "-I", release.appending(path: "include").path,
          release.appending(path: source).path,
        ] + options, in: folder
      ).path
    }
    let plugin = try make("plugin.so", "plugin.c", ["-shared", "-fPIC", "-Wl,--gc-sections"])
    let host = try make(
      "host", "host.c", ["-L", library, "-lBeeHive", "-Wl,-rpath," + library, "-ldl"])
    let printed = try String(contentsOf: release.appending(path: "printed.txt"), encoding: .utf8)
    // A compiler may reverse the entries of a section.
    #expect(
      try Command.output(host, [plugin]).split(separator: "\n").sorted()
        == printed.split(separator: "\n").sorted())
  }

  /// Until a version is released, its headers may change, and the kept headers change with them.
  @Test("the headers of the version that comes next are today's", arguments: versions)
  func next(version: String) throws {
    guard try !Repository.text("CHANGELOG.md").contains("\n## [\(version)] - ") else { return }
    let kept = Self.releases.appending(path: "\(version)/include").path
    let outcome = try Command.run(
      "diff", ["-r", "--exclude=module.modulemap", Repository.headers, kept])
    #expect(outcome.status == 0, "copy CSupport/CBeeHive/include there: \(outcome)")
  }
}
