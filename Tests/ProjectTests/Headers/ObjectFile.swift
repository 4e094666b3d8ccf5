import Foundation

/// The sections of an ELF object file, read by the letter of the format. The test does not use the project's reader, so
/// the two cannot share a mistake.
struct ObjectFile {
  struct Section {
    var name: String
    var flags: Int
    var alignment: Int
    var bytes: Bytes
  }

  /// Flags of sections.
  static let allocated = 0x2
  static let grouped = 0x200
  static let retained = 0x20_0000

  let sections: [Section]
  /// Whether the file has a section or a symbol of the project.
  let hasTraces: Bool

  init(_ file: URL) throws {
    let data = try Data(contentsOf: file)
    guard data.starts(with: Array("\u{7f}ELF".utf8)), data.count > 64 else {
      throw Bytes.Fault("no ELF file")
    }
    let bytes = Bytes(data, isBigEndian: data[5] == 2)
    // Fields of addresses and sizes have eight bytes in one class, four in the other.
    let isWide = data[4] == 2
    let width = isWide ? 8 : 4
    let counts = isWide ? 58 : 46
    let size = try bytes.number(at: counts, size: 2)
    let count = try bytes.number(at: counts + 2, size: 2)
    let names = try bytes.number(at: counts + 4, size: 2)
    let table = try bytes.part(
      at: bytes.number(at: isWide ? 40 : 32, size: width), count: count * size)
    let headers = try (0..<count).map { try table.part(at: $0 * size, count: size) }
    // Name and type have four bytes. Flags, address, offset and size come next. Two more words come before the
    // alignment.
    let parts = try headers.map { header in
      // A section of zeros, type 8, has no bytes in the file.
      guard try header.number(at: 4) != 8 else { return try bytes.part(at: 0, count: 0) }
      return try bytes.part(
        at: header.number(at: 8 + 2 * width, size: width),
        count: header.number(at: 8 + 3 * width, size: width))
    }
    guard parts.indices.contains(names) else { throw Bytes.Fault("no names of sections") }
    sections = try zip(headers, parts).map { header, part in
      Section(
        name: try parts[names].text(at: header.number(at: 0)),
        flags: try header.number(at: 8, size: width),
        alignment: try header.number(at: 16 + 4 * width, size: width), bytes: part)
    }
    // Tables of strings name all sections and symbols.
    hasTraces = try zip(headers, parts).contains { header, part in
      guard try header.number(at: 4) == 3 else { return false }
      return try part.texts().texts.contains { $0.lowercased().contains("beehive") }
    }
  }
}
