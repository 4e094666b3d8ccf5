import BinaryImage
import TestSupport
import Testing

/// A note is untrusted data. A note that cannot be true of its image is refused with a reason. The file then gives the
/// sections.
@Suite struct LoadedNoteTests {
  /// The damage to a note, the reason of its refusal, and numbers to add to 32-bit fields, by offset in the descriptor.
  /// The fields are version, flags, header, then start and stop of modules, services and records. The descriptor's size
  /// is at -16.
  static let damages: [(String, MappedImage.Note, [Int: Int32])] = [
    ("a descriptor of 32 bytes", .short, [-16: -4]),
    ("an empty descriptor", .short, [-16: -36]),
    ("a descriptor that leaves the segment", .short, [-16: 0x10_0000]),
    ("version 0", .unknownVersion, [0: -1]),
    ("version 2", .unknownVersion, [0: 1]),
    ("a start off by 4", .misaligned, [12: 4]),
    ("a stop off by 1", .misaligned, [16: 1]),
    ("a start far below the image", .outOfImage, [12: -0x4000_0000]),
    ("a stop far above the image", .outOfImage, [16: 0x4000_0000]),
    ("a stop before its start", .outOfImage, [16: -4096]),
    ("a whole range behind the image", .outOfImage, [28: 0x10_0000, 32: 0x10_0008]),
    ("a range over several segments", .outOfImage, [:]),
  ]

  @Test("Refused with its reason, and the file is asked", arguments: damages)
  func refused(damage: String, reason: MappedImage.Note, changes: [Int: Int32]) throws {
    let file = damage.replacing(" ", with: "-")
    let whole = try Fixture.library(Fixture.noted("damaged"), as: "\(file)-whole.so")
    var bytes = try Fixture.bytes(of: whole)
    let start = try #require(bytes.noteDescriptors.first)
    for (offset, difference) in changes { bytes.add(difference, at: start + offset) }
    // The services then start at the image's header, which the note locates too.
    if changes.isEmpty { bytes.put(bytes.number(4, at: start + 8) &- 12, at: start + 20) }
    try expect(reason, of: Fixture.write(bytes, as: "\(file).so"), "damaged")
  }

  @Test("Left alone, the same note is believed") func undamaged() throws {
    let path = try Fixture.library(Fixture.noted("undamaged"), as: "undamaged-note.so")
    try expect(.valid, of: path, "undamaged")
  }

  @Test("Two notes that disagree are both refused") func disagreement() throws {
    // The second note claims that there are no modules.
    let path = try Fixture.library(
      Fixture.noted("disagree") + Self.secondNote(modulesStop: "__start_BeehiveMods"),
      as: "disagree.so")
    try expect(.contradiction, of: path, "disagree")
    let file = try ELFFile(path: Fixture.withoutSections(path))
    expectError(.malformed) { try file.sections(named: "BeehiveMods") }
  }

  @Test("Two notes that say the same are believed", arguments: ["bfd", "gold", "lld", "mold"])
  func agreement(linker: String) throws {
    try Needs.linker(linker)
    let path = try Fixture.library(
      Fixture.noted("agree") + Self.secondNote(modulesStop: "__stop_BeehiveMods"),
      as: "two-notes-\(linker).so", ["-fuse-ld=\(linker)"])
    try expectSeveralNotes(path, "agree")
  }

  @Test("So are those that ThinLTO leaves, one of each file", .needs("clang", "ld.lld"))
  func thinLTO() throws {
    let other = try Fixture.write(
      Array("#include <BeeHive.h>\nBeeHiveService(thin.Other, thin.OtherView);\n".utf8),
      as: "thin-other.c")
    let path = try Fixture.library(
      Fixture.noted("thin"), as: "thin.so", with: "clang",
      ["-O2", "-flto=thin", "-fuse-ld=lld", other])
    try expectSeveralNotes(path, "thin")
  }

  @Test("What the descriptor of another note holds is none") func inside() throws {
    // A note of an unknown version, in a segment aligned to 8. Notes begin at any multiple of 4 there.
    let path = try Fixture.library(
      Fixture.noted("inside") + """

        __asm__(".pushsection .note.other,\\"a\\",%note\\n.balign 8\\n.long 4, 56, 99\\n.asciz \\"GNU\\"\\n"
                ".long 8, 36, 0x42454501\\n.asciz \\"Beehive\\"\\n.long 9\\n.zero 32\\n.popsection");
        """, as: "inside.so")
    try expect(.valid, of: path, "inside")
    let file = try ELFFile(path: Fixture.withoutSections(path))
    #expect(try file.texts(in: "BeehiveMods") == Fixture.modules("inside"))
  }

  /// lld ends a segment with the last byte of its last note.
  @Test("The last note of a segment needs no padding", arguments: ["bfd", "gold", "lld", "mold"])
  func padding(linker: String) throws {
    try Needs.linker(linker)
    let path = try Fixture.library(
      Fixture.noted("padding"), as: "padding-\(linker).so",
      ["-fuse-ld=\(linker)", "-Wl,--build-id=0x010203"])
    try expect(.valid, of: path, "padding")
    let library = try OpenLibrary(path)
    defer { library.close() }
    #expect(try ImageList.current().copy(named: path).mapped.buildID == [1, 2, 3])
  }

  @Test("A segment that ends a byte before its note is refused, though the padding follows")
  func cut() throws {
    let path = try Fixture.library(
      Fixture.noted("bitten"), as: "bitten.so", ["-Wl,--build-id=none"])
    var file = ELFEditor(try Fixture.bytes(of: path))
    let (table, count) = (Int(file.number(8, at: 32)), Int(file.number(2, at: 56)))
    let sizes = (0..<count).map { table + $0 * 56 }.filter { file.number(4, at: $0) == 4 }
      .map { $0 + 40 }
    let size = try #require(sizes.first { file.number(8, at: $0) == 56 })
    file.put(55, 8, at: size)
    let cut = try Fixture.write(file.bytes, as: "cut.so")
    try expect(.short, of: cut, "bitten")
  }

  @Test("Of notes longer than anybody writes the rest is not copied, and the file is asked")
  func long() throws {
    let path = try Fixture.library(
      """
      __asm__(".pushsection .note.beehive,\\"aR\\",%note\\n.balign 4\\n.long 8, 70000, 99\\n"
              ".asciz \\"Beehive\\"\\n.zero 70000\\n.popsection");

      """ + Fixture.noted("lengthy"), as: "lengthy.so")
    try expect(.none, of: path, "lengthy")
  }

  /// Returns a note of the same owner and type, laid out like `beehive_note_descriptor` of the header.
  private static func secondNote(modulesStop: String) -> String {
    let words = [
      "__ehdr_start", "__start_BeehiveMods", modulesStop, "__start_BeehiveServices",
      "__stop_BeehiveServices", "__start_BeehiveRecords", "__stop_BeehiveRecords",
    ].map { ".long \($0) - .\\n" }.joined()
    return """
      __asm__(".pushsection .note.beehive,\\"aR\\",%note\\n.balign 4\\n"
              ".long 8, 36, 0x42454501\\n.asciz \\"Beehive\\"\\n.long 1, 0\\n\(words).popsection");
      """
  }

  private func expectSeveralNotes(_ path: String, _ name: String) throws {
    #expect(try Fixture.bytes(of: path).noteDescriptors.count > 1)
    try expect(.valid, of: path, name)
    let file = try ELFFile(path: Fixture.withoutSections(path))
    #expect(try file.texts(in: "BeehiveMods") == Fixture.modules(name))
  }

  /// Expects that the entries are found: by the note if it is valid, else by the file.
  private func expect(_ note: MappedImage.Note, of path: String, _ name: String) throws {
    let library = try OpenLibrary(path)
    defer { library.close() }
    let image = try ImageList.current().copy(named: path)
    #expect(image.mapped.note == note)
    #expect(try image.texts(in: "BeehiveMods") == Fixture.modules(name))
    #expect(try !image.texts(in: "BeehiveServices").isEmpty)
  }
}
