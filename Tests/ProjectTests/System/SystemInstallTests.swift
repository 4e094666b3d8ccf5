import Foundation
import TestSupport
import Testing

@Suite("Scripts/install", .full)
struct SystemInstallTests {
  /// Installed files, and a part of their contents.
  static let files = [
    ("bin/section-dump", "ELF"), ("share/man/man1/section-dump.1", ".Dt SECTION-DUMP 1"),
    ("share/bash-completion/completions/section-dump", "complete "),
    ("share/zsh/site-functions/_section-dump", "#compdef section-dump"),
    ("share/fish/vendor_completions.d/section-dump.fish", "complete -c"),
    ("share/doc/section-dump/LICENSE.txt", "Apache License"),
    ("share/doc/section-dump/NOTICE", "elfutils"),
  ]

  @Test("puts each file in its place and says so", arguments: files)
  func file(path: String, text: String) throws {
    let installation = try Installation.needed()
    let file = installation.prefix.appendingPathComponent(path).path
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == (path.hasPrefix("bin/") ? 0o755 : 0o644))
    let bytes = try #require(FileManager.default.contents(atPath: file))
    #expect(bytes.range(of: Data(text.utf8)) != nil, "\(text)")
    #expect(installation.said.contains(file))
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
}
