import Foundation
import TestSupport
import Testing

@Suite("Headers work alone, preprocessed, precompiled and as modules")
struct HeaderFormsTests {
  @Test("the anchor has the note and nothing else", arguments: Compiler.allCases)
  func anchor(compiler: Compiler) throws {
    let object = try compiler.compile(HeaderSource.anchor)
    #expect(try Annotations(object).records == [])
  }

  @Test("each header alone", arguments: Compiler.allCases)
  func alone(compiler: Compiler) throws {
    let headers = try FileManager.default.contentsOfDirectory(
      atPath: Repository.headers + "/beehive")
    try #require(headers.count > 5)
    for header in headers.sorted() {
      let folder = try Folder()
      let source = try folder.write("#include <beehive/\(header)>\n", as: "alone.c")
      let object = try compiler.compile(source, in: folder)
      #expect(try !ObjectFile(object).hasTraces, "\(header)")
    }
  }

  @Test("nothing depends on what the preprocessor remembers", arguments: Compiler.allCases)
  func preprocessed(compiler: Compiler) throws {
    let folder = try Folder()
    let standard = "-std=\(compiler.oldest)"
    let text = try compiler.make(
      "everything.i",
      ["-x", compiler.language, standard] + Compiler.includes
        + ["-E", HeaderSource.everything.path], in: folder)
    let language = compiler.language == "c" ? "cpp-output" : "c++-cpp-output"
    let object = try compiler.make("x.o", ["-x", language, standard, "-c", text.path], in: folder)
    #expect(try Annotations(object).records == Annotations.expected())
  }

  @Test("precompiled", arguments: Compiler.allCases) func precompiled(compiler: Compiler) throws {
    let folder = try Folder()
    let header = Repository.headers + "/BeeHive.h"
    let options = ["-x", compiler.language + "-header", "-std=\(compiler.oldest)"]
    if compiler.isClang {
      try compiler.make("x.pch", options + Compiler.includes + [header], in: folder)
      let source = try folder.write(HeaderSource.twoModules, as: "two.c")
      try compiler.compile(source, ["-include-pch", "x.pch"], in: folder)
    } else {
      try folder.makeFolder("pch")
      try compiler.make(
        "pch/BeeHive.h.gch", options + Compiler.includes + compiler.warnings + [header], in: folder)
      let source = try folder.write(HeaderSource.include + HeaderSource.twoModules, as: "two.c")
      let arguments =
        ["-Ipch", "-x", compiler.language, "-std=\(compiler.oldest)"] + compiler.warnings
      // -H marks headers that come from the precompiled header.
      try compiler.run(
        arguments + ["-Winvalid-pch", "-H", "-c", source.path, "-o", "x.o"], in: folder
      ).expect(0, errors: "! pch/BeeHive.h.gch")
    }
  }

  @Test("as a module of clang", arguments: [Compiler.clang, .clangxx])
  func module(compiler: Compiler) throws {
    let object = try compiler.compile(
      HeaderSource.everything, ["-fmodules", "-fmodules-cache-path=cache"])
    #expect(try Annotations(object).records == Annotations.expected())
  }

  @Test("Swift reads the types and emits nothing", .needs("swiftc")) func swift() throws {
    let folder = try Folder()
    let source = try folder.write(
      """
      import CBeeHive
      let size = MemoryLayout<beehive_image>.size + MemoryLayout<beehive_record_head>.size
      """, as: "sizes.swift")
    try Command.output(
      "swiftc",
      Compiler.includes + [
        "-module-cache-path", "cache", "-parse-as-library", "-c", source.path, "-o", "x.o",
      ], in: folder.url)
    #expect(try !ObjectFile(folder.place("x.o")).hasTraces)
  }
}
