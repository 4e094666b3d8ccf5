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

  @Test("is a library where it can be run, too, and a program where an old linker left no flag")
  func interpreters() throws {
    let source = """
      __attribute__((section(".interp"))) const char loader[] = "/lib64/ld-linux-x86-64.so.2";
      void start(void) { for (;;) ; }
      """
    for name in [[], ["-Wl,-soname,runnable.so"]] {
      let library = try Fixture.compile(
        source, as: "runnable\(name.count).so",
        ["-shared", "-fPIC", "-nostdlib", "-Wl,-e,start"] + name)
      let file = try ELFFile(path: library)
      #expect(try file.segments().hasInterpreter)
      #expect(file.identity.kind == .shared)
    }
    let program = try Fixture.compile(
      "int main(void) { return 0; }", as: "flagless", ["-pie", "-fPIE"])
    var editor = try ELFEditor([UInt8](Data(contentsOf: URL(fileURLWithPath: program))))
    // DT_FLAGS_1
    let tag: [UInt8] = [0xfb, 0xff, 0xff, 0x6f, 0, 0, 0, 0]
    let place = try #require(editor.bytes.firstRange(of: tag)).upperBound
    #expect(editor.number(8, at: place) & 0x0800_0000 != 0)
    editor.put(0, 8, at: place)
    try Data(editor.bytes).write(to: URL(fileURLWithPath: program))
    #expect(try ELFFile(path: program).identity.kind == .executable)
  }
}
