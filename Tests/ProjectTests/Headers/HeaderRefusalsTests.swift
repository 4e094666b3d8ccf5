import Foundation
import TestSupport
import Testing

@Suite("What an author gets wrong is refused in words")
struct HeaderRefusalsTests {
  /// Code that must not compile, and the expected words. The compiler must print one of them.
  static let mistakes: [(code: String, words: [String])] = [
    (#"BEEHIVE_MODULE(a, &o, BEEHIVE_PRIORITY(1), BEEHIVE_LEVEL("basic"));"#, ["no commas"]),
    ("BeeHiveMod();", ["without a name"]),
    ("BEEHIVE_MODULE(, &o);", ["has no name"]),
    ("BEEHIVE_MODULE(a);", ["has no operations"]),
    (#"BEEHIVE_ROUTE("app://a");"#, ["has no function"]),
    (#"BEEHIVE_PLUGIN("com.example.a");"#, ["has no version"]),
    (#"BEEHIVE_PLUGIN("", "1");"#, ["has no id"]),
    (
      #"BEEHIVE_PLUGIN("com.example.a", "1", BEEHIVE_NAME("A"), BEEHIVE_ICON("a"));"#, ["no commas"]
    ),
    (#"BEEHIVE_MODULE("log", &o);"#, ["without quotes"]),
    (#"BEEHIVE_SERVICE("Clock", Wall, &one);"#, ["without quotes"]),
    (#"BEEHIVE_SERVICE(Clock, "Wall", &one);"#, ["without quotes"]),
    (#"BEEHIVE_SERVICE_FACTORY(Clock, "Wall", 0, 0);"#, ["without quotes"]),
    (#"BeeHiveMod("Shop.Log");"#, ["without quotes"]),
    (#"BeeHiveService("Shop.Clock", Wall);"#, ["without quotes"]),
    // A table of another type.
    ("BEEHIVE_MODULE(a, &one);", ["beehive_module_operations", "incompatible"]),
    ("void f(void);\nvoid f(void) { BeeHiveMod(X); }", ["not inside a function"]),
    (
      "int f(int a);\nint f(int a) {\n  if (a) { BEEHIVE_MODULE(a, &o); }\n  return a;\n}",
      ["not inside a function"]
    ),
  ]

  private static let tables = """
    static const beehive_module_operations o = {0};
    static const int one = 1;

    """

  private func expectRefusal(
    _ code: String, by compiler: Compiler, _ options: [String], words: [String]
  ) throws {
    let folder = try Folder()
    let source = try folder.write(HeaderSource.include + Self.tables + code + "\n", as: "wrong.c")
    let outcome = try compiler.run(
      ["-x", compiler.language] + Compiler.includes + options + ["-c", source.path, "-o", "x.o"],
      in: folder
    ).expect(1)
    #expect(words.contains { outcome.errors.contains($0) }, "\(outcome)")
  }

  @Test("mistakes", arguments: mistakes, Compiler.allCases)
  func refused(mistake: (code: String, words: [String]), compiler: Compiler) throws {
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
    try expectRefusal(HeaderSource.twoModules, by: compiler, options, words: [words])
  }

  @Test("by the author's word, sections need not be retained", .needs("gcc")) func retain() throws {
    let folder = try Folder()
    let source = try folder.write(HeaderSource.include + HeaderSource.twoModules, as: "two.c")
    let object = try Compiler.gcc.compile(source, ["-DBEEHIVE_WITHOUT_RETAIN"], in: folder)
    let sections = try ObjectFile(object).sections
    #expect(sections.contains { $0.name == "BeehiveMods" })
    #expect(sections.filter { $0.flags & ObjectFile.retained != 0 }.map(\.name) == [])
  }
}
