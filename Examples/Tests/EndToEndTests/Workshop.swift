import Foundation

/// A folder for the libraries that one test builds.
struct Workshop: Sendable {
  let folder: Folder

  init() throws { folder = try Folder() }

  /// The options for the header that authors include, and for the header that fixtures share with hosts.
  static let headers = [
    "-I", Repository.headers,
    "-I", Repository.place("Examples/Contracts/Sources/CTestContracts/include").path,
  ]

  /// Builds a shared library of C as an author would, and returns its path.
  ///
  /// `options` come after the source, so that the linker finds libraries for it.
  @discardableResult
  func library(_ name: String, _ text: String, _ options: String...) throws -> String {
    try library(name, from: [source(name, text)], options)
  }

  /// Builds a shared library from several files, in their order.
  @discardableResult
  func library(_ name: String, from files: [String], _ options: [String] = []) throws -> String {
    let path = folder.place("lib\(name).so").path
    try output(
      Compiler.program,
      ["-std=c11", "-shared", "-fPIC", "-g0", "-Wl,--build-id", "-Wl,--gc-sections", "-o", path]
        + Self.headers + files + options)
    return path
  }

  /// Compiles a file of C.
  func compile(_ source: String, as object: String) throws {
    try output(
      Compiler.program, ["-std=c11", "-c", "-fPIC", "-o", object, source] + Self.headers)
  }

  /// Writes a file of C and returns its path.
  func source(_ name: String, _ text: String) throws -> String {
    try folder.write(text, as: "\(name).c").path
  }

  /// Removes the section headers of a 64-bit ELF file: clears the reference to their table, which nothing else leads
  /// to.
  func dropSectionHeaders(of name: String) throws {
    var bytes = try Data(contentsOf: folder.place(name))
    // e_shoff; e_shnum and e_shstrndx.
    for field in [0x28..<0x30, 0x3C..<0x40] { bytes.resetBytes(in: field) }
    try folder.write(bytes, as: name)
  }

  /// Runs a tool in the folder and returns its output. The tool must succeed.
  @discardableResult
  func output(_ tool: String, _ arguments: [String]) throws -> String {
    try Command.output(tool, arguments, in: folder.url)
  }
}

/// Fixtures that many tests use.
enum Source {
  /// A record with 64 bytes of text, as C writes it without our header.
  static let record = """
    #include <stdint.h>
    struct head {
      uint32_t size; uint16_t version, kind; uint32_t flags, offset;
      const void *accessor, *context; char text[64];
    };
    #define RECORD __attribute__((used, retain, aligned(8), section("BeehiveRecords")))

    """

  /// Returns the source of a library whose one service is a table, and says `words`.
  static func speaker(
    _ service: String = "Speaker", says words: String = "hello", _ attributes: String = "\"\""
  ) -> String {
    """
    #include <BeeHive.h>
    #include "contract.h"
    static const char *say(void) { return "\(words)"; }
    static const struct speaker speaker = { say };
    BEEHIVE_SERVICE(\(service), Table, &speaker, \(attributes));
    """
  }
}
