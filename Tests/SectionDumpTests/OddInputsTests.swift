import Foundation
import TestSupport
import Testing

/// Rare files and options that once caused trouble.
@Suite("Odd inputs")
struct OddInputsTests {
  /// Returns an archive of members, each with the name and the size in its header, and its bytes.
  private static func archive(
    _ members: [(String, String, Data)], isThin: Bool = false
  ) -> Data {
    var archive = Data((isThin ? "!<thin>\n" : "!<arch>\n").utf8)
    for (name, size, bytes) in members {
      archive += Fixtures.memberHeader(name, size) + bytes
      if !bytes.count.isMultiple(of: 2) { archive.append(0x0a) }
    }
    return archive
  }

  private static let object = Result {
    try Fixtures.bytes(Fixtures.build(Fixtures.annotated, as: "again.o", ["-c"]))
  }

  /// Returns archives with one good object, and the error reported next to its records.
  private static func archives() throws -> [(archive: Data, error: String)] {
    let object = try Self.object.get()
    let size = "\(object.count)"
    let names = Data("again.o/\n".utf8)
    return [
      (archive([("#1/99999", size, object), ("good.o/", size, object)]), "99999"),
      // The archive ends within its last member.
      (archive([("cut.o/", "9999999999", object)]), "9999999999"),
      (
        archive(
          [("//", "\(names.count)", names)]
            + Array(repeating: ("/0", "4096", Data()), count: 200), isThin: true),
        "again.o is named once more"
      ),
    ]
  }

  @Test(
    "A member with a bad name, size or namesake hides no other, and is reported", arguments: 0..<3)
  func badMember(number: Int) throws {
    let (archive, error) = try Self.archives()[number]
    try archive.write(to: Fixtures.place("bad-member-\(number).a"))
    let outcome = try Tool.run(["--format", "json", "bad-member-\(number).a"]).expect(
      2, errors: error)
    let lines = try Tool.files(of: outcome).flatMap { try Tool.lines($0) }
    #expect(lines == Fixtures.annotatedLines)
  }

  @Test("Members that point again and again at one text are read in proportion to their archive")
  func crowded() throws {
    let object = try Fixtures.bytes(
      Fixtures.build(
        """
        .section BeehiveMods, "aw"
        .rept 256
        .quad text
        .endr
        .section .rodata.text, "a"
        text: .fill 2000, 1, 0x78
        .byte 0

        """, as: "crowded.o", suffix: "s", ["-c"]))
    let archive = Self.archive(
      Array(repeating: ("crowded.o/", "\(object.count)", object), count: 40))
    try archive.write(to: Fixtures.place("crowded.a"))
    for command in [["records", "--format", "json"], ["diff", "crowded.a"]] {
      let outcome = try Tool.run(command + ["crowded.a"]).expect(
        2, errors: "The images before it have entries")
      #expect(outcome.output.utf8.count < 16 * archive.count)
    }
  }

  @Test("A member of a thin archive that is there and cannot be opened is named")
  func unopenedMember() throws {
    let object = try Fixtures.build("int x;", as: "unopened.o", ["-c"])
    try Fixtures.tool("ar", ["rcT", "unopened.a", object])
    try FileManager.default.removeItem(at: Fixtures.place(object))
    try Fixtures.folder(object)
    try Tool.run(["unopened.a"])
      .expect(2, errors: ": The member unopened.o is not read: It is a directory; ")
  }

  @Test("A size that is no number is named")
  func badSize() throws {
    try Self.archive([("cut.o/", "-1", Data())]).write(to: Fixtures.place("bad-size.a"))
    #expect(try Tool.run(["bad-size.a"]).errors.contains("A member's size is to be \"-1"))
  }

  @Test("Members that share one very long name cannot make a report of any size")
  func sharedNames() throws {
    let names = Data(repeating: UInt8(ascii: "n"), count: 4000) + Data("/\n".utf8)
    let magic = Data([0x7f, 0x45, 0x4c, 0x46])
    let archive = Self.archive(
      [("//", "\(names.count)", names)] + Array(repeating: ("/0", "4", magic), count: 2000))
    try archive.write(to: Fixtures.place("shared-names.a"))
    let outcome = try Tool.run(["shared-names.a"]).expect(
      2, errors: "Too many members share one table of names")
    #expect(outcome.errors.utf8.count < 10 * archive.count)
  }

  @Test("What is left of a section behind its last whole word is shown")
  func remainder() throws {
    let name = try Fixtures.build(
      """
      .section odd, "a"
      .quad 1
      .byte 0x11, 0x22, 0x33

      """, as: "odd-size.so", suffix: "s", ["-shared"])
    let entries = try Tool.entries(["strings", "--section", "odd", name])
    #expect(entries.map { $0["raw"] as? String } == ["0x1", "0x332211"])
    #expect(entries.last?["note"] as? String == "3 bytes behind the last whole word")
  }

  @Test("Intermediate code that says so by its name is skipped in a directory, and nowhere else")
  func bitcode() throws {
    let folder = try Fixtures.folder("with-bitcode")
    let bytes = Data([0x42, 0x43, 0xc0, 0xde, 0, 0, 0, 0])
    try bytes.write(to: folder.appendingPathComponent("query.bc"))
    #expect(try Tool.run(["verify", "-r", "with-bitcode"]).status == 0)
    #expect(try Tool.run(["verify", "with-bitcode/query.bc"]).status == 2)
    try bytes.write(to: folder.appendingPathComponent("slim.o"))
    let outcome = try Tool.run(["verify", "-r", "with-bitcode"]).expect(2, output: "slim.o")
    #expect(!outcome.output.contains("query.bc"))
  }
}
