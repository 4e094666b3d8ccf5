import Foundation
import TestSupport
import Testing

/// Sections of other projects, read slot by slot. Most are not arrays of pointers to strings.
@Suite("Sections that others made")
struct SlotsTests {
  /// A table of structures, functions, numbers, texts, and zero-initialized memory.
  private static let source = """
    #define IN(name) __attribute__((used, retain, section(name)))
    struct entry { const char *name; long number; };
    IN("table") static const struct entry a[] = { { "one", 1 }, { "two", 2 }, { 0, 3 } };
    static int own(void) { return 1; }
    extern int far(void);
    IN("functions") static int (*const b[])(void) = { own, far };
    IN("zeros") static long c[5000] = { 0 };
    IN("numbers") static long d[300] = { [0 ... 99] = 7, [200] = 5 };
    IN(".modinfo") static const char e[] = "license=MIT\\0author=somebody";
    int large[16 << 20];
    """

  private static let library = Result {
    try Fixtures.build(source, as: "slots.so")
  }

  /// Returns the entries of a section from the JSON output.
  private func entries(_ arguments: String...) throws -> [[String: Any]] {
    try Tool.entries(arguments + [Self.library.get()])
  }

  private func kinds(_ entries: [[String: Any]]) -> [String] {
    entries.map { "\($0["kind"] ?? "") \($0["repeats"] ?? "") \($0["string"] as? String ?? "–")" }
  }

  @Test("A table of structures is no damage: what is no pointer is a number")
  func structures() throws {
    let found = try entries("strings", "--section", "table")
    #expect(
      kinds(found) == [
        "pointer 1 one", "number 1 –", "pointer 1 two", "number 1 –", "null 1 –", "number 1 –",
      ])
    #expect(found[1]["raw"] as? String == "0x1" && found[1]["resolution"] as? String == "number")
    let arguments = ["strings", "--section", "table", try Self.library.get()]
    #expect(try Tool.run(arguments).expect(0).errors.isEmpty)
  }

  @Test("A table of structures is read by the size of its elements")
  func strides() throws {
    let one = try entries("strings", "--section", "table", "--stride", "16", "--at", "0")
    #expect(kinds(one) == ["pointer 1 one", "pointer 1 two", "null 1 –"])
    #expect(one.map { $0["index"] as? Int } == [0, 1, 2])
    let both = try entries(
      "strings", "--section", "table", "--stride", "16", "--at", "8", "--at", "0")
    #expect(both.map { $0["index"] as? Int } == [0, 0, 1, 1, 2, 2])
    let name = try Self.library.get()
    for (arguments, status, errors) in [
      (["--at", "8"], 64, "--at needs --stride"), (["--stride", "0"], 64, "must be positive"),
      (["--stride", "16", "--at", "16"], 64, "0 to 15"),
      (["--stride", "16", "--at", "12"], 2, "use --at 0 to 8, or a larger --stride.\n"),
      (["--stride", "7"], 2, "no room for a pointer of 8 bytes: use a larger --stride.\n"),
      (["--stride", "32"], 2, "has 48 bytes; name a --stride that divides it.\n"),
    ] {
      let outcome = try Tool.run(["strings", "--section", "table", name] + arguments).expect(
        status, errors: errors)
      #expect(!outcome.errors.contains("no file has"))
    }
  }

  @Test("A function is a symbol or code, never a text made of instructions")
  func functions() throws {
    let found = try entries("strings", "--section", "functions")
    #expect(kinds(found) == ["code 1 –", "import 1 –"])
    #expect(found[1]["symbol"] as? String == "far")
    let text = try Tool.run(["strings", "--section", "functions", Self.library.get()]).output
    #expect(text.contains("code 0x"))
  }

  @Test("Equal words that follow each other are one entry")
  func folded() throws {
    #expect(kinds(try entries("strings", "--section", "zeros")) == ["null 5000 –"])
    let found = try entries("hex", "--section", "numbers")
    #expect(kinds(found) == ["number 100 –", "null 100 –", "number 1 –", "null 99 –"])
    #expect(found.map { $0["index"] as? Int } == [0, 100, 200, 201])
    let name = try Self.library.get()
    let hex = try Tool.run(["hex", "--section", "zeros", name])
      .expect(0, output: "*  2499 more lines of the same")
    #expect(hex.output.utf8.count < 400)
    try Tool.run(["strings", "--section", "numbers", name]).expect(0, output: "[0…99]")
  }

  @Test("Texts that NUL ends are shown as readelf -p shows them")
  func texts() throws {
    let name = try Self.library.get()
    #expect(
      kinds(try entries("strings", "--section", ".modinfo")) == [
        "text 1 license=MIT", "text 1 author=somebody",
      ])
    for section in [".comment", ".dynstr", ".modinfo"] {
      let printed = try Fixtures.tool("readelf", ["-p", section, name]).split(separator: "\n")
        .compactMap { $0.firstMatch(of: /\[ *[0-9a-f]+\]  (.*)$/).map { String($0.1) } }
      #expect(!printed.isEmpty)
      let found = try entries("strings", "--section", section)
      #expect(found.map { $0["string"] as? String } == printed)
    }
  }

  @Test("A section without bytes is one line, and nothing is wrong", arguments: ["strings", "hex"])
  func zeros(command: String) throws {
    let outcome = try Tool.run([command, "--section", ".bss", Self.library.get()])
      .expect(0, output: "bytes of memory that start as zeros")
    #expect(outcome.errors.isEmpty && outcome.lines.count == 2 && outcome.output.utf8.count < 300)
    #expect(try entries(command, "--section", ".bss").isEmpty)
  }

  @Test("An address out of an executable that is never moved is a number", .needs("gcc"))
  func fixedAddress() throws {
    let source = """
      __attribute__((used, section("list"))) static const char *const a[] = {
        "one", (const char *)0x697562206f4720ff };
      int main(void) { return 0; }
      """
    let name = try Fixtures.build(source, as: "fixed", with: "gcc", ["-no-pie", "-fno-pie"])
    let outcome = try Tool.run(["strings", "--section", "list", "--format", "csv", name]).expect(0)
    #expect(outcome.lines.count == 3)
    #expect(outcome.lines[1].hasSuffix(",one,pointer,1,,3"))
    #expect(outcome.lines[2].contains("0x697562206f4720ff,number,,,,number"))
  }

  @Test("A word that a relocation writes in part is no number")
  func parts() throws {
    let source = """
      .section table, "aw"
      .long 7
      .quad text
      .long 9
      .quad 5
      .section .rodata
      text: .asciz "one"
      """
    let name = try Fixtures.build(
      source, as: "slots-parts.so", suffix: "s", ["-shared", "-nostdlib"])
    let found = try Tool.entries(["strings", "--section", "table", name])
    #expect(found.map { $0["kind"] as? String } == ["unresolved", "unresolved", "number"])
    #expect(found[0]["note"] as? String == "a relocation writes it from byte 4 on")
  }

  @Test("A word of an object that leads out of its section is no damage")
  func outside() throws {
    let source =
      "static const int a; const char *const words[] = { (const char *)&a + (1ul << 62) };"
    let object = try Fixtures.build(source, as: "slots-outside.o", ["-c", "-fno-pic"])
    try Tool.run(["strings", "--section", ".rodata*", object]).expect(
      0, output: "the word is no pointer")
  }

  @Test("An arrow says which word of the line it belongs to")
  func arrows() throws {
    let output = try Tool.run(["hex", "--section", "functions", Self.library.get()]).output
    #expect(output.contains(/→ \[0\] code 0x[0-9a-f]+, \[1\] far\n/))
    // The structure of a module begins with its size, which is not text.
    let records = try Tool.run([
      "hex", "--section", "BeehiveRecords", Fixtures.annotatedLibrary("arrows.so"),
    ])
    #expect(records.output.contains(/→ \[[0-9]+\] 0x[0-9a-f]+\n/), "\(records.output)")
  }

  @Test("A machine whose relocations are not known is named, and its bytes are shown")
  func unknownMachine() throws {
    var bytes = try Fixtures.bytes(Self.library.get())
    (bytes[18], bytes[19]) = (0x34, 0x34)
    try bytes.write(to: Fixtures.place("unknown-machine.so"))
    for command in ["strings", "hex"] {
      let arguments = [command, "--section", "table", "unknown-machine.so"]
      let outcome = try Tool.run(arguments).expect(
        2, errors: "does not know the relocations of machine-13364")
      #expect(outcome.errors.split(separator: "\n").count == 1, "one cause is told once")
      let found = try Tool.entries(arguments)
      #expect(found.map { $0["kind"] as? String }.contains("unresolved"))
      #expect(found.first?["raw"] as? String != nil)
    }
  }

  @Test(
    "A section that claims more than the file has costs what the file has",
    .limitsMemory,
    arguments: ["strings", "hex"], ["table", "json"])
  func claims(command: String, format: String) throws {
    let name = "claims-\(command)-\(format).so"
    var file = try LinkedBytes(Fixtures.place(Self.library.get()).path)
    let header = try #require(file.sections().first { $0.name == "table" }).header
    file.put(64 << 20, at: header + 32)
    try file.write(to: Fixtures.place(name))
    let outcome = try Tool.limited(
      [command, "--section", "table", "--format", format, name], kilobytes: 512_000
    ).expect(
      2, errors: "The file ends before the section's 67108864 bytes do.", output: "one", "two")
    #expect(outcome.output.utf8.count < file.bytes.count * 40)
  }
}
