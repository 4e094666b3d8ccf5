import Testing

@testable import BinaryImage

@Suite("The notes of a segment")
struct ELFNoteTests {
  /// Returns a note as linkers write it, with its parts padded to 4 bytes.
  private func note(_ owner: String, type: UInt32, descriptor: [UInt8]) -> [UInt8] {
    func padded(_ bytes: [UInt8]) -> [UInt8] {
      bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
    let name = Array(owner.utf8) + [0]
    return UInt64(name.count).bytes(4) + UInt64(descriptor.count).bytes(4) + UInt64(type).bytes(4)
      + padded(name) + padded(descriptor)
  }

  private var ours: [UInt8] {
    note("Beehive", type: SectionNote.type, descriptor: [UInt8](repeating: 7, count: 36))
  }

  @Test(
    "ours is found behind a property note and a build-id, in segments of either alignment",
    arguments: [4, 8] as [UInt64])
  func mixed(alignment: UInt64) throws {
    // mold puts notes aligned to 8 and notes aligned to 4 into one segment of an executable.
    let bytes =
      note("GNU", type: 5, descriptor: [UInt8](repeating: 0, count: 16))
      + note("GNU", type: 3, descriptor: Array(1...20))
      + ours
    let notes = try Self.notes(in: bytes, alignment)
    #expect(notes.contains { $0.isBuildID && $0.descriptor.count == 20 })
    let found = notes.filter { $0.owner == .beehive && $0.type == SectionNote.type }
    #expect(found.map(\.descriptor.count) == [36])
  }

  @Test("what a descriptor holds is no note", arguments: [4, 8] as [UInt64])
  func inside(alignment: UInt64) throws {
    let bytes = note("GNU", type: 99, descriptor: ours) + ours
    let notes = try Self.notes(in: bytes, alignment)
    #expect(notes.map(\.owner) == [.gnu, .beehive])
  }

  @Test("a note that does not fit ends the list", arguments: [4, 8] as [UInt64])
  func truncated(alignment: UInt64) throws {
    for length in 0..<ours.count {
      let bytes = Array(ours.prefix(length))
      #expect(try Self.notes(in: bytes, alignment).isEmpty)
    }
  }

  private static func notes(in bytes: [UInt8], _ alignment: UInt64) throws -> [ELFNote] {
    try ELFNote.notes(in: bytes[...], alignment: alignment, order: .little, at: 0) {
      ImageError(.unreadable, image: "notes", message: $0)
    }
  }
}
