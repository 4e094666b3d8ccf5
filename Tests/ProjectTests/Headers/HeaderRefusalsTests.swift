import Foundation
import TestSupport
import Testing

@Suite("What an author gets wrong is refused in words")
struct HeaderRefusalsTests {
  /// Code that must not compile.
  struct Mistake: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: String
    /// What the compiler must say: one of these.
    var words: [String]
  }

  static let mistakes = [
    Mistake(
      testDescription: "attributes with commas",
      code: """
        static const beehive_module_operations o = {0};
        BEEHIVE_MODULE(a, &o, BEEHIVE_PRIORITY(1), BEEHIVE_LEVEL("basic"));
        """,
      words: ["no commas"]),
    Mistake(testDescription: "no name", code: "BeeHiveMod();", words: ["without a name"]),
    Mistake(
      testDescription: "no module name",
      code: """
        static const beehive_module_operations o = {0};
        BEEHIVE_MODULE(, &o);
        """,
      words: ["has no name"]),
    Mistake(
      testDescription: "no operations", code: "BEEHIVE_MODULE(a);", words: ["has no operations"]),
    Mistake(
      testDescription: "no function", code: "BEEHIVE_ROUTE(\"app://a\");",
      words: ["has no function"]),
    Mistake(
      testDescription: "a module's name in quotes",
      code: """
        static const beehive_module_operations o = {0};
        BEEHIVE_MODULE("log", &o);
        """,
      words: ["without quotes"]),
    Mistake(
      testDescription: "a service's name in quotes",
      code: "static const int one = 1;\nBEEHIVE_SERVICE(\"Clock\", Wall, &one);",
      words: ["without quotes"]),
    Mistake(
      testDescription: "a service's implementation in quotes",
      code: "static const int one = 1;\nBEEHIVE_SERVICE(Clock, \"Wall\", &one);",
      words: ["without quotes"]),
    Mistake(
      testDescription: "a factory's implementation in quotes",
      code: "BEEHIVE_SERVICE_FACTORY(Clock, \"Wall\", 0, 0);", words: ["without quotes"]),
    Mistake(
      testDescription: "a Swift module's name in quotes", code: "BeeHiveMod(\"Shop.Log\");",
      words: ["without quotes"]),
    Mistake(
      testDescription: "a Swift service's name in quotes",
      code: "BeeHiveService(\"Shop.Clock\", Wall);", words: ["without quotes"]),
    Mistake(
      testDescription: "a table of another type",
      code: """
        struct other { long x; };
        static const struct other o = {0};
        BEEHIVE_MODULE(a, &o);
        """,
      words: ["beehive_module_operations", "incompatible"]),
    Mistake(
      testDescription: "an annotation inside a function",
      code: "void f(void);\nvoid f(void) { BeeHiveMod(X); }", words: ["not inside a function"]),
    Mistake(
      testDescription: "a record inside a block of a function",
      code: """
        static const beehive_module_operations o = {0};
        int f(int a);
        int f(int a) {
          if (a) { BEEHIVE_MODULE(a, &o); }
          return a;
        }
        """,
      words: ["not inside a function"]),
  ]

  private func expectRefusal(
    _ code: String, by compiler: Compiler, _ options: [String], words: [String]
  ) throws {
    let folder = try Folder()
    defer { folder.remove() }
    let source = try folder.write(HeaderSource.include + code + "\n", as: "wrong.c")
    let outcome = try compiler.run(
      ["-x", compiler.language] + Compiler.includes + options + ["-c", source.path, "-o", "x.o"],
      in: folder)
    #expect(outcome.status == 1, "\(outcome)")
    #expect(words.contains { outcome.errors.contains($0) }, "\(outcome)")
  }

  @Test("mistakes", arguments: mistakes, Compiler.allCases)
  func refused(mistake: Mistake, compiler: Compiler) throws {
    try Needs.programs(compiler.rawValue)
    try expectRefusal(
      mistake.code, by: compiler, ["-std=\(compiler.oldest)", "-Werror"], words: mistake.words)
  }

  @Test(
    "standards and compilers that cannot work",
    arguments: [
      (Compiler.gcc, ["-std=gnu11", "-fgnu89-inline"], "inline functions of C99"),
      (.gxx, ["-std=c++14"], "needs C++17"),
      (
        .clang, ["-Wno-builtin-macro-redefined", "-D__has_attribute(name)=0"],
        "use gcc 11 or clang 13"
      ),
    ])
  func standards(compiler: Compiler, options: [String], words: String) throws {
    try Needs.programs(compiler.rawValue)
    try expectRefusal(HeaderSource.twoModules, by: compiler, options, words: [words])
  }

  @Test("by the author's word, sections need not be retained", .needs("gcc")) func retain() throws {
    let folder = try Folder()
    defer { folder.remove() }
    let source = try folder.write(HeaderSource.include + HeaderSource.twoModules, as: "two.c")
    let object = try Compiler.gcc.compile(source, ["-DBEEHIVE_WITHOUT_RETAIN"], in: folder)
    let sections = try ObjectFile(object).sections
    #expect(sections.contains { $0.name == "BeehiveMods" })
    #expect(sections.filter { $0.flags & ObjectFile.retained != 0 }.map(\.name) == [])
  }
}
