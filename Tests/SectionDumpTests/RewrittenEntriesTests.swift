import TestSupport
import Testing

/// A process has other bytes in these entries than the file.
@Suite("Entries that a relocation writes over")
struct RewrittenEntriesTests {
  /// Builds a library of two pointers and two records. The loader writes a word at one more location.
  private static func library(_ place: String) throws -> String {
    #if arch(x86_64)
      let type = "R_X86_64_64"
    #else
      let type = "R_AARCH64_ABS64"
    #endif
    let relocation = place.isEmpty ? "" : ".reloc \(place), \(type), elsewhere\n"
    return try Fixtures.build(
      Fixtures.source("rewritten.s") + relocation, as: "rewritten-\(place).so", suffix: "s",
      ["-shared", "-nostdlib"])
  }

  @Test(
    "are refused, and the others read",
    arguments: [
      ("", ["Moved", "Kept", "audio", "net"]), ("text+8", ["Moved", "Kept", "audio", "net"]),
      ("text+5", ["Kept", "audio", "net"]), ("slots+4", ["audio", "net"]),
      ("slots+12", ["Moved"]), ("record+4", ["Moved", "Kept"]),
      ("record+12", ["Moved", "Kept", "net"]), ("record+17", ["Moved", "Kept", "net"]),
      ("record+32", ["Moved", "Kept", "net"]), ("record+33", ["Moved", "Kept"]),
    ])
  func rewritten(place: String, names: [String]) throws {
    let outcome = try Tool.run([Self.library(place), "--format", "json"])
    let found = try Tool.lines(try #require(Tool.files(of: outcome).first))
    #expect(found == names.map { "module \($0) → – 0 {}" })
    #expect(outcome.status == (names.count == 4 ? 0 : 2))
    #expect((names.count == 4) != outcome.errors.contains(" writes over these bytes"))
  }
}
