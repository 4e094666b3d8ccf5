import BinaryImage
import Foundation
import TestSupport
import Testing

/// A pinned image stays mapped, whoever closes it. Other images do not.
@Suite struct ImagePinTests {
  /// A library without entries, because each Hive pins the libraries whose entries it finds.
  private static let source = "int answer(void) { return 42; }"

  private static func isMapped(_ path: String) throws -> Bool {
    try ImageList.current().position(named: path) != nil
  }

  /// Waits until an image is unmapped. A Hive of another test may keep it during a call.
  private static func hasGone(_ path: String) throws -> Bool {
    for _ in 0..<6000 {
      guard try isMapped(path) else { return true }
      usleep(10_000)
    }
    return false
  }

  @Test func `An image that is pinned stays for ever`() throws {
    let path = try Fixture.library(Self.source, as: "pinned.so")
    let library = try OpenLibrary(path)
    let image = try ImageList.current().copy(named: path)
    try image.pin()
    library.close()
    #expect(try Self.isMapped(path))
    try image.pin()
  }

  @Test func `A relative name that is taken twice keeps the right image`() throws {
    let directories = try ["one", "two"].map { name in
      let directory = Fixture.directory.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      // The second library stays mapped anyway.
      let source = name == "one" ? Self.source : Fixture.handWritten("twin_two")
      _ = try Fixture.library(source, as: "\(name)/twin.so")
      return directory.path
    }
    try OwnThread.run(in: directories[0]) {
      let first = try OpenLibrary("./twin.so")
      #expect(unsafe chdir(directories[1]) == 0)
      // The loader takes an equal name for the same image, so this path is spelled differently.
      let second = try OpenLibrary("./../two/twin.so")
      #expect(unsafe chdir("/") == 0)
      let list = try ImageList.current()
      let image = try list.copy(named: "./../two/twin.so")
      #expect(try image.texts(in: "BeehiveMods").first == "twin_two.FirstModule")
      try image.pin()
      second.close()
      first.close()
      #expect(try Self.hasGone("./twin.so"))
      #expect(try Self.isMapped("./../two/twin.so"))
    }
  }

  @Test func `A successor of the same name is not taken for it`() throws {
    let path = try Fixture.library(Self.source, as: "successor.so")
    let next = try Fixture.library(
      Self.source + "\nchar large[100000] = {1};\n", as: "successor-next.so")
    let library = try OpenLibrary(path)
    let image = try ImageList.current().copy(named: path)
    library.close()
    try #require(try Self.hasGone(path))
    #expect(unsafe rename(next, path) == 0)
    let successor = try OpenLibrary(path)
    #expect(throws: ImageError.self) { try image.pin() }
    successor.close()
    #expect(try Self.hasGone(path))
  }

  @Test func `The program is pinned already`() throws {
    try ImageList.current().copy(at: 0).pin()
  }
}
