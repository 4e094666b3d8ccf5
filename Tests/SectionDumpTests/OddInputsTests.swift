import Foundation
import TestSupport
import Testing

/// Files and options that are seldom seen, and cost something once.
@Suite("Odd inputs")
struct OddInputsTests {
  private static let interpreter = """
    const char interpreter[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2";
    """

  @Test("A library that can be run, as libc.so.6 can, is a library: its duplicates are found")
  func runnableLibrary() throws {
    let source = Fixtures.annotated + "\n" + Self.interpreter
    let names = try ["runnable-one.so", "runnable-two.so"].map { name in
      try Fixtures.build(source, as: name, ["-shared", "-fPIC", "-Wl,-soname,\(name)"])
    }
    #expect(try Tool.files(names).map { $0["type"] as? String } == ["shared", "shared"])
    let outcome = try Tool.run(["verify", "--format", "csv"] + names)
    #expect(outcome.status == 1)
    #expect(outcome.output.split(separator: "\n").count { $0.hasPrefix("error,duplicate-") } == 4)
  }

  private static func member(_ bytes: Data) -> Data {
    bytes.count % 2 == 0 ? bytes : bytes + [0x0a]
  }

  @Test("A member of an archive whose name is bad hides none behind it")
  func badName() throws {
    let object = try Fixtures.bytes(Fixtures.build(Fixtures.annotated, as: "odd.o", ["-c"]))
    let archive =
      Data("!<arch>\n".utf8) + Fixtures.memberHeader("#1/99999", "\(object.count)")
      + Self.member(object) + Fixtures.memberHeader("good.o/", "\(object.count)") + object
    try expectRecords(of: archive, as: "bad-name.a", beside: "99999")
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
    let member = Fixtures.memberHeader("crowded.o/", "\(object.count)") + Self.member(object)
    let archive = (0..<40).reduce(Data("!<arch>\n".utf8)) { all, _ in all + member }
    try archive.write(to: Fixtures.place("crowded.a"))
    for command in [["records", "--format", "json"], ["diff", "crowded.a"]] {
      let outcome = try Tool.run(command + ["crowded.a"])
      #expect(outcome.status == 2 && outcome.errors.contains("The images before it have entries"))
      #expect(outcome.output.utf8.count < 16 * archive.count)
    }
  }

  @Test("A member of a thin archive that is there and cannot be opened is named")
  func unopenedMember() throws {
    let object = try Fixtures.build("int x;", as: "unopened.o", ["-c"])
    try Fixtures.tool("ar", ["rcT", "unopened.a", object])
    try FileManager.default.removeItem(at: Fixtures.place(object))
    try Fixtures.folder(object)
    let outcome = try Tool.run(["unopened.a"])
    #expect(outcome.errors.contains(": The member unopened.o is not read: It is a directory; "))
  }

  /// An archive tells the records of its member, and what is wrong beside them.
  private func expectRecords(of archive: Data, as name: String, beside error: String) throws {
    try archive.write(to: Fixtures.place(name))
    let outcome = try Tool.run(["--format", "json", name])
    #expect(outcome.status == 2 && outcome.errors.contains(error))
    let lines = try Tool.files(of: outcome).flatMap { try Tool.lines($0) }
    #expect(lines == Fixtures.annotatedLines)
  }

  @Test("What is there of a member that the archive ends in is read")
  func cutMember() throws {
    let object = try Fixtures.bytes(Fixtures.build(Fixtures.annotated, as: "cut.o", ["-c"]))
    let archive = Data("!<arch>\n".utf8) + Fixtures.memberHeader("cut.o/", "9999999999") + object
    try expectRecords(of: archive, as: "cut-member.a", beside: "9999999999")
  }

  @Test("A size that is no number is named")
  func badSize() throws {
    try (Data("!<arch>\n".utf8) + Fixtures.memberHeader("cut.o/", "-1")).write(
      to: Fixtures.place("bad-size.a"))
    #expect(try Tool.run(["bad-size.a"]).errors.contains("A member's size is to be \"-1"))
  }

  @Test("A thin archive that names one file again and again has it read once")
  func namedAgain() throws {
    _ = try Fixtures.build(Fixtures.annotated, as: "again.o", ["-c"])
    let names = Data("again.o/\n".utf8)
    var archive =
      Data("!<thin>\n".utf8) + Fixtures.memberHeader("//", "\(names.count)") + Self.member(names)
    for _ in 0..<200 { archive += Fixtures.memberHeader("/0", "4096") }
    try expectRecords(of: archive, as: "again.a", beside: "again.o is named once more")
  }

  @Test("Members that share one very long name cannot make a report of any size")
  func sharedNames() throws {
    let names = Data(repeating: UInt8(ascii: "n"), count: 4000) + Data("/\n".utf8)
    var archive =
      Data("!<arch>\n".utf8) + Fixtures.memberHeader("//", "\(names.count)") + Self.member(names)
    for _ in 0..<2000 {
      archive += Fixtures.memberHeader("/0", "4") + Data([0x7f, 0x45, 0x4c, 0x46])
    }
    try archive.write(to: Fixtures.place("shared-names.a"))
    let outcome = try Tool.run(["shared-names.a"])
    #expect(outcome.status == 2 && outcome.errors.contains("share the bytes of their names"))
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
    let outcome = try Tool.run(["verify", "-r", "with-bitcode"])
    #expect(outcome.status == 2 && outcome.output.contains("slim.o"))
    #expect(!outcome.output.contains("query.bc"))
  }
}
