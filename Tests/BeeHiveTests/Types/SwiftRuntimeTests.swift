import Foundation
import Testing

@Suite("The C view of the Swift runtime")
struct SwiftRuntimeTests {
  @Test("a runtime without the symbols is reported, and no link fails")
  func withoutRuntime() throws {
    let support = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../CSupport/CSwiftRuntime").standardized
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "beehive-runtime-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let main = folder.appending(path: "main.c")
    try """
    #include "CSwiftRuntime.h"
    int main(void) {
      int type = 0, protocol = 0;
      const void *actor = 0;
      if (beehive_swift_images(0, 0, 0) != -1) { return 1; }
      if (beehive_swift_existential(&protocol, false)) { return 2; }
      if (beehive_swift_conformance_of(&type, &protocol, &actor) !=
          beehive_swift_conforms_unavailable) { return 3; }
      return 0;
    }
    """.write(to: main, atomically: true, encoding: .utf8)
    let program = folder.appending(path: "program")
    let compiled = try run(
      "clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I",
      support.appending(path: "include").path(), "-o", program.path(), main.path(),
      support.appending(path: "swift_runtime.c").path())
    try #require(compiled == 0)
    #expect(try run(program.path()) == 0)
  }

  private func run(_ command: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
