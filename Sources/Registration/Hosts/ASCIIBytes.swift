extension UInt8 {
  /// Whether this is a letter of ASCII.
  package var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }
  /// Whether this is a digit of ASCII.
  package var isDigit: Bool { (0x30...0x39).contains(self) }
  /// The letter in lower case; any other byte as it is.
  package var lowercased: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }

  /// Whether a scheme may hold this behind its first letter.
  package var isSchemeCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
      || self == UInt8(ascii: ".")
  }

  /// The value of a hexadecimal digit.
  package var hexadecimal: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }

  /// The byte as a URL holds any: `%2F`.
  package var percentEncoded: [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
  }
}

extension Collection<UInt8> {
  /// The text of these bytes, with `%XX` in place of those that need it.
  package func percentEncoded(where needsEncoding: (UInt8) -> Bool) -> String {
    guard contains(where: needsEncoding) else { return String(decoding: self, as: UTF8.self) }
    return String(
      decoding: flatMap { needsEncoding($0) ? $0.percentEncoded : [$0] }, as: UTF8.self)
  }
}

extension Substring {
  /// The text before and behind the first `separator`, whatever marks follow it; nil where it has none.
  ///
  /// By scalars, as bytes are: of the character that `/` and U+0301 make, this finds the `/`.
  package func cut(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
    let scalars = unicodeScalars
    guard let index = scalars.firstIndex(of: separator) else { return nil }
    return (self[..<index], self[scalars.index(after: index)...])
  }

  /// The text before the first `separator`, or all where it has none, and the text behind it.
  package func split(at separator: Unicode.Scalar) -> (before: Substring, after: Substring?) {
    cut(at: separator).map { ($0.before, $0.after) } ?? (self, nil)
  }

  /// The parts between separators that are not empty.
  package func parts(at separator: Unicode.Scalar) -> [Substring] {
    unicodeScalars.split(separator: separator).map { Substring($0) }
  }

  /// All but the first scalar.
  package var dropFirstScalar: Substring { Substring(unicodeScalars.dropFirst()) }

  /// All but the last scalar.
  package var dropLastScalar: Substring { Substring(unicodeScalars.dropLast()) }
}
