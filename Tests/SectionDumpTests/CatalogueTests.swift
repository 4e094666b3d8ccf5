import Foundation
import TestSupport
import Testing

/// `section-dump catalogue`, beside what hosts make of the file that it writes.
@Suite("catalogue")
struct CatalogueTests {
  private static let file = "beehive-catalogue.json"

  /// A directory with a plugin and a file that is none.
  private static func directory() throws -> Folder {
    let folder = try Folder()
    try Compiler.compile(
      Fixtures.annotated, as: "shop.so", in: folder.url,
      ["-shared", "-fPIC", "-Wl,--build-id", "-I", Repository.headers])
    try? FileManager.default.removeItem(at: folder.place("shop.so.source.c"))
    try folder.write("shop", as: "notes.txt")
    return folder
  }

  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test("It writes what the plugins offer beside them, and shows every file")
  func writes() throws {
    let folder = try Self.directory()
    let outcome = try Tool.run(["catalogue", folder.path])
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.lines.first == "\(folder.path)/\(Self.file) tells of 1 plugin")
    #expect(outcome.output.contains("notes.txt  –        –        It is no object file."))
    let url = folder.place(Self.file)
    let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
    #expect(mode as? Int == 0o644)
    let written = try Self.object(String(contentsOf: url, encoding: .utf8))
    #expect(written["beehiveCatalogue"] as? Int == 1)
    let files = try #require(written["files"] as? [[String: Any]])
    #expect(files.map { $0["file"] as? String } == ["shop.so"])
    #expect((files.first?["records"] as? [Any])?.count == Fixtures.annotatedLines.count)
    // Nothing else is left, and what is there does not count as a plugin.
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == [Self.file, "notes.txt", "shop.so"])
    let before = try Data(contentsOf: url)
    #expect(try Tool.run(["catalogue", folder.path]).output == outcome.output)
    #expect(try Data(contentsOf: url) == before)
  }

  @Test("What a process of the same number has left behind keeps it from nothing")
  func leftovers() throws {
    let folder = try Self.directory()
    let script = "touch \"$1/\(Self.file).$$\"; exec \"$0\" catalogue \"$1\""
    let outcome = try Command.run("sh", ["-c", script, Repository.sectionDump, folder.path])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(FileManager.default.fileExists(atPath: folder.place(Self.file).path))
  }

  @Test("--dry-run shows the same and writes nothing; json has what is written")
  func dryRun() throws {
    let folder = try Self.directory()
    let shown = try Tool.run(["catalogue", "--dry-run", "--format", "json", folder.path])
    #expect(shown.status == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.place(Self.file).path))
    let document = try Self.object(shown.output)
    let catalogue = try #require((document["catalogues"] as? [[String: Any]])?.first)
    #expect(document["schema"] as? Int == 1 && catalogue["directory"] as? String == folder.path)
    let others = try #require(catalogue["others"] as? [[String: Any]])
    #expect(others.map { $0["code"] as? String } == ["not-an-object"])
    #expect(try Tool.run(["catalogue", folder.path]).status == 0)
    let written = try Self.object(
      String(contentsOf: folder.place(Self.file), encoding: .utf8))
    #expect(written["files"] as? NSArray == catalogue["files"] as? NSArray)
  }

  @Test("A stored catalogue is not taken over: the files are read")
  func forged() throws {
    let folder = try Self.directory()
    #expect(try Tool.run(["catalogue", folder.path]).status == 0)
    let url = folder.place(Self.file)
    let text = try String(contentsOf: url, encoding: .utf8)
    try Data(text.replacing("\"name\":\"", with: "\"name\":\"Forged").utf8).write(to: url)
    #expect(try Tool.run(["catalogue", folder.path]).status == 0)
    #expect(try String(contentsOf: url, encoding: .utf8) == text)
  }

  @Test("A damaged file, a malformed entry and a directory that is not there are status 2")
  func failures() throws {
    let folder = try Self.directory()
    let library = try Data(contentsOf: folder.place("shop.so"))
    try folder.write(library.prefix(library.count / 2), as: "cut.so")
    let cut = try Tool.run(["catalogue", folder.path, "/nowhere"])
    #expect(cut.status == 2)
    #expect(cut.errors.contains("cut.so") && cut.errors.contains("/nowhere"))
    // What could be read is written all the same.
    #expect(cut.lines.first?.hasSuffix("tells of 1 plugin") == true)
    try FileManager.default.removeItem(at: folder.place("cut.so"))
    try Compiler.compile(
      "#include <BeeHive.h>\nBEEHIVE_MODULE(odd, 0);", as: "odd.so", in: folder.url,
      ["-shared", "-fPIC", "-w", "-I", Repository.headers])
    let odd = try Tool.run(["catalogue", folder.path])
    #expect(odd.status == 2 && odd.errors.contains("leads to no structure"))
    #expect(try Tool.run(["catalogue"]).status == 64)
  }
}
