import CElf
import Foundation
import TestSupport
import Testing

@testable import BinaryImage

/// Claims of a file that libelf trusts, and the guard before each such call: a row for each known weakness. Each row
/// expects the reader to refuse the file, and the tool to take little memory.
@Suite("The guard before libelf")
struct LibelfTests {
  /// A file with a claim, its apparent size, and the expected refusal.
  struct Claim: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var code: ImageError.Code
    /// A part of the message.
    var text: String
    var size: UInt64?
    /// Reads the part of the file that makes the claim.
    var read: @Sendable (ELFFile) throws -> Void
    /// Makes the stored bytes.
    var bytes: @Sendable () -> [UInt8]

    init(
      _ name: String, _ code: ImageError.Code, _ text: String, size: UInt64? = nil,
      read: @escaping @Sendable (ELFFile) throws -> Void = { _ = try $0.allSections() },
      bytes: @escaping @Sendable () -> [UInt8]
    ) {
      (testDescription, self.code, self.text, self.size) = (name, code, text, size)
      (self.read, self.bytes) = (read, bytes)
    }
  }

  private static let readMods: @Sendable (ELFFile) throws -> Void = {
    try $0.withBytes(of: $0.section("BeehiveMods")) { _ in }
  }

  /// Headers: libelf allocates memory for each.
  static let headers: [Claim] = [20, 24, 32].map { (bits: UInt64) -> Claim in
    Claim(
      "2^\(bits) headers", .malformed, "more than it stores", size: min(1 << (bits + 7), 1 << 33)
    ) {
      var file = HeaderBytes(sections: 0)
      file.section(0, size: 1 << bits)
      return file.bytes
    }
  }

  /// Compressed sections: elf_compress would allocate memory for each.
  static let inflated: [Claim] = [1 << 23, 1 << 30, 1 << 40, .max].map {
    (claimed: UInt64) -> Claim in
    Claim(
      "\(claimed) bytes in a compressed section", .malformed,
      "claims to inflate to \(claimed) bytes", read: readMods
    ) { compressed(method: 1, size: claimed) }
  }

  /// A segment of 64 GB, and a dynamic section that names all of it: DT_RELA or DT_RELR, and its size.
  static let relocations: [Claim] = [7, 36].map { (tag: UInt64) -> Claim in
    let size: UInt64 = 1 << 36
    return Claim(
      "relocations of 64 GB by tag \(tag)", .malformed, "more than the file stores", size: size,
      read: { _ = try $0.dynamic() }
    ) {
      var file = HeaderBytes(sections: 0, segments: 2)
      file.segment(0, type: 1, offset: 0, address: 0, size: size)
      file.segment(1, type: 2, offset: 0x200, address: 0x200, size: 0x40)
      var bytes = file.bytes + [UInt8](repeating: 0, count: 0x240 - file.bytes.count)
      let words: [UInt64] = [tag, 0x1000, tag == 7 ? 8 : 35, size - 0x2000, 0, 0]
      for (index, word) in words.enumerated() { bytes.put(word, 8, at: 0x200 + index * 8) }
      return bytes
    }
  }

  static let others: [Claim] = [
    Claim(
      "program headers in section 0", .malformed, "program headers, more than it stores",
      size: 1 << 30
    ) {
      var file = HeaderBytes(sections: 1)
      for (value, size, place) in [(64, 8, 32), (56, 2, 54), (0xffff, 2, 56), (1 << 22, 4, 108)] {
        file.put(UInt64(value), size, at: place)
      }
      return file.bytes
    },
    Claim("65,000 headers, as 16 bits can", .malformed, "No section holds the names", size: 1 << 23)
    { HeaderBytes(sections: 0, claiming: 65_000).bytes },
    // libelf copies the bytes for each section.
    Claim(
      "200 sections of the same bytes", .malformed, "share their bytes",
      read: { _ = try $0.sections(named: "BeehiveMods") }
    ) {
      let names = Array("\0.shstrtab\0BeehiveMods\0".utf8)
      var file = HeaderBytes(sections: 200, names: 1)
      let size = UInt64(file.bytes.count + names.count)
      file.section(
        1, name: 1, type: 3, offset: size - UInt64(names.count), size: UInt64(names.count))
      for index in 2..<200 { file.section(index, name: 11, type: 1, offset: 0, size: size) }
      return file.bytes + names
    },
    Claim(
      "a section of 4 GB", .unsupported, "more than are read at once", size: 1 << 32,
      read: readMods
    ) { named(1, size: 1 << 32) },
    // elf_strptr would read them.
    Claim("names of 256 MB", .malformed, "more than the file stores", size: 1 << 28) {
      var file = HeaderBytes(sections: 2, names: 1)
      file.section(1, type: 3, offset: 0, size: 1 << 28)
      return file.bytes
    },
    Claim(
      "a method of compression that libelf does not know", .malformed,
      "The section BeehiveMods is compressed with method 99", read: readMods
    ) { compressed(method: 99, size: 64) },
    Claim(
      "2,000 sections of notes that share their bytes", .malformed, "more are read of one file",
      read: { _ = try $0.buildID() }
    ) {
      let (count, size) = (2000, 600 << 10)
      var file = HeaderBytes(sections: count, names: 1)
      let names = Array("\0.shstrtab\0".utf8)
      let start = UInt64(file.bytes.count)
      file.put(1, 2, at: 16)
      file.section(1, name: 1, type: 3, offset: start, size: UInt64(names.count))
      for index in 2..<count {
        file.section(index, type: 7, offset: start + 16, size: UInt64(size - index * 8))
      }
      return file.bytes + names + [UInt8](repeating: 0, count: size + 16)
    },
    // libelf returns a null pointer for the zeros.
    Claim("a terabyte of zeros", .noContents, "", read: readMods) { named(8, size: 1 << 40) },
    // libelf reads headers of any size as if they had the usual size.
    Claim("headers of another size", .malformed, "72 bytes instead of 64") {
      var file = HeaderBytes(sections: 2)
      file.put(72, 2, at: 58)
      return file.bytes
    },
    // libelf would allocate memory for the long names.
    Claim("long names of an archive", .notAnObject, "") {
      Array("!<arch>\n//              0           0     0     644     7777777777`\n".utf8)
    },
  ]

  @Test(
    "refuses what is claimed and not stored", arguments: headers + inflated + relocations + others)
  func refused(claim: Claim) throws {
    let path = try Fixture.write(claim.bytes(), as: "claim-\(UUID().uuidString)")
    if let size = claim.size { try Fixture.stretch(path, to: size) }
    try expect(path, claim.code, claim.text) { try claim.read(ELFFile(path: path)) }
  }

  @Test("gives one budget for all that a file inflates to")
  func budget() throws {
    let claim: UInt64 = 3 << 20
    var guardian = ELFGuard(
      try OpenedFile(
        path: Fixture.write(Self.compressed(method: 1, size: 1), as: "budget"), name: ""))
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
    #expect(try file.sections(named: "BeehiveMods").count == 1)
    #expect(try file.texts(in: "BeehiveMods").first == "nameless.FirstModule")
    try expect(path, .malformed, "No section holds the names of the sections") {
      try file.checkExtents()
    }
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
    // Each piece is dropped when the next is read: a list of 120,000 would take minutes.
    expectError(.malformed) { try table.row(rows) }
  }

  @Test("misses the sections of a table that is cut off: libelf counts none of them")
  func cutOff() throws {
    let bytes = Array(HeaderBytes(sections: 30).bytes.prefix(1000))
    expectError(.sectionTableMissing) { try ELFFile(bytes: bytes).allSections() }
    expectError(.truncated) { try ELFFile(bytes: bytes).checkExtents() }
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
    #expect(throws: ImageError.self) {
      let file = try ELFFile(bytes: file.bytes)
      _ = try file.segments()
      _ = try file.allSections()
    }
  }

  // MARK: - Files

  /// Returns a file with a section `BeehiveMods` of one type. The section's bytes may be missing.
  private static func named(
    _ type: UInt64, flags: UInt64 = 0, size: UInt64, _ contents: [UInt8] = []
  ) -> [UInt8] {
    let names = Array("\0.shstrtab\0BeehiveMods\0".utf8) + [UInt8](repeating: 0, count: 9)
    var file = HeaderBytes(sections: 3, names: 1)
    let start = UInt64(file.bytes.count)
    file.section(1, name: 1, type: 3, offset: start, size: UInt64(names.count))
    let offset = contents.isEmpty ? 0 : start + UInt64(names.count)
    file.section(2, name: 11, type: type, flags: flags, offset: offset, size: size)
    return file.bytes + names + contents
  }

  /// Returns a file with a compressed section `BeehiveMods` whose header claims `size` bytes.
  private static func compressed(method: UInt64, size: UInt64) -> [UInt8] {
    named(1, flags: 1 << 11, size: 64, [method, size, 1, 0, 0, 0, 0, 0].flatMap { $0.bytes(8) })
  }

  /// Expects an error with a code and a text in its message. No command of the tool may take more than 32 MB for the
  /// file, or end by a signal.
  private func expect(
    _ path: String, _ code: ImageError.Code, _ text: String, _ body: () throws -> Void
  ) throws {
    expectError(code, saying: text, body)
    guard !Needs.isSanitized, Needs.has("prlimit") else { return }
    for command in [["records"], ["sections"], ["hex", "--section", "Beehive*"], ["startup"]] {
      // The limit is on private writable memory: the heap and stacks.
      let outcome = try Command.run(
        "prlimit",
        ["--data=\(32 << 20)", Repository.sectionDump] + command + ["--jobs", "1", path])
      #expect([0, 1, 2].contains(outcome.status), "\(command) \(outcome.status) \(outcome.errors)")
    }
  }
}

/// The file header and the section headers of a 64-bit library.
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
