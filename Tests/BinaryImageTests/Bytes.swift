import BinaryImage
import Testing

extension UInt64 {
  /// Returns the lowest bytes, in a byte order.
  func bytes(_ size: Int, _ order: ImageIdentity.ByteOrder = .little) -> [UInt8] {
    let little = (0..<size).map { UInt8(truncatingIfNeeded: self >> UInt64($0 * 8)) }
    return order == .little ? little : little.reversed()
  }
}

extension [UInt8] {
  /// Returns the little-endian number of `size` bytes at an offset.
  func number(_ size: Int, at place: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[place + $1]) << UInt64($1 * 8) }
  }

  /// Writes a little-endian number over `size` bytes at an offset.
  mutating func put(_ value: UInt64, _ size: Int = 4, at place: Int) {
    replaceSubrange(place..<place + size, with: value.bytes(size))
  }

  /// Adds to the 32-bit number at an offset.
  mutating func add(_ difference: Int32, at place: Int) {
    put(number(4, at: place) &+ UInt64(bitPattern: Int64(difference)), 4, at: place)
  }

  /// The offsets of the descriptors of the `.note.beehive` notes in a file.
  var noteDescriptors: [Int] {
    let start = [8, 0, 0, 0, 36, 0, 0, 0, 1, 0x45, 0x45, 0x42] + Array("Beehive\0".utf8) as [UInt8]
    return indices.dropLast(start.count + 36).filter {
      self[$0] == 8 && Array(self[$0..<$0 + start.count]) == start
    }.map { $0 + start.count }
  }
}

/// A change to a sound file.
struct Lie<File>: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// The code of the expected problem; nil if every entry is found without a problem.
  var code: ImageError.Code?
  var change: @Sendable (inout File) -> Void

  init(
    _ name: String, _ code: ImageError.Code?, _ change: @escaping @Sendable (inout File) -> Void
  ) {
    (testDescription, self.code, self.change) = (name, code, change)
  }
}
