import Foundation
import TestSupport
import Testing

@Suite("A program finds each of its pointer entries, under sanitizers too")
struct HeaderRunsTests {
  @Test(
    "runs", arguments: Compiler.allCases,
    ["-O2", "-fsanitize=address", "-fsanitize=undefined", "-fsanitize=address,undefined"])
  func runs(compiler: Compiler, option: String) throws {
    let folder = try Folder()
    let options = ["-x", compiler.language, "-std=\(compiler.oldest)"] + Compiler.includes
    let outcome = try compiler.run(
      options + [
        "-g", option, HeaderSource.everything.path, HeaderSource.printPointers.path, "-o",
        "program",
      ], in: folder)
    if outcome.status != 0 {
      try compiler.needs(option, linking: true)
      throw outcome
    }
    let pointers = try Repository.fixture("Headers/everything.pointers")
    let printed = try Command.output(folder.place("program").path)
    #expect(printed.split(separator: "\n").sorted() == pointers.split(separator: "\n").sorted())
  }
}
