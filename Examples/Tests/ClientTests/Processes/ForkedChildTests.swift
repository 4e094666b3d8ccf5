import Foundation
import Testing

/// A host forks a child while its Hive runs.
@Suite struct ForkedChildTests {
  private static let header = """
    #include <unistd.h>
    static inline int fork_here(void) { return fork(); }
    """

  private static let host = """
    import BeeHive
    import Forking
    import Glibc

    struct Shop: Module {}
    let hive = Hive.process
    try await hive.register(module: Shop.self)
    try await hive.start()
    // The pool has threads now, which a child has not.
    for _ in 0..<3 { _ = await Task.detached { await Task.yield() }.value }
    let child = fork_here()
    if child == 0 {
      if CommandLine.arguments.count > 1 { exit(9) }
      _ = await hive.trigger(.didBecomeActive)
      exit(5)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    print("status", status >> 8, "signal", status & 127)
    await hive.stop()
    """

  private static let program = Result {
    let folder = try Folder()
    try folder.write(Self.header, as: "Forking.h")
    let map = try folder.write("module Forking { header \"Forking.h\" }", as: "module.modulemap")
    let program = folder.place("Host").path
    let outcome = try SwiftCompiler.run(
      SwiftCompiler.Mode.debug.arguments + [
        "-module-name", "Host", "-emit-executable", "-o", program,
        "-Xcc", "-fmodule-map-file=\(map.path)", folder.write(Self.host, as: "main.swift").path,
      ] + SwiftCompiler.libraries)
    guard outcome.status == 0 else { throw outcome }
    return program
  }

  @Test("Its first await does not end it without a word") func firstAwait() throws {
    let outcome = try Command.run(try Self.program.get(), limit: 300)
    #expect(outcome.status == 0)
    // If the child has a thread to go on with, it succeeds. Otherwise it must not end as if it had.
    if outcome.lines != ["status 5 signal 0"] {
      #expect(outcome.lines == ["status 70 signal 0"])
      #expect(
        outcome.errors.contains("ends in an await: this process was forked once a Hive had run"))
    }
  }

  @Test("One that ends by itself ends as it says") func exits() throws {
    let outcome = try Command.run(try Self.program.get(), ["exit"], limit: 300)
    #expect(outcome.lines == ["status 9 signal 0"])
    #expect(outcome.errors.isEmpty)
  }
}
