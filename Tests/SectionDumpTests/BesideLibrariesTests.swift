import Foundation
import TestSupport
import Testing

/// Files next to libraries in a build tree or a package: core files, split debug information, and names longer than a
/// screen.
@Suite struct BesideLibrariesTests {
  /// Makes a folder with a library and the files that `make` adds to it.
  private static func folder(
    _ name: String, _ make: (_ library: URL, _ folder: URL) throws -> Void
  ) throws -> URL {
    let folder = try Fixtures.folder(name)
    let library = Fixtures.place(try Fixtures.annotatedLibrary("\(name).so"))
    let copy = folder.appendingPathComponent("libshop.so")
    try? FileManager.default.removeItem(at: copy)
    try FileManager.default.copyItem(at: library, to: copy)
    try make(copy, folder)
    return folder
  }

  @Test("A core file registers nothing: named it is told so by each command, found it is skipped")
  func cores() throws {
    let folder = try Self.folder("beside-core") { library, folder in
      var bytes = try Data(contentsOf: library)
      bytes[16] = 4  // ET_CORE
      try bytes.write(to: folder.appendingPathComponent("core"))
    }
    let (core, library) = ("beside-core/core", "beside-core/libshop.so")
    for arguments in [
      ["records", core], ["verify", core], ["graph", core], ["diff", core, library],
    ] {
      let outcome = try Tool.run(arguments).expect(2)
      #expect((outcome.output + outcome.errors).contains("It is a core file, and"), "\(arguments)")
      #expect((outcome.output + outcome.errors).contains("section-dump live --core"))
    }
    let alone = try Tool.run(["verify", library]).status
    try Tool.run(["verify", "-r", folder.path]).expect(alone, output: "1 skipped")
    try Data(contentsOf: folder.appendingPathComponent("core")).prefix(9000)
      .write(to: folder.appendingPathComponent("core"))
    for command in [["records"], ["sections"], ["strings", "--section", "Beehive*"]] {
      #expect(try Tool.run(command + ["-r", folder.path]).status == 0, "\(command)")
    }
  }

  @Test("So does split debug information, which is found beside its library", .needs("objcopy"))
  func debugInformation() throws {
    let folder = try Self.folder("beside-debug") { library, folder in
      let debug = folder.appendingPathComponent("libshop.debug").path
      _ = try Fixtures.tool("objcopy", ["--only-keep-debug", library.path, debug])
    }
    try Tool.run(["verify", "beside-debug/libshop.debug"]).expect(
      2, output: "It is split debug information", "[no-entries]")
    for command in ["verify", "records", "graph"] {
      #expect(try Tool.run([command, "-r", folder.path]).status == 0, "\(command)")
    }
  }

  @Test("One long name makes no other line long")
  func wideTables() throws {
    let long = String(repeating: "x", count: 50_000)
    func variable(_ number: Int, in section: String) -> String {
      "__attribute__((section(\"\(section)\"))) int v\(number) = 1;\n"
    }
    let text = variable(0, in: long) + (1..<500).map { variable($0, in: "s\($0)") }.joined()
    let object = try Fixtures.build(text, as: "wide.o", ["-c"])
    let outcome = try Tool.run(["sections", object])
    #expect(outcome.output.contains(long))
    #expect(outcome.output.utf8.count < 250_000)
  }

  @Test("A build of which no entry can be read is not compared", .needs("objcopy"))
  func unreadBuild() throws {
    let library = try Fixtures.annotatedLibrary("whole.so")
    // By its headers the file has sections in memory, but it has none of their bytes.
    _ = try Fixtures.tool("objcopy", ["--only-keep-debug", library, "cut.so"])
    let outcome = try Tool.run(["diff", "cut.so", library]).expect(2)
    #expect(outcome.output.hasPrefix("not compared"), "\(outcome)")
  }
}
