import Foundation
import TestSupport
import Testing

@testable import BinaryImage

@Suite("What an ELF file is")
struct ELFIdentityTests {
  @Test("is told of a library without reading what its loader reads")
  func libraryIsCheap() throws {
    let path = try Fixture.compile(
      ELFPointersTests.source, as: "cheap.so", ["-shared", "-fPIC", "-nostdlib", "-Wl,-e,0"])
    let image = try ELFFile(path: path)
    try image.checkExtents()
    let before = image.file.bytesRead
    #expect(image.identity.kind == .shared)
    #expect(image.file.bytesRead == before)
  }

  @Test("is an executable where the loader may start it, however it was linked")
  func executables() throws {
    let source = "void _start(void) { for (;;) ; }"
    for (name, arguments) in [
      ("entry-pie", ["-pie", "-fPIE"]), ("entry-static", ["-static-pie", "-fPIE"]),
      ("entry-fixed", ["-no-pie", "-fno-pie"]),
    ] {
      let path = try Fixture.compile(source, as: name, arguments + ["-nostdlib"])
      #expect(try ELFFile(path: path).identity.kind == .executable, "\(name)")
    }
  }
}
