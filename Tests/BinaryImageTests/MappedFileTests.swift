import BinaryImage
import Foundation
import TestSupport
import Testing

/// The file of an image may be elsewhere, replaced or gone. The answer is never wrong, and a failure is always
/// reported.
@Suite struct MappedFileTests {
  /// The way an image is built. With a note, the file is not needed.
  enum Kind: String, CaseIterable, Sendable {
    case noted
    case handWritten

    func source(_ name: String) -> String {
      self == .noted ? Fixture.noted(name) : Fixture.handWritten(name)
    }
  }

  /// Copies the image of this name and returns its modules, or the code of the error.
  private static func modules(of name: String) throws -> [String] {
    do {
      return try ImageList.current().copy(named: name).texts(in: "BeehiveMods")
    } catch let error as ImageError {
      return [error.code.rawValue]
    }
  }

  @Test(arguments: Kind.allCases)
  func `A relative path is found after the directory changed`(_ kind: Kind) throws {
    let name = "relative_\(kind)"
    let path = try Fixture.library(kind.source(name), as: "\(name).so")
    try OwnThread.run(in: Fixture.directory.path, privileged: false) {
      let library = try OpenLibrary("./\(name).so")
      defer { library.close() }
      #expect(unsafe chdir("/") == 0)
      #expect(try Self.modules(of: "./\(name).so") == Fixture.modules(name))
    }
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `A memory file is read while it has a name, or by who may`(
    _ kind: Kind, _ privileged: Bool
  ) throws {
    let name = "memory_\(kind)_\(privileged)"
    let path = try Fixture.library(kind.source(name), as: "\(name).so")
    let bytes = try Fixture.bytes(of: path)
    try OwnThread.run(privileged: privileged) {
      // No other file may get this number: the loader would remember it as that file's name.
      let number = 600 + (kind == .noted ? 0 : 2) + (privileged ? 1 : 0)
      let descriptor = try OwnThread.memoryFile(bytes, as: Int32(number))
      let memory = "/proc/self/fd/\(descriptor)"
      let library = try OpenLibrary(memory)
      defer { library.close() }
      let expected = Fixture.modules(name)
      #expect(try Self.modules(of: memory) == expected)
      // Now the number belongs to another file, or to none.
      close(descriptor)
      let found = try Self.modules(of: memory)
      let mayRead = kind == .noted || (privileged && OwnThread.followsMappings)
      #expect(found == expected || (!mayRead && found.count == 1), "\(found)")
    }
  }

  @Test(arguments: Kind.allCases, [true, false])
  func `A deleted file is read by who may, and reported otherwise`(
    _ kind: Kind, _ privileged: Bool
  ) throws {
    let name = "deleted_\(kind)_\(privileged)"
    let path = try Fixture.library(kind.source(name), as: "\(name).so")
    let library = try OpenLibrary(path)
    defer { library.close() }
    try FileManager.default.removeItem(atPath: path)
    let found = try OwnThread.run(privileged: privileged) { try Self.modules(of: path) }
    if kind == .handWritten, !privileged {
      #expect(found == ["unreadable"])
    } else {
      #expect(
        found == Fixture.modules(name) || (kind == .handWritten && !OwnThread.followsMappings))
    }
  }

  @Test(arguments: Kind.allCases, [[], ["-Wl,--build-id"]])
  func `A file that was replaced is not believed`(_ kind: Kind, _ arguments: [String]) throws {
    let name = "replaced_\(kind)_\(arguments.count)"
    let path = try Fixture.library(kind.source(name), as: "\(name).so", arguments)
    let library = try OpenLibrary(path)
    defer { library.close() }
    // The new file is like the next release of a plugin: the same code and some more.
    let other = try Fixture.library(
      kind.source("other") + "\nint more(void) { return 43; }\n", as: "\(name)-new.so", arguments)
    #expect(unsafe rename(other, path) == 0)
    let found = try OwnThread.run(privileged: false) { try Self.modules(of: path) }
    #expect(found == (kind == .noted ? Fixture.modules(name) : ["replaced"]))
  }

  @Test(arguments: [true, false])
  func `A stripped file of the same build is believed`(hasSections: Bool) throws {
    let name = "stripped_\(hasSections)"
    let noted = try Fixture.library(Fixture.noted(name), as: "\(name)-noted.so")
    let bare = try Fixture.library(
      Fixture.handWritten(name), as: "\(name)-bare.so", ["-Wl,--build-id"])
    for (whole, isNoted) in [(noted, true), (bare, false)] {
      let path = hasSections ? whole : try Fixture.withoutSections(whole)
      if hasSections { try Fixture.run("strip", [path]) }
      let library = try OpenLibrary(path)
      defer { library.close() }
      let expected = isNoted || hasSections ? Fixture.modules(name) : ["section-table-missing"]
      #expect(try Self.modules(of: path) == expected)
    }
  }

  @Test(arguments: ["bfd", "gold", "lld", "mold"])
  func `A note that patchelf has moved is corrected`(_ linker: String) throws {
    try Needs.programs("patchelf")
    try Needs.linker(linker)
    let name = "patched_\(linker)"
    let path = try Fixture.library(Fixture.noted(name), as: "\(name).so", ["-fuse-ld=\(linker)"])
    let before = try Fixture.bytes(of: path)
    try Fixture.run("patchelf", ["--set-rpath", "/" + String(repeating: "long/", count: 40), path])
    #expect(try Fixture.bytes(of: path) != before)
    let library = try OpenLibrary(path)
    defer { library.close() }
    let image = try ImageList.current().copy(named: path)
    #expect(image.mapped.note == .valid)
    #expect(try image.texts(in: "BeehiveMods") == Fixture.modules(name))
  }
}
