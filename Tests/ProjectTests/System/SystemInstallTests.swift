import Foundation
import TestSupport
import Testing

@Suite("Scripts/install", .full)
struct SystemInstallTests {
  /// A file that is installed, who may do what with it, and what is in it.
  struct File: Sendable, CustomTestStringConvertible {
    var path: String
    var mode = 0o644
    var text: String

    var testDescription: String { path }
  }

  static let files = [
    File(path: "bin/section-dump", mode: 0o755, text: "ELF"),
    File(path: "share/man/man1/section-dump.1", text: ".Dt SECTION-DUMP 1"),
    File(path: "share/bash-completion/completions/section-dump", text: "complete "),
    File(path: "share/zsh/site-functions/_section-dump", text: "#compdef section-dump"),
    File(path: "share/fish/vendor_completions.d/section-dump.fish", text: "complete -c"),
    File(path: "share/doc/section-dump/LICENSE.txt", text: "Apache License"),
    File(path: "share/doc/section-dump/NOTICE", text: "elfutils"),
  ]

  @Test("puts each file in its place and says so", arguments: files)
  func file(file: File) throws {
    let installation = try Installation.needed()
    let path = installation.prefix.appendingPathComponent(file.path).path
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == file.mode)
    let bytes = try #require(FileManager.default.contents(atPath: path))
    #expect(bytes.range(of: Data(file.text.utf8)) != nil, "\(file.text)")
    #expect(installation.said.contains(path))
  }

  @Test("puts nothing else there")
  func nothingElse() throws {
    let installation = try Installation.needed()
    let found = try Command.output("find", [installation.prefix.path, "-type", "f"])
      .split(separator: "\n").map(String.init)
    let list = installation.prefix.appendingPathComponent("share/swift-beehive/tool").path
    #expect(Set(found) == Set(installation.said + [list]))
    #expect(installation.said.count == Self.files.count)
  }

  @Test("makes a program that needs no library, not even a loader")
  func isStatic() throws {
    let headers = try Command.output("readelf", ["-dlW", Installation.needed().tool])
    #expect(!headers.contains("NEEDED"))
    #expect(!headers.contains("INTERP"))
    #expect(headers.contains("LOAD"), "readelf shows its headers")
  }

  @Test("makes a program that says the same as the one that was built with the tests")
  func runs() throws {
    let bundle = try Command.output("readlink", ["-f", "/proc/self/exe"])
      .trimmingCharacters(in: .newlines)
    for arguments in [["--help"], ["sections", "--format", "json", bundle]] {
      let installed = try Command.run(Installation.needed().tool, arguments)
      let built = try Command.run(Repository.sectionDump, arguments)
      #expect(installed.status == 0)
      #expect(installed.output == built.output)
    }
  }

  @Test("--uninstall removes what it has put there, below DESTDIR too, and nothing else")
  func uninstall() throws {
    let folder = try Folder()
    let staged = ["DESTDIR": folder.path]
    let installed = try Installation.run(
      ["--only", "tool", "--prefix", "/opt/bee"], environment: staged)
    guard installed.status != 69 else { try Test.cancel("\(installed.errors)") }
    try #require(installed.status == 0, "\(installed)")
    try folder.write("", as: "opt/bee/bin/other")

    let removed = try Installation.run(
      ["--uninstall", "--prefix", "/opt/bee"], environment: staged)
    #expect(removed.status == 0 && removed.lines.count == Self.files.count + 1, "\(removed)")
    let left = try Command.output("find", [folder.path, "-type", "f"])
    #expect(left == folder.place("opt/bee/bin/other").path + "\n")

    let again = try Installation.run(["--uninstall", "--prefix", "/opt/bee"], environment: staged)
    #expect(again.status == 66 && again.errors.contains("nothing was installed into"), "\(again)")
  }

  @Test(
    "refuses what it does not know",
    arguments: [
      (["PREFIX"], "it does not know PREFIX"), (["--prefix"], "--prefix needs a value"),
      (["--only", "all"], "--only takes tool or library, not all"),
      (["--libdir", "../lib"], "--libdir takes a folder of PREFIX, not ../lib"),
    ])
  func refuses(arguments: [String], reason: String) throws {
    let outcome = try Installation.run(arguments)
    #expect(outcome.status == 64)
    #expect(outcome.errors.hasPrefix("Scripts/install: \(reason); "))
  }
}
