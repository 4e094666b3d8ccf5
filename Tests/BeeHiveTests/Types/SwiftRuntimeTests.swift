import Foundation
import TestSupport
import Testing

@Suite("The C view of the Swift runtime")
struct SwiftRuntimeTests {
  // gcc does not know how Swift calls.
  @Test("a runtime without the symbols is reported, and no link fails", .needs("clang"))
  func withoutRuntime() throws {
    let support = Repository.place("CSupport/CSwiftRuntime")
    let folder = try Folder()
    defer { folder.remove() }
    let source = """
      #include "CSwiftRuntime.h"
      int main(void) {
        int type = 0, protocol = 0;
        const void *actor = 0;
        if (beehive_swift_images(0, 0, 0) != 0) { return 1; }
        if (beehive_swift_existential(&protocol, false)) { return 2; }
        if (beehive_swift_conformance_of(&type, &protocol, &actor) !=
            beehive_swift_conforms_unavailable) { return 3; }
        return 0;
      }
      """
    try Compiler.compile(
      source, as: "program", in: folder.url, with: "clang",
      [
        "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", support.path + "/include",
        support.path + "/swift_runtime.c",
      ])
    #expect(try Command.run(folder.place("program").path).status == 0)
  }
}
