internal import BinaryImage

/// The fields of one load command, or of one entry of a table.
struct MachOFields {
  private let bytes: [UInt8]
  private let range: Range<Int>
  let bits: Int
  private let order: ImageIdentity.ByteOrder

  /// Looks at a range that `bytes` have.
  init(_ bytes: [UInt8], _ range: Range<Int>, bits: Int, order: ImageIdentity.ByteOrder) {
    (self.bytes, self.range, self.bits, self.order) = (bytes, range, bits, order)
  }

  /// The length in bytes.
  var count: Int { range.count }

  /// 32 bits at a place; nil where they do not fit in.
  func single(_ place: Int) -> UInt32? {
    bytes.span.extracting(range).integer(at: place, order: order)
  }

  /// 16 bits at a place; nil where they do not fit in.
  func half(_ place: Int) -> UInt16? {
    bytes.span.extracting(range).integer(at: place, order: order)
  }

  /// A byte at a place; nil where it does not fit in.
  func byte(_ place: Int) -> UInt8? { place < range.count ? bytes[range.lowerBound + place] : nil }

  /// An address or a size of this class; nil where it does not fit in.
  func word(_ place: Int) -> UInt64? {
    bytes.span.extracting(range).word(at: place, bits: bits, order: order)
  }

  /// Bytes as they stand; nil where they do not fit in.
  func bytes(_ place: Int, count: Int) -> [UInt8]? {
    guard place + count <= range.count else { return nil }
    return Array(bytes[range.lowerBound + place..<range.lowerBound + place + count])
  }

  /// A name of 16 bytes, which fills them or ends with NUL; nil where it does not fit in.
  func name(_ place: Int) -> String? {
    bytes(place, count: 16).map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
