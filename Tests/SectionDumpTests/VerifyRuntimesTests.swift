import Foundation
import TestSupport
import Testing

@Suite("What section-dump verify finds of runtimes, and of libraries without entries")
struct VerifyRuntimesTests {
  private static let entry = """
    #include <BeeHive.h>
    static const int table = 1;
    BEEHIVE_SERVICE(Clock, Wall, &table);

    """
  private static let main = "int main(void) { return 0; }"

  /// Builds a file that needs a library of this name, whatever the library holds.
  private func file(
    _ name: String, needing library: String?, _ source: String = main, _ options: [String] = []
  ) throws -> String {
    let kind = name.hasSuffix(".so") ? ["-shared", "-fPIC"] : []
    guard let library else { return try Fixtures.build(source, as: name, kind + options) }
    let stub = try Fixtures.build(
      "int stub;", as: "stub-\(library)", ["-shared", "-fPIC", "-Wl,-soname,\(library)"])
    return try Fixtures.build(
      source, as: name,
      kind + options + ["-Wl,--no-as-needed", Fixtures.place(stub).path])
  }

  @Test("Two names of libBeeHive.so among files of one process", arguments: [[], ["--isolate"]])
  func hives(options: [String]) throws {
    let entry = Self.entry
    let old = try file("runtime-old.so", needing: "libBeeHive.so", entry)
    let new = try file(
      "runtime-new.so", needing: "libBeeHive.so.0",
      entry.replacingOccurrences(of: "Clock", with: "Time"))
    let none = try file("runtime-none.so", needing: nil, "int plain;")
    let (host, other) = (
      try file("runtime-host", needing: "libBeeHive.so.0"),
      try file("runtime-other", needing: "libBeeHive.so")
    )
    #expect(try Tool.found(options + [host, new, none]) == [])
    #expect(try Tool.found(options + [host, other, none]) == [])
    #expect(try Tool.found(options + [host, old]) == ["warning second-runtime \(old)"])
    #expect(try Tool.found(options + [new, old]) == ["warning second-runtime \(old)"])
    #expect(
      try Tool.found(["--strict", old, host], status: 1) == ["warning second-runtime \(old)"])
    let said = try Tool.run(["verify", host, old]).output
    #expect(said.contains("it needs libBeeHive.so, and \(host) needs libBeeHive.so.0"), "\(said)")
    // Libraries of the runtime, which hosts link, are not expected to register entries.
    let runtime = try file(
      "runtime-part.so", needing: "libBeeHive.so", "int part;", ["-Wl,-soname,libBeeHiveRouting.so"]
    )
    #expect(try Tool.found(options + [host, runtime]) == [])
  }

  @Test("An executable with Swift's runtime inside, beside libraries that need the shared one")
  func swift() throws {
    let library = try file("swift-library.so", needing: "libswiftCore.so", "int plain;")
    let sections = """
      \(Self.main)
      __attribute__((used, section("swift5_reflstr"))) static const char names[] = "x";
      """
    let holding = try file("swift-static", needing: nil, sections)
    let sharing = try file("swift-shared", needing: "libswiftCore.so", sections)
    let plain = try file("swift-plain", needing: nil)
    #expect(
      try Tool.found([holding, library], status: 1) == ["error static-swift-runtime \(holding)"])
    #expect(try Tool.found([sharing, plain, library]) == [])
    #expect(try Tool.found([holding, plain]) == [])
    #expect(
      try Tool.run(["verify", library, holding]).output.contains("without --static-swift-stdlib"))
  }

  @Test("A library that was named has no entries")
  func withoutEntries() throws {
    let needing = try file("bare-needing.so", needing: "libBeeHive.so.0", "int plain;")
    let plain = try file("bare-plain.so", needing: nil, "int plain;")
    let dropped = try file(
      "bare-dropped.so", needing: nil, "#include <BeeHive.h>\nBEEHIVE_IMAGE_ONCE\nextern int plain;"
    )
    let full = try file("bare-full.so", needing: "libBeeHive.so.0", Self.entry)
    let host = try file("bare-host", needing: "libBeeHive.so.0")
    #expect(
      try Tool.found([needing, plain, dropped, full, host]) == [
        "remark without-entries \(needing)", "warning without-entries \(dropped)",
      ])
    #expect(
      try Tool.found(["--require-entries", needing, plain, full, host], status: 1) == [
        "error without-entries \(needing)", "error without-entries \(plain)",
      ])
    #expect(try Tool.found(["--require-entries", "--strict", full, host]) == [])
    // Files found by a walk may lack entries, but at least one must have some.
    let folder = try Fixtures.folder("bare-folder")
    func expect(_ options: String..., finds findings: String...) throws {
      let found = try Tool.found(options + ["-r", "bare-folder"], status: findings.isEmpty ? 0 : 1)
      #expect(found == findings)
    }
    // A gate over nothing gets a warning.
    try expect("--strict", finds: "warning without-entries (all files)")
    try Fixtures.bytes(needing).write(to: folder.appendingPathComponent("one.so"))
    #expect(try Tool.found(["-r", "bare-folder"]) == [])
    try expect("--require-entries", finds: "error without-entries (all files)")
    #expect(try Tool.found(["--require-entries", "-r", "bare-folder", full]) == [])
    try Fixtures.bytes(dropped).write(to: folder.appendingPathComponent("two.so"))
    try expect("--strict", finds: "warning without-entries bare-folder/two.so")
  }
}
