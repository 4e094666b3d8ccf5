import CElf
import Foundation
import TestSupport
import Testing

@testable import BinaryImage

/// What libelf takes on a file's word alone, and the guard that stands before each such call: a row for each known
/// weakness. The rows say what libelf does with the file, and hold the reader to a refusal, and the tool to little
/// memory.
@Suite("The guard before libelf")
struct LibelfTests {
  @Test("refuses headers that are claimed and not stored", arguments: [20, 24, 32])
  func claimedHeaders(bits: UInt64) throws {
    var file = HeaderBytes(sections: 0)
    file.section(0, size: 1 << bits)
    let path = try Fixture.write(file.bytes, as: "claimed-\(bits)")
    try Fixture.stretch(path, to: min(1 << (bits + 7), 1 << 33))
    if bits == 20 {
      // libelf makes room for each.
      try unsafe Libelf.open(path) { elf in
        var claimed = 0
        #expect(unsafe elf_getshdrnum(elf, &claimed) == 0)
        #expect(claimed == 1 << bits)
        #expect(unsafe elf_getscn(elf, claimed - 1) != nil)
      }
    }
    try expect(path, .malformed, "more than it stores") {
      _ = try ELFFile(path: path).allSections()
    }
  }

  @Test("refuses program headers that are claimed by section 0 and not stored")
  func claimedSegments() throws {
    var file = HeaderBytes(sections: 1)
    file.put(64, 8, at: 32)
    file.put(56, 2, at: 54)
    file.put(0xffff, 2, at: 56)
    file.put(1 << 22, 4, at: 64 + 44)
    let path = try Fixture.write(file.bytes, as: "claimed-segments")
    try Fixture.stretch(path, to: 1 << 30)
    try expect(path, .malformed, "program headers, more than it stores") {
      _ = try ELFFile(path: path)
    }
  }

  @Test("reads 65,000 headers that 16 bits can claim in little memory, stored or not")
  func claimedBy16Bits() throws {
    let file = HeaderBytes(sections: 0, claiming: 65_000)
    let path = try Fixture.write(file.bytes, as: "claimed-16")
    try Fixture.stretch(path, to: 1 << 23)
    try expect(path, .malformed, "No section holds the names") {
      _ = try ELFFile(path: path).allSections()
    }
  }

  @Test("refuses sections that share their bytes, which libelf copies for each")
  func sharedBytes() throws {
    let names = Array("\0.shstrtab\0BeehiveMods\0".utf8)
    let count = 200
    var file = HeaderBytes(sections: count, names: 1)
    let size = UInt64(file.bytes.count + names.count)
    file.section(1, name: 1, type: 3, offset: size - UInt64(names.count), size: UInt64(names.count))
    for index in 2..<count { file.section(index, name: 11, type: 1, offset: 0, size: size) }
    let path = try Fixture.write(file.bytes + names, as: "shared-bytes")

    try unsafe Libelf.open(path) { elf in
      let copies = unsafe (2..<count).map { unsafe elf_getdata(elf_getscn(elf, $0), nil).pointee }
      #expect(unsafe copies.allSatisfy { unsafe $0.d_size == Int(size) })
      #expect(unsafe Set(copies.map { unsafe $0.d_buf }).count == copies.count)
    }
    try expect(path, .malformed, "share their bytes") {
      _ = try ELFFile(path: path).sections(named: "BeehiveMods")
    }
  }

  @Test("reads no section of 4 GB that is not stored as a whole")
  func sparseSection() throws {
    let path = try named("sparse-section", 1, offset: 0, size: 1 << 32)
    try Fixture.stretch(path, to: 1 << 32)
    try expect(path, .unsupported, "more than are read at once") {
      let file = try ELFFile(path: path)
      try file.withBytes(of: file.sections(named: "BeehiveMods")[0]) { _ in }
    }
  }

  @Test("refuses names of 256 MB that are not stored, which elf_strptr would read")
  func sparseNames() throws {
    var file = HeaderBytes(sections: 2, names: 1)
    file.section(1, type: 3, offset: 0, size: 1 << 28)
    let path = try Fixture.write(file.bytes, as: "sparse-names")
    try Fixture.stretch(path, to: 1 << 28)
    try expect(path, .malformed, "more than the file stores") {
      _ = try ELFFile(path: path).allSections()
    }
  }

  @Test(
    "refuses what claims to inflate beyond reason, before elf_compress makes room for it",
    arguments: [1 << 23, 1 << 30, 1 << 40, .max] as [UInt64])
  func bomb(claimed: UInt64) throws {
    let path = try compressed("bomb-\(claimed)", method: 1, size: claimed)
    try expect(path, .malformed, "claims to inflate to \(claimed) bytes") {
      let file = try ELFFile(path: path)
      try file.withBytes(of: file.sections(named: "BeehiveMods")[0]) { _ in }
    }
  }

  @Test("says which method libelf does not know, and what helps")
  func method() throws {
    let path = try compressed("method", method: 99, size: 64)
    try expect(path, .malformed, "The section BeehiveMods is compressed with method 99") {
      let file = try ELFFile(path: path)
      try file.withBytes(of: file.sections(named: "BeehiveMods")[0]) { _ in }
    }
  }

  @Test("gives one budget for all that a file inflates to")
  func budget() throws {
    let claim: UInt64 = 3 << 20
    var guardian = ELFGuard(
      try OpenedFile(path: compressed("budget", method: 1, size: 1), name: ""))
    var header = GElf_Shdr()
    (header.sh_type, header.sh_flags, header.sh_size) = (1, UInt64(SHF_COMPRESSED), 16)
    func admit(_ size: UInt64?) throws {
      try guardian.admit(inflating: size, of: header) {
        ImageError(.malformed, image: "", message: $0)
      }
    }
    try admit(claim)
    #expect(throws: ImageError.self) { try admit(claim) }
    #expect(throws: ImageError.self) { try admit(nil) }
  }

  @Test(
    "finds entries by their note where the section headers have no names", arguments: [0, 0xff19])
  func namelessHeaders(names: UInt16) throws {
    let path = try Fixture.library(Fixture.noted("nameless"), as: "nameless-\(names).so")
    var bytes = try Fixture.bytes(of: path)
    // e_shstrndx
    bytes.put(UInt64(names), 2, at: 62)
    _ = try Fixture.write(bytes, as: "nameless-\(names).so")
    let file = try ELFFile(path: path)
    let sections = try file.sections(named: "BeehiveMods")
    #expect(sections.count == 1)
    #expect(try file.texts(in: "BeehiveMods").first == "nameless.FirstModule")
    try expect(path, .malformed, "No section holds the names of the sections") {
      try file.checkExtents()
    }
  }

  @Test("notices a file that shrinks while it is open, without a signal")
  func shrinks() throws {
    let path = try named("shrinks", 1, offset: 0, size: 1 << 20)
    try Fixture.stretch(path, to: 1 << 20)
    let file = try ELFFile(path: path)
    let section = try file.sections(named: "BeehiveMods")[0]
    try Fixture.stretch(path, to: 8192)
    expectError(.truncated) { try file.withBytes(of: section) { _ in } }
  }

  @Test("makes room for one piece of a table at a time, however often it is asked")
  func pieces() throws {
    let rows = 40_000
    let path = try Fixture.write(HeaderBytes(sections: 0).bytes, as: "pieces")
    try Fixture.stretch(path, to: UInt64(64 + rows * 24))
    let file = try OpenedFile(path: path, name: "pieces")
    let format = ELFFormat(bits: 64, order: .little, machine: 62)
    let extent = FileExtent(offset: 64, size: UInt64(rows * 24))
    let table = ELFTable(.symbols, .stored(extent), of: file, format)
    #expect(table.count == rows)
    for _ in 0..<3 { for index in 0..<rows { #expect(try table.row(index).st_name == 0) } }
    // Each piece goes with the next: a list of 120,000 would take minutes.
    expectError(.malformed) { try table.row(rows) }
  }

  @Test("reads the notes of all sections within one budget, though sections share their bytes")
  func sharedNotes() throws {
    let (count, size) = (2000, 600 << 10)
    var file = HeaderBytes(sections: count, names: 1)
    let names = Array("\0.shstrtab\0".utf8)
    let start = UInt64(file.bytes.count)
    file.put(1, 2, at: 16)
    file.section(1, name: 1, type: 3, offset: start, size: UInt64(names.count))
    for index in 2..<count {
      file.section(index, type: 7, offset: start + 16, size: UInt64(size - index * 8))
    }
    let path = try Fixture.write(
      file.bytes + names + [UInt8](repeating: 0, count: size + 16), as: "shared-notes.o")
    try expect(path, .malformed, "more are read of one file") {
      _ = try ELFFile(path: path).buildID()
    }
  }

  @Test("bounds tables of relocations by what the file stores", arguments: [7, 36] as [UInt64])
  func sparseRelocations(tag: UInt64) throws {
    // A segment of 64 GB, and a dynamic section that names all of it: DT_RELA or DT_RELR, and its size.
    var file = HeaderBytes(sections: 0, segments: 2)
    let size: UInt64 = 1 << 36
    file.segment(0, type: 1, offset: 0, address: 0, size: size)
    file.segment(1, type: 2, offset: 0x200, address: 0x200, size: 0x40)
    var bytes = file.bytes + [UInt8](repeating: 0, count: 0x240 - file.bytes.count)
    let words: [UInt64] = [tag, 0x1000, tag == 7 ? 8 : 35, size - 0x2000, 0, 0]
    for (index, word) in words.enumerated() { bytes.put(word, 8, at: 0x200 + index * 8) }
    let path = try Fixture.write(bytes, as: "sparse-relocations-\(tag).so")
    try Fixture.stretch(path, to: size)
    try expect(path, .malformed, "more than the file stores") {
      _ = try ELFFile(path: path).dynamic()
    }
  }

  @Test("asks for no bytes of a section without any, of which libelf gives a null pointer")
  func noBits() throws {
    let path = try named("nobits", 8, offset: 0, size: 1 << 40)
    expectError(.noContents) {
      let file = try ELFFile(path: path)
      try file.withBytes(of: file.sections(named: "BeehiveMods")[0]) { _ in }
    }
  }

  @Test(
    "compares what libelf counts with the header: a table that is cut off has no sections to it")
  func cutOff() throws {
    let path = try Fixture.write(Array(HeaderBytes(sections: 30).bytes.prefix(1000)), as: "cut-off")
    try unsafe Libelf.open(path) { elf in
      var count = 9
      #expect(unsafe elf_getshdrnum(elf, &count) == 0 && count == 0)
    }
    expectError(.sectionTableMissing) { _ = try ELFFile(path: path).allSections() }
    expectError(.truncated) { try ELFFile(path: path).checkExtents() }
  }

  @Test("refuses headers of another size, which libelf reads as if they had the usual one")
  func entrySize() throws {
    var file = HeaderBytes(sections: 2)
    file.put(72, 2, at: 58)
    let path = try Fixture.write(file.bytes, as: "entry-size")
    try expect(path, .malformed, "72 bytes instead of 64") { _ = try ELFFile(path: path) }
  }

  @Test("keeps offsets near the largest number away", arguments: [8, 32, 40] as [Int])
  func endOfNumbers(field: Int) throws {
    // sh_offset of the names, e_phoff, e_shoff.
    var file = HeaderBytes(sections: 2, names: 1)
    file.section(1, type: 3, offset: field == 8 ? .max - 7 : 0, size: 64)
    if field > 8 { file.put(.max - 7, 8, at: field) }
    if field == 32 {
      file.put(56, 2, at: 54)
      file.put(1, 2, at: 56)
    }
    let path = try Fixture.write(file.bytes, as: "end-of-numbers-\(field)")
    #expect(throws: ImageError.self) {
      let file = try ELFFile(path: path)
      _ = try file.segments()
      _ = try file.allSections()
    }
  }

  @Test("never asks libelf for an archive, whose long names it would make room for")
  func archive() throws {
    let member = "//              0           0     0     644     7777777777`\n"
    let path = try Fixture.write(Array("!<arch>\n\(member)".utf8), as: "long-names.a")
    expectError(.notAnObject) { _ = try ELFFile(path: path) }
    try Self.expectLittleMemory(path)
  }

  // MARK: - Files

  /// A file with a section `BeehiveMods` of one type, whose bytes may not be there.
  private func named(_ name: String, _ type: UInt64, offset: UInt64, size: UInt64) throws -> String
  {
    let names = Array("\0.shstrtab\0BeehiveMods\0".utf8)
    var file = HeaderBytes(sections: 3, names: 1)
    file.section(
      1, name: 1, type: 3, offset: UInt64(file.bytes.count), size: UInt64(names.count))
    file.section(2, name: 11, type: type, offset: offset, size: size)
    return try Fixture.write(file.bytes + names, as: name)
  }

  /// A file with a compressed section `BeehiveMods`, whose header claims `size` bytes.
  private func compressed(_ name: String, method: UInt64, size: UInt64) throws -> String {
    let names = Array("\0.shstrtab\0BeehiveMods\0".utf8)
    var file = HeaderBytes(sections: 3, names: 1)
    let start = UInt64(file.bytes.count)
    file.section(1, name: 1, type: 3, offset: start, size: UInt64(names.count))
    file.section(2, name: 11, type: 1, flags: 1 << 11, offset: start + 32, size: 64)
    var bytes = file.bytes + names + [UInt8](repeating: 0, count: 32 - names.count + 64)
    for (value, place) in [(method, 0), (size, 8), (1, 16)] {
      bytes.put(value, 8, at: Int(start) + 32 + place)
    }
    return try Fixture.write(bytes, as: name)
  }

  /// Expects an error of a code whose message says something, and that no command of the tool takes more than 32 MB
  /// for the file, or ends by a signal.
  private func expect(
    _ path: String, _ code: ImageError.Code, _ text: String, _ body: () throws -> Void
  ) throws {
    do {
      try body()
      Issue.record("nothing is refused")
    } catch let error as ImageError {
      #expect(error.code == code && error.message.contains(text), "\(error)")
    }
    try Self.expectLittleMemory(path)
  }

  static func expectLittleMemory(_ path: String) throws {
    guard !Needs.isSanitized, Needs.has("prlimit") else { return }
    for command in [["records"], ["sections"], ["hex", "--section", "Beehive*"], ["startup"]] {
      // Memory that is private and written to: of the heap, and of stacks.
      let outcome = try Command.run(
        "prlimit",
        ["--data=\(32 << 20)", Repository.sectionDump] + command + ["--jobs", "1", path])
      #expect([0, 1, 2].contains(outcome.status), "\(command) \(outcome.status) \(outcome.errors)")
    }
  }
}

/// What libelf says of a file, read as the library lets it read.
private enum Libelf {
  static func open(_ path: String, _ body: (OpaquePointer) throws -> Void) throws {
    let file = try OpenedFile(path: path)
    try #require(elf_version(UInt32(EV_CURRENT)) != UInt32(EV_NONE))
    let elf = try unsafe #require(elf_begin(file.descriptor, ELF_C_READ, nil))
    defer { unsafe elf_end(elf) }
    try unsafe body(elf)
  }
}

/// The header of a library of 64 bits and its section headers.
struct HeaderBytes {
  private(set) var bytes: [UInt8]

  init(sections: Int, names: UInt64 = 0, claiming claimed: Int? = nil, segments: Int = 0) {
    bytes = [UInt8](repeating: 0, count: 64 + 64 * max(1, sections))
    if segments > 0 {
      bytes = [UInt8](repeating: 0, count: 64 + 56 * segments)
      put(64, 8, at: 32)
      put(56, 2, at: 54)
      put(UInt64(segments), 2, at: 56)
    }
    put(0x464c_457f, 4, at: 0)
    (bytes[4], bytes[5], bytes[6]) = (2, 1, 1)
    put(3, 2, at: 16)
    put(62, 2, at: 18)
    put(1, 4, at: 20)
    if segments == 0 { put(64, 8, at: 40) }
    put(64, 2, at: 58)
    put(UInt64(claimed ?? sections), 2, at: 60)
    put(names, 2, at: 62)
  }

  mutating func section(
    _ index: Int, name: UInt64 = 0, type: UInt64 = 0, flags: UInt64 = 0, offset: UInt64 = 0,
    size: UInt64
  ) {
    let start = 64 + 64 * index
    put(name, 4, at: start)
    put(type, 4, at: start + 4)
    put(flags, 8, at: start + 8)
    put(offset, 8, at: start + 24)
    put(size, 8, at: start + 32)
  }

  mutating func segment(
    _ index: Int, type: UInt64, offset: UInt64, address: UInt64, size: UInt64
  ) {
    let start = 64 + 56 * index
    put(type, 4, at: start)
    put(6, 4, at: start + 4)
    for (place, value) in [(8, offset), (16, address), (24, address), (32, size), (40, size)] {
      put(value, 8, at: start + place)
    }
    put(0x1000, 8, at: start + 48)
  }

  mutating func put(_ value: UInt64, _ size: Int, at place: Int) {
    bytes.put(value, size, at: place)
  }
}
