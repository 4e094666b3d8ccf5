internal import LibC

/// Integers of either byte order, read from bytes that may be hostile.
extension Span where Element == UInt8 {
  /// Returns the unsigned integer at `offset`, or nil if it does not fit in.
  @inline(__always)
  package func integer<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    at offset: Int, as type: Value.Type = Value.self, order: ImageIdentity.ByteOrder
  ) -> Value? {
    guard offset >= 0, offset <= count - MemoryLayout<Value>.size else { return nil }
    // Sound: the range was just checked, and every bit pattern is a value of an integer type.
    let value = unsafe bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: Value.self)
    return order == .little ? Value(littleEndian: value) : Value(bigEndian: value)
  }

  /// Returns the word of `bits` (32 or 64) at `offset`, or nil if it does not fit in.
  @inline(__always)
  package func word(at offset: Int, bits: Int, order: ImageIdentity.ByteOrder) -> UInt64? {
    if bits == 64 { return integer(at: offset, as: UInt64.self, order: order) }
    return integer(at: offset, as: UInt32.self, order: order).map(UInt64.init)
  }

  /// Returns the number of bytes from `start` to the first NUL; nil if there is no NUL.
  package func textLength(from start: Int) -> Int? {
    guard start >= 0 else { return nil }
    var position = start
    while position < count {
      if self[position] == 0 { return position - start }
      position += 1
    }
    return nil
  }

  /// Returns whether both have the same bytes.
  package func equals(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    // Sound: both buffers have that many bytes, and are only used inside the calls.
    return unsafe withUnsafeBufferPointer { bytes in
      unsafe other.withUnsafeBufferPointer { others in
        guard let start = bytes.baseAddress, let other = others.baseAddress else { return true }
        return unsafe memcmp(start, other, bytes.count) == 0
      }
    }
  }

  /// Returns whether `text` is at `offset`, with at least one byte after it.
  package func holds(_ text: Span<UInt8>, at offset: Int) -> Bool {
    guard offset >= 0, offset < count, text.count < count - offset else { return false }
    // Mostly the first byte decides.
    guard text.isEmpty || self[offset] == text[0] else { return false }
    return extracting(offset..<offset + text.count).equals(text)
  }
}

extension String {
  /// The text of `bytes`; what is not UTF-8 becomes the replacement character.
  package init(decoding bytes: Span<UInt8>) {
    // Sound: the buffer is only used inside the call.
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension BinaryInteger {
  /// Returns `1 file` or `2 files`.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) \(self == 1 ? one : many ?? "\(one)s")"
  }
}

extension UInt64 {
  /// The number in base 16, as reports and messages print it: `0x3018`.
  package var hexadecimal: String { "0x" + String(self, radix: 16) }

  /// Returns the sum, or the largest number if the sum would overflow.
  package func saturating(adding other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension [UInt8] {
  /// Two hexadecimal digits for each byte, as build-ids are printed.
  package var hexadecimal: String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * count)
    func append(_ half: UInt8) {
      digits.append(half + (half < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
    for byte in self {
      append(byte >> 4)
      append(byte & 0xf)
    }
    return String(decoding: digits, as: UTF8.self)
  }
}

// Sentences that people read.
extension String {
  /// The text with a capital first letter, to begin a sentence; a path stays as it is.
  package var capitalizedFirst: String {
    guard let first, first.isLetter, !contains("/") || hasPrefix("the ") else { return self }
    return first.uppercased() + dropFirst()
  }

  /// The text with a small first letter, to go on after a colon.
  package var lowercasedFirst: String {
    guard let first, first.isUppercase else { return self }
    return first.lowercased() + dropFirst()
  }

  /// Returns the text as lines of about 100 characters, each after `indentation` blanks.
  package func wrapped(by indentation: Int) -> [String] {
    let blanks = String(repeating: " ", count: indentation)
    var lines: [String] = []
    for word in split(separator: " ") {
      if let last = lines.last, last.count + word.count < 100 {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(blanks + word)
      }
    }
    return lines
  }
}

extension [String] {
  /// Returns whether it contains a text, byte by byte: Swift takes texts for equal that are two names to a file system.
  package func has(_ text: String) -> Bool { contains { $0.utf8.elementsEqual(text.utf8) } }

  /// Returns the first few elements, and how many more there are.
  package func shown(most: Int) -> String {
    let text = prefix(most).joined(separator: ", ")
    return count > most ? "\(text) and \(count - most) more" : text
  }
}

extension [[String]] {
  /// Returns the rows as lines with aligned columns; the first column may be aligned to the right.
  package func aligned(firstToTheRight: Bool = false) -> [String] {
    let widths = (first ?? []).indices.map { column in map { $0[column].count }.max() ?? 0 }
    return map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        line += firstToTheRight && column == 0 ? blanks + cell : cell + blanks
        line += "  "
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

// Text of a file or an image, made safe for terminals and logs: the one rule for the tool, the library and its errors.
extension String {
  /// The text with control bytes and invisible characters as `\x1b` or `\u{202e}`.
  ///
  /// A name in a hostile file must not move the cursor, change colours, begin a line or reverse one.
  /// Escaping twice changes nothing.
  package var escaped: String {
    if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
    var result = ""
    for scalar in unicodeScalars {
      guard scalar.isUnprintable else {
        result.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      if scalar.value < 0x80 {
        result += digits.utf8.count == 1 ? "\\x0\(digits)" : "\\x\(digits)"
      } else {
        result += "\\u{\(digits)}"
      }
    }
    return result
  }
}

extension Unicode.Scalar {
  /// Whether a terminal would act on it, or show nothing for it.
  package var isUnprintable: Bool {
    if value < 0xa0 { return value < 0x20 || value >= 0x7f }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: false
    }
  }
}

/// Reads numbers of variable length, seven bits a byte, from bytes that may be hostile.
package struct LEBReader {
  /// The index of the next byte.
  private var position: Int
  private let bytes: [UInt8]
  private let file: OpenedFile
  /// The name of the bytes, for errors: `the packed relocations`.
  private let what: String

  /// Starts at a position of bytes of a file that errors call `what`.
  package init(_ bytes: [UInt8], of file: OpenedFile, _ what: String, at position: Int = 0) {
    (self.bytes, self.file, self.what, self.position) = (bytes, file, what, position)
  }

  /// Whether all bytes were read.
  package var isAtEnd: Bool { position >= bytes.count }

  /// Reads the next byte.
  package mutating func byte() throws(ImageError) -> UInt8 {
    try file.check(position < bytes.count, .malformed, "There is more to read than \(what) hold.")
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads a `ULEB128`.
  package mutating func unsigned() throws(ImageError) -> UInt64 { try number().value }

  /// Reads a `SLEB128`.
  package mutating func signed() throws(ImageError) -> Int64 {
    let (value, width, isNegative) = try number()
    let sign = isNegative && width < 64 ? UInt64.max << UInt64(width) : 0
    return Int64(bitPattern: value | sign)
  }

  /// Reads a `SLEB128` as a difference, to be added to an unsigned number.
  package mutating func difference() throws(ImageError) -> UInt64 {
    UInt64(bitPattern: try signed())
  }

  /// Reads a text. Returns its range without the NUL, and goes on after the NUL.
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
