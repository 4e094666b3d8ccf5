import BinaryImage
import TestSupport
import Testing

@Suite("ELF files without section headers")
struct ELFNotedSectionsTests {
  @Test("give the same pointers through their note", arguments: ["bfd", "gold", "lld", "mold"])
  func note(linker: String) throws {
    try Needs.linker(linker)
    let whole = try Fixture.library(
      Fixture.noted("stripped"), as: "note-\(linker).so", ["-fuse-ld=\(linker)"])
    let expected = try ELFFile(path: whole)
    let image = try ELFFile(path: Fixture.withoutSections(whole))
    #expect(image.identity.kind == .shared)
    for name in FileAnswer.names {
      let found = try image.texts(of: name).map(\.text)
      #expect(found == (try expected.texts(of: name).map(\.text)))
    }
    #expect(try image.texts(of: "BeehiveMods").count == 2)
    #expect(try image.section("BeehiveMods").address == expected.section("BeehiveMods").address)
    expectError(.sectionTableMissing) { try image.sections(named: ".text") }
    expectError(.sectionTableMissing) { try image.allSections() }
  }

  @Test("are still read when their section headers were cut off")
  func cut() throws {
    let path = try Fixture.library(Fixture.noted("cut"), as: "whole.so")
    let bytes = try Fixture.bytes(of: path)
    let image = try ELFFile(bytes: bytes.dropLast(200))
    #expect(try image.texts(of: "BeehiveMods").map(\.text).count == 2)
    expectError(.sectionTableMissing) { try image.allSections() }
  }

  @Test("and without a note cannot be searched by name")
  func noNote() throws {
    let whole = try Fixture.library(Fixture.handWritten("bare"), as: "bare.so")
    let image = try ELFFile(path: Fixture.withoutSections(whole))
    for name in FileAnswer.names + [".text"] {
      expectError(.sectionTableMissing) { try image.sections(named: name) }
    }
  }

  private static let bare = Result {
    try Fixture.withoutSections(Fixture.library(Fixture.noted("stripped"), as: "noted.so"))
  }

  /// Numbers to add to 32-bit fields, by the fields' offsets in the descriptor, and the expected code.
  static let changes: [([Int: Int32], ImageError.Code?)] = [
    // A note that a tool moved 0x4000 bytes down without rewriting it.
    (Dictionary(uniqueKeysWithValues: stride(from: 8, to: 36, by: 4).map { ($0, 0x4000) }), nil),
    ([12: 0x100_0000], .malformed), ([12: -0x100_0000], .malformed),
    ([16: 0x100_0000], .malformed), ([16: -0x100_0000], .malformed), ([0: 1], .unsupported),
  ]

  @Test(
    "whose note was moved are corrected by where their header is, others refused",
    arguments: changes)
  func changed(changes: [Int: Int32], code: ImageError.Code?) throws {
    var bytes = try Fixture.bytes(of: Self.bare.get())
    let start = try #require(bytes.noteDescriptors.first)
    for (field, difference) in changes { bytes.add(difference, at: start + field) }
    let image = try ELFFile(bytes: bytes)
    if let code {
      expectError(code) { try image.sections(named: "BeehiveMods") }
    } else {
      #expect(try image.texts(of: "BeehiveMods").count == 2)
    }
  }
}
