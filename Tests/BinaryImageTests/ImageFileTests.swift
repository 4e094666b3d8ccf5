import BinaryImage
import Foundation
import ObjectFiles
import Testing

@Suite("Opening any path")
struct ImageFileTests {
  @Test("answers the image of an ELF file, under the name that was given")
  func opens() throws {
    let path = try Fixture.compile(ELFPointersTests.source, as: "opened.so", ["-shared", "-fPIC"])
    #expect(try ImageFile.open(path).identity.path == path)
    let image = try ImageFile.open(path, name: "libopened.so")
    #expect(image.identity.path == "libopened.so")
    #expect(image.identity.format == .elf)
    #expect(try image.texts(of: "BeehiveServices").count == 1)
  }

  @Test("takes a path that is not UTF-8")
  func notUTF8() throws {
    _ = try Fixture.compile(ELFPointersTests.source, as: "latin.so", ["-shared", "-fPIC"])
    // Foundation cannot name such a file; the shell can.
    try Fixture.run("sh", ["-c", "cp latin.so $(printf 'caf\\351')"])
    let bytes = Array(Fixture.path("caf").utf8) + [0xe9]
    let image = try ImageFile.open(OpenedFile(path: bytes))
    #expect(image.identity.path.hasSuffix("/caf\u{fffd}"))
  }

  @Test("says that what is missing, empty or text is no object file")
  func nothing() throws {
    expectError(.unreadable) { try ImageFile.open(Fixture.path("missing")) }
    expectError(.unreadable) { try ImageFile.open("") }
    expectError(.unreadable) { try ImageFile.open("a\0b") }
    for text in ["", "\u{7f}", "\u{7f}EL", "#!/bin/sh\n", "!<arch>\n"] {
      let path = try Fixture.write(Array(text.utf8), as: "nothing")
      expectError(.notAnObject) { try ImageFile.open(path) }
    }
    expectError(.truncated) {
      try ImageFile.open(Fixture.write(Array("\u{7f}ELF".utf8), as: "start"))
    }
  }

  @Test("opens no directory, device, FIFO or socket, and does not wait for one")
  func special() throws {
    try Fixture.run("mkfifo", ["fifo"])
    let fifo = Fixture.path("fifo")
    for path in [fifo, Fixture.directory.path, "/dev/zero", "/dev/null"] {
      expectError(.unreadable, saying: "only regular files") { try ImageFile.open(path) }
    }
  }

  @Test(
    "names the reason where a file may not be read",
    .enabled(if: getuid() != 0, "root may read all"))
  func forbidden() throws {
    let path = try Fixture.write([0x7f], as: "forbidden")
    try Fixture.run("chmod", ["0", path])
    expectError(.unreadable, saying: "Permission denied") { try ImageFile.open(path) }
  }
}
