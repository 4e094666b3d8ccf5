import BinaryImage
import TestSupport
import Testing

@Suite("ELF files without section headers")
struct ELFNotedSectionsTests {
  static let names = ["BeehiveMods", "BeehiveServices", "BeehiveRecords"]

  /// A library with a note, and the same without its section headers.
  private func pair(_ name: String, _ arguments: [String]) throws -> (
    whole: String, stripped: String
  ) {
    let whole = try Fixture.library(Fixture.noted("stripped"), as: name, arguments)
    return (whole, try Fixture.withoutSections(whole))
  }

  @Test("give the same pointers through their note", arguments: ["bfd", "gold", "lld", "mold"])
  func note(linker: String) throws {
    try Needs.linker(linker)
    let (whole, stripped) = try pair("note-\(linker).so", ["-fuse-ld=\(linker)"])
    let expected = try ELFFile(path: whole)
    let image = try ELFFile(path: stripped)
    #expect(image.identity.kind == .shared)
    for name in Self.names {
      let found = try image.texts(of: name).map(\.text)
      #expect(found == (try expected.texts(of: name).map(\.text)))
    }
    #expect(try image.texts(of: "BeehiveMods").count == 2)
    let section = try #require(image.sections(named: "BeehiveMods").first)
    #expect(section.address == (try expected.sections(named: "BeehiveMods").first?.address))
    expectError(.sectionTableMissing) { try image.sections(named: ".text") }
    expectError(.sectionTableMissing) { try image.allSections() }
  }

  @Test("are still read when their section headers were cut off")
  func cut() throws {
    let path = try Fixture.library(Fixture.noted("cut"), as: "whole.so")
    let bytes = try Fixture.bytes(of: path)
    let image = try ELFFile(path: Fixture.write(bytes.dropLast(200), as: "cut.so"))
    #expect(try image.texts(of: "BeehiveMods").map(\.text).count == 2)
    expectError(.sectionTableMissing) { try image.allSections() }
  }

  @Test("and without a note cannot be searched by name")
  func noNote() throws {
    let whole = try Fixture.library(Fixture.handWritten("bare"), as: "bare.so")
    let image = try ELFFile(path: Fixture.withoutSections(whole))
    for name in Self.names + [".text"] {
      expectError(.sectionTableMissing) { try image.sections(named: name) }
    }
  }

  /// Where the descriptor of the note stands in a file.
  private func descriptor(in bytes: [UInt8]) throws -> Int {
    try #require(bytes.noteDescriptors.first)
  }

  @Test("whose note was moved are corrected by where their header is")
  func moved() throws {
    let (_, stripped) = try pair("moved.so", [])
    var bytes = try Fixture.bytes(of: stripped)
    let start = try descriptor(in: bytes)
    // What a note says that a tool moved 0x4000 bytes down without rewriting it.
    for field in stride(from: 8, to: 36, by: 4) {
      bytes.add(0x4000, at: start + field)
    }
    let image = try ELFFile(path: Fixture.write(bytes, as: "moved-note.so"))
    #expect(try image.texts(of: "BeehiveMods").count == 2)
  }

  @Test("whose note lies about its bounds are refused", arguments: [12, 16])
  func lies(field: Int) throws {
    let (_, stripped) = try pair("lies-\(field).so", [])
    for difference in [0x100_0000, -0x100_0000] as [Int32] {
      var bytes = try Fixture.bytes(of: stripped)
      bytes.add(difference, at: try descriptor(in: bytes) + field)
      let image = try ELFFile(path: Fixture.write(bytes, as: "lying-\(field).so"))
      expectError(.malformed) { try image.sections(named: "BeehiveMods") }
    }
  }

  @Test("whose note is of another version are refused")
  func version() throws {
    let (_, stripped) = try pair("version.so", [])
    var bytes = try Fixture.bytes(of: stripped)
    bytes.add(1, at: try descriptor(in: bytes))
    let image = try ELFFile(path: Fixture.write(bytes, as: "other-version.so"))
    expectError(.unsupported) { try image.sections(named: "BeehiveMods") }
  }
}
