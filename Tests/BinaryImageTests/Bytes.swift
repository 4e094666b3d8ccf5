import BinaryImage
import Testing

extension UInt64 {
  /// Its lowest bytes in an order.
  func bytes(_ size: Int, _ order: ImageIdentity.ByteOrder = .little) -> [UInt8] {
    let little = (0..<size).map { UInt8(truncatingIfNeeded: self >> UInt64($0 * 8)) }
    return order == .little ? little : little.reversed()
  }
}

extension [UInt8] {
  /// The little-endian number of `size` bytes at a place.
  func number(_ size: Int, at place: Int) -> UInt64 {
    (0..<size).reduce(0) { $0 | UInt64(self[place + $1]) << UInt64($1 * 8) }
  }

  /// Writes a little-endian number over `size` bytes at a place.
  mutating func put(_ value: UInt64, _ size: Int = 4, at place: Int) {
    replaceSubrange(place..<place + size, with: value.bytes(size))
  }

  /// Adds to the 32-bit number at a place.
  mutating func add(_ difference: Int32, at place: Int) {
    put(number(4, at: place) &+ UInt64(bitPattern: Int64(difference)), 4, at: place)
  }

  /// The places of the descriptors of the notes `.note.beehive` in a file.
  var noteDescriptors: [Int] {
    let start = [8, 0, 0, 0, 36, 0, 0, 0, 1, 0x45, 0x45, 0x42] + Array("Beehive\0".utf8) as [UInt8]
    return indices.dropLast(start.count + 36).filter {
      self[$0] == 8 && Array(self[$0..<$0 + start.count]) == start
    }.map { $0 + start.count }
  }
}

/// A change to a file that is sound.
struct Lie<File>: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// The code of the problem; nil if every entry is found and nothing is wrong.
  var code: ImageError.Code?
  var change: @Sendable (inout File) -> Void

  init(
    _ name: String, _ code: ImageError.Code?, _ change: @escaping @Sendable (inout File) -> Void
  ) {
    (testDescription, self.code, self.change) = (name, code, change)
  }
}
