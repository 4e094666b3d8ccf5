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

  /// What is looked for does not fit in.
  struct TooShort: Error {}

  /// 32 bits at a place.
  func single(_ place: Int) throws(TooShort) -> UInt32 {
    try there(bytes.span.extracting(range).integer(at: place, order: order))
  }

  /// The same as a number that counts bytes, or entries.
  func number(_ place: Int) throws(TooShort) -> UInt64 { UInt64(try single(place)) }

  /// An address or a size of this class.
  func word(_ place: Int) throws(TooShort) -> UInt64 {
    try there(bytes.span.extracting(range).word(at: place, bits: bits, order: order))
  }

  /// Offset and size, 32 bits each.
  func extent(_ place: Int) throws(TooShort) -> FileExtent {
    FileExtent(offset: try number(place), size: try number(place + 4))
  }

  /// Bytes as they are.
  func bytes(_ place: Int, count: Int) throws(TooShort) -> [UInt8] {
    guard place + count <= range.count else { throw TooShort() }
    return Array(bytes[range.lowerBound + place..<range.lowerBound + place + count])
  }

  /// A name of 16 bytes, which fills them or ends with NUL.
  func name(_ place: Int) throws(TooShort) -> String {
    String(decoding: try bytes(place, count: 16).prefix { $0 != 0 }, as: UTF8.self)
  }

  private func there<Value>(_ value: Value?) throws(TooShort) -> Value {
    guard let value else { throw TooShort() }
    return value
  }
}
