/// The note `.note.beehive` of a file, to be damaged.
enum NoteBytes {
  /// Where the descriptors of the notes stand in a file.
  static func descriptors(in bytes: [UInt8]) -> [Int] {
    let start = [8, 0, 0, 0, 36, 0, 0, 0, 1, 0x45, 0x45, 0x42] + Array("Beehive\0".utf8) as [UInt8]
    return bytes.indices.dropLast(start.count + 36).filter {
      bytes[$0] == 8 && Array(bytes[$0..<$0 + start.count]) == start
    }.map { $0 + start.count }
  }

  /// The 32-bit field at `offset`.
  static func field(of bytes: [UInt8], at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32($1 * 8) }
  }

  /// Replaces the 32-bit field at `offset`.
  static func set(_ value: UInt32, in bytes: inout [UInt8], at offset: Int) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt32(index * 8))
    }
  }

  /// Adds to the 32-bit field at `offset`.
  static func add(_ difference: Int32, to bytes: inout [UInt8], at offset: Int) {
    set(field(of: bytes, at: offset) &+ UInt32(bitPattern: difference), in: &bytes, at: offset)
  }
}
