/// Reads numbers of variable length, seven bits a byte, from bytes that may be hostile.
package struct LEBReader {
  /// Where the next byte is.
  private var position: Int
  private let bytes: [UInt8]
  private let file: OpenedFile
  /// What the bytes are, for errors: `the packed relocations`.
  private let what: String

  /// Starts at a position of bytes of a file that errors call `what`.
  package init(_ bytes: [UInt8], of file: OpenedFile, _ what: String, at position: Int = 0) {
    (self.bytes, self.file, self.what, self.position) = (bytes, file, what, position)
  }

  /// Whether all bytes were read.
  package var isAtEnd: Bool { position >= bytes.count }

  /// The next byte.
  package mutating func byte() throws(ImageError) -> UInt8 {
    try file.check(position < bytes.count, .malformed, "There is more to read than \(what) hold.")
    defer { position += 1 }
    return bytes[position]
  }

  /// `ULEB128`.
  package mutating func unsigned() throws(ImageError) -> UInt64 { try number().value }

  /// `SLEB128`.
  package mutating func signed() throws(ImageError) -> Int64 {
    let (value, width, isNegative) = try number()
    let sign = isNegative && width < 64 ? UInt64.max << UInt64(width) : 0
    return Int64(bitPattern: value | sign)
  }

  /// `SLEB128`, as what is added to an unsigned number.
  package mutating func difference() throws(ImageError) -> UInt64 {
    UInt64(bitPattern: try signed())
  }

  /// Where the text at the position is, without its NUL; goes on behind that.
  package mutating func text() throws(ImageError) -> Range<Int> {
    guard let length = bytes.span.textLength(from: position) else {
      throw file.error(.malformed, "A name does not end before \(what) do.")
    }
    defer { position += length + 1 }
    return position..<position + length
  }

  private mutating func number() throws(ImageError) -> (
    value: UInt64, width: Int, isNegative: Bool
  ) {
    var value: UInt64 = 0
    var width = 0
    while true {
      let byte = try byte()
      try file.check(width < 70, .malformed, "A number of \(what) has too many digits.")
      value |= UInt64(byte & 0x7f) << UInt64(width)
      width += 7
      if byte < 0x80 { return (value, width, byte & 0x40 != 0) }
    }
  }
}
