import Foundation
import TestSupport
import Testing

@Suite("The C view of the Swift runtime")
struct SwiftRuntimeTests {
  // gcc does not know Swift's calling convention.
  @Test("a runtime without the symbols is reported, and no link fails", .needs("clang"))
  func withoutRuntime() throws {
    let support = Repository.place("CSupport/CSwiftRuntime")
    let folder = try Folder()
    defer { folder.remove() }
    try Compiler.compile(
      Repository.fixture("Libraries/no-swift.c"), as: "program", in: folder.url, with: "clang",
      [
        "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", support.path + "/include",
        support.path + "/swift_runtime.c",
      ])
    #expect(try Command.run(folder.place("program").path).status == 0)
  }
}
