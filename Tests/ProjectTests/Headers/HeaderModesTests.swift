import Foundation
import TestSupport
import Testing

@Suite("BeeHive.h compiles in silence and yields the same records in every mode")
struct HeaderModesTests {
  /// A compiler, a standard and options that an author may use.
  struct Mode: Sendable, CustomTestStringConvertible {
    var compiler: Compiler
    var standard: String
    var options: String

    var testDescription: String { "\(compiler.rawValue) -std=\(standard) \(options)" }

    /// Returns every standard of every compiler, with each of these options.
    static func all(_ options: String...) -> [Self] {
      Compiler.allCases.flatMap { compiler in
        compiler.standards.flatMap { standard in
          options.map { Self(compiler: compiler, standard: standard, options: $0) }
        }
      }
    }

    func compile(_ source: URL, in folder: Folder? = nil) throws -> URL {
      let options = options.split(separator: " ").map(String.init)
      return try compiler.compile(source, standard: standard, options, in: folder)
    }
  }

  @Test(
    "every macro",
    arguments: Mode.all(
      "-fPIC -O0", "-fno-pic -O2", "-fPIE -O2 -fvisibility=hidden", "-fPIC -O2 -g"))
  func everyMacro(mode: Mode) throws {
    let object = try mode.compile(HeaderSource.everything)
    #expect(try Annotations(object).records == Annotations.expected())
  }

  @Test("a file that uses nothing has nothing", arguments: Mode.all(""))
  func unused(mode: Mode) throws {
    let folder = try Folder()
    let source = try folder.write(
      HeaderSource.include + "int ordinary_code = 1;\n", as: "ordinary.c")
    let object = try mode.compile(source, in: folder)
    #expect(try !ObjectFile(object).hasTraces)
  }

  /// An author in C++ wraps headers of C, even headers that do it themselves.
  @Test("a host, and headers that an author includes within extern \"C\"", arguments: Mode.all(""))
  func host(mode: Mode) throws {
    let folder = try Folder()
    let headers = "#include <BeeHive.h>\n#include <beehive/runtime.h>\n"
    let wrapped = "#ifdef __cplusplus\nextern \"C\" {\n\(headers)}\n#endif\n"
    let host = """
      struct greeter { int size; };
      int use(void);
      int use(void) {
        beehive_options options = BEEHIVE_OPTIONS;
        if (!beehive_start_with(&options)) return 1;
        return BEEHIVE_SERVICE_TABLE(Greeter, struct greeter)->size;
      }

      """
    let objects = try ["", wrapped].map { first in
      let source = try folder.write(first + headers + HeaderSource.twoModules + host, as: "host.c")
      return try Data(contentsOf: mode.compile(source, in: folder))
    }
    #expect(objects[0] == objects[1])
  }
}
