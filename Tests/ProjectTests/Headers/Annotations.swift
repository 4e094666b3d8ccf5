import Foundation
import TestSupport

/// The annotations of an ELF object file, read by RecordLayout.md. All text is in the bytes, so nothing needs to be
/// relocated.
struct Annotations {
  /// A line for each typed record, sorted, as in `everything.records`.
  let records: [String]

  /// Reads a file that must follow every rule.
  init(_ file: URL) throws {
    var notes = 0
    var records: [String] = []
    for section in try ObjectFile(file).sections {
      if section.name == ".note.beehive" {
        notes += 1
        try Self.checkNote(section)
      } else if section.name.hasPrefix("Beehive") {
        try Self.checkEntries(section)
        if section.name == "BeehiveRecords" { records += try Self.lines(section.bytes) }
      }
    }
    guard notes == 1 else { throw Bytes.Fault("\(notes) notes") }
    self.records = records.sorted()
  }

  /// Returns the records that `everything.c` must yield.
  static func expected() throws -> [String] {
    try Repository.fixture("Headers/everything.records").split(separator: "\n")
      .map(String.init).sorted()
  }

  private static func checkNote(_ note: ObjectFile.Section) throws {
    let flags = ObjectFile.allocated | ObjectFile.grouped | ObjectFile.retained
    guard note.flags == flags, note.alignment == 4 else {
      throw Bytes.Fault("note with flags \(note.flags), aligned to \(note.alignment)")
    }
    guard note.bytes.count == 56 else { throw Bytes.Fault("note of \(note.bytes.count) bytes") }
    // Sizes of owner and descriptor, and type; version and flags after the owner.
    let fields = try [0, 4, 8, 20, 24].map { try note.bytes.number(at: $0) }
    let owner = try note.bytes.part(at: 12, count: 8).text(at: 0)
    guard fields == [8, 36, 0x4245_4501, 1, 0], owner == "Beehive" else {
      throw Bytes.Fault("note with \(fields) of \(owner)")
    }
  }

  private static func checkEntries(_ section: ObjectFile.Section) throws {
    let flags = ObjectFile.allocated | ObjectFile.retained
    guard section.flags & flags == flags, section.alignment == 8 else {
      throw Bytes.Fault(
        "\(section.name) with flags \(section.flags), aligned to \(section.alignment)")
    }
    guard section.bytes.count > 0 || section.flags & ObjectFile.grouped != 0 else {
      throw Bytes.Fault("\(section.name) is empty outside the group")
    }
  }

  private static func lines(_ section: Bytes) throws -> [String] {
    var lines: [String] = []
    var offset = 0
    while offset < section.count {
      let size = try section.number(at: offset)
      guard size.isMultiple(of: 8), size >= 40 else { throw Bytes.Fault("record of \(size) bytes") }
      let record = try section.part(at: offset, count: size)
      let head = try [(4, 2), (8, 4), (12, 4), (16, 8)].map(record.number(at:size:))
      guard head == [1, 0, 32, 0] else { throw Bytes.Fault("record with the head \(head)") }
      let text = try record.part(at: 32, count: size - 32).texts()
      guard 1...9 ~= text.padding else { throw Bytes.Fault("\(text.padding) bytes of padding") }
      let kind = try record.number(at: 6, size: 2)
      lines.append("\(kind) " + text.texts.joined(separator: " | "))
      offset += size
    }
    return lines
  }
}
