import Foundation
import TestSupport
import Testing

/// One view of a section's bytes. Sections that no process maps are not relocated and register nothing. Compressed
/// sections are inflated, tables too.
@Suite("Sections as a process gets them")
struct MappedViewsTests {
  /// Words at section offsets that would match the linker's relocations if these were applied there.
  static let unmapped = #"""
    const char *const names[] = {"alpha", "beta", "gamma"};
    __asm__(".section notes,\"\",@progbits\n.rept 4096\n.ascii \"NOT-PTR!\"\n.endr\n.text");
    """#

  @Test(
    "no relocation is applied to a section that is not loaded",
    arguments: [
      [], ["-Wl,-z,pack-relative-relocs"], ["-fuse-ld=lld", "-Wl,-z,pack-relative-relocs"],
    ])
  func unloaded(options: [String]) throws {
    let library = try Fixtures.build(
      Self.unmapped,
      as: "unloaded-\(options.count)-\(options.first ?? "").so".replacing("/", with: ""),
      ["-shared", "-fPIC"] + options)
    let outcome = try Tool.run(["strings", "--section", "notes", library]).expect(0)
    #expect(!outcome.output.contains("alpha") && !outcome.output.contains("gamma"))
    try Tool.run(["strings", "--section", ".data.rel.ro", library])
      .expect(0, output: "alpha", "gamma")
  }

  @Test("entries that no process gets are refused with the reason", .needs("objcopy"))
  func entries() throws {
    let source = #"""
      static const char *const names[2] __attribute__((used, retain, aligned(8), section("Mine"))) =
        {"Alpha", "Beta"};
      """#
    let library = try Fixtures.build(source, as: "added.so")
    let file = try LinkedBytes(Fixtures.place(library).path)
    let header = try #require(file.sections().first { $0.name == "Mine" }).header
    try Fixtures.tool("objcopy", ["-O", "binary", "--only-section=Mine", library, "added.bytes"])
    try Fixtures.tool(
      "objcopy",
      [
        "--add-section", "BeehiveMods=added.bytes", "--change-section-address",
        "BeehiveMods=\(file.number(at: header + 16))", library, "added-to.so",
      ])
    let records = try Tool.run(["records", "added-to.so"]).expect(2, errors: "is not mapped")
    #expect(!records.output.contains("Alpha") && !records.errors.contains("the note"))
    let verify = try Tool.run(["verify", "--require", "module:Alpha", "added-to.so"])
    #expect(verify.status != 0)
  }

  @Test("a text that a relocation of an object writes is none")
  func rewrittenTexts() throws {
    let source = "const char *const first = \"alpha\"; const char *const *second = &first;"
    let object = try Fixtures.build(source, as: "rewritten.o", ["-c", "-fPIC"])
    try Tool.run(["strings", "--section", ".data*", object])
      .expect(0, output: "alpha", "(no text: a relocation writes there)")
  }

  @Test("a name of a section that cannot be read may be one of entries")
  func unreadableNames() throws {
    let object = try Fixtures.build(Fixtures.handWritten, as: "unnamed.o", ["-c"])
    var bytes = try LinkedBytes(Fixtures.place(object).path)
    let header = try #require(bytes.sections().first { $0.name == "BeehiveMods" }).header
    bytes.put(0xffff_ff00, at: header, size: 4)
    try bytes.write()
    try Tool.run(["records", object]).expect(2, errors: "lies outside the names")
  }

  @Test(
    "what somebody removed from a file is missed", .needs("objcopy"),
    arguments: [(".rela.dyn", "[unreadable-section]"), ("BeehiveRecords", "The note says")])
  func removed(section: String, text: String) throws {
    let library = try Fixtures.annotatedLibrary("whole\(section).so")
    try Fixtures.tool("objcopy", ["-R", section, library, "without\(section).so"])
    try Tool.run(["verify", "without\(section).so"]).expect(2, output: text)
  }

  @Test("entries in a segment of Mach-O that takes no memory are refused with the reason")
  func entriesOfMachO() throws {
    var bytes = try Linkages.bytes("macho-x86_64-no-fixup-chains.dylib")
    let name = Data("__DATA".utf8) + Data(repeating: 0, count: 10)
    let segment = try #require(bytes.range(of: name))
    // `vmsize`, after the segment's name and address.
    bytes.replaceSubrange(segment.upperBound + 8..<segment.upperBound + 16, with: Data(count: 8))
    try bytes.write(to: Fixtures.place("no-memory.dylib"))
    try Tool.run(["records", "no-memory.dylib"]).expect(2, errors: "is not mapped")
    try Tool.run(["verify", "--require", "service:Greeter", "no-memory.dylib"])
      .expect(2, output: "no file has the required service Greeter")
  }

  @Test(
    "tables that are compressed are inflated: of names, of symbols, of the sections' names",
    .needs("eu-elfcompress"), arguments: [".strtab", ".symtab", ".shstrtab", ".rela*"])
  func compressedTables(section: String) throws {
    let name = "tables-\(section.filter(\.isLetter))"
    let object = try Fixtures.build(Fixtures.handWritten, as: "\(name).o", ["-c"])
    let library = try Fixtures.build(
      "__attribute__((constructor)) static void starts_here(void) {}",
      as: "\(name).so")
    for (file, command) in [(object, ["records"]), (library, ["startup"])] {
      let plain = try Tool.run(command + [file])
      let copy = "compressed-\(file)"
      let outcome = try Fixtures.run(
        "eu-elfcompress", ["-f", "-n", section, "-t", "zlib", "-o", copy, file])
      guard outcome.status == 0 else { continue }
      let packed = try Tool.run(command + [copy]).expect(plain.status)
      #expect(packed.output.replacing(copy, with: file) == plain.output)
      let alignments = try [file, copy].map { file in
        let sections = try Tool.rows(Tool.run(["sections", "--format", "csv", file]).output)
        let title = try #require(sections[0].firstIndex(of: "alignment"))
        return sections.map { $0[title] }
      }
      #expect(alignments[0] == alignments[1])
    }
  }

  @Test(
    "compressed relocations of a machine of the other byte order are swapped once",
    .needs("eu-elfcompress", "clang"))
  func foreignTables() throws {
    _ = try Fixtures.build(
      Fixtures.handWritten, as: "foreign.o", with: "clang",
      ["--target=s390x-linux-gnu", "-ffreestanding", "-fPIC", "-c"])
    try Fixtures.tool(
      "eu-elfcompress",
      ["-f", "-n", ".rela*", "-t", "zlib", "-o", "foreign-packed.o", "foreign.o"])
    let (plain, packed) = (try Tool.run(["foreign.o"]), try Tool.run(["foreign-packed.o"]))
    #expect(plain.output.contains("Hand.Written"))
    #expect(packed.output.replacing("foreign-packed.o", with: "foreign.o") == plain.output)
  }

  @Test("numbers of another system are not taken for Android's")
  func systems() throws {
    let library = try Fixtures.build(
      Fixtures.handWritten, as: "solaris.so", ["-shared", "-fPIC", "-Wl,-z,lazy"])
    var file = try LinkedBytes(Fixtures.place(library).path)
    // DT_RELACOUNT and DT_RELAENT become the numbers of Android's packed relocations and of their size.
    try file.put(0x6000_0011, at: file.tag(0x6fff_fff9))
    try file.put(0x6000_0012, at: file.tag(9))
    for (system, isAndroid) in [(0, true), (6, false)] {
      file.put(system, at: 7, size: 1)
      let name = "system-\(system).so"
      try file.write(to: Fixtures.place(name))
      let outcome = try Tool.run(["records", name])
      #expect(outcome.output.contains("Hand.Written") == !isAndroid, "\(system) \(outcome.errors)")
    }
  }
}
