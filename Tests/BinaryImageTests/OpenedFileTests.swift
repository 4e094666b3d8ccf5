import BinaryImage
import Foundation
import ObjectFiles
import Testing

/// Files that somebody changes between two reads. The reader reports the change, whatever it looks like.
@Suite("Files that are changed while they are open")
struct OpenedFileTests {
  /// A change to a file.
  struct Change: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Whether the clock of the file system stood still during the change.
    var isTimeless = false
    /// Turns the bytes of a sound file into the later contents.
    var rewritten: @Sendable ([UInt8]) -> [UInt8]
  }

  static let changes = [
    Change(testDescription: "written anew") { $0 },
    Change(testDescription: "made longer within one tick", isTimeless: true) { $0 + [0] },
    Change(testDescription: "made shorter within one tick", isTimeless: true) { $0.dropLast() },
    Change(testDescription: "cut off") { Array($0.prefix(600)) },
    Change(testDescription: "overwritten from byte 64 on") {
      $0.prefix(64) + [UInt8](repeating: 0xff, count: $0.count - 64)
    },
  ]

  /// Opens a file, then changes it.
  private func open(_ bytes: [UInt8], _ change: Change) throws -> any FileImage {
    let path = try Fixture.write(bytes, as: "changed-\(UUID().uuidString)")
    try Fixture.run("touch", ["-d", "2001-02-03 04:05:06.123456789", path])
    let image = try ImageFile.open(path)
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    let later = change.rewritten(bytes)
    try handle.write(contentsOf: later)
    try handle.truncate(atOffset: UInt64(later.count))
    try handle.close()
    if change.isTimeless {
      try Fixture.run("touch", ["-d", "2001-02-03 04:05:06.123456789", path])
    }
    return image
  }

  private static func elf() throws -> [UInt8] {
    try Fixture.bytes(of: FileAnswer.build("unchanged-\(UUID().uuidString)", ["-shared"]))
  }

  @Test("are told to have been changed, not to be cut off or malformed", arguments: changes)
  func told(change: Change) throws {
    for bytes in try [Self.elf(), MachOBuilder().bytes] {
      expectError(.unreadable) { try open(bytes, change).checkExtents() }
    }
  }

  @Test("are no others where nobody wrote to them")
  func unchanged() throws {
    for bytes in try [Self.elf(), MachOBuilder().bytes] {
      let image = try ImageFile.open(Fixture.write(bytes, as: "unchanged-\(UUID().uuidString)"))
      _ = try image.sections(named: "BeehiveMods")
      try image.checkExtents()
    }
  }
}
