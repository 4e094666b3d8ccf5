extension UInt8 {
  /// Whether this is a letter of ASCII.
  package var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }
  /// Whether this is a digit of ASCII.
  package var isDigit: Bool { (0x30...0x39).contains(self) }
  /// The letter in lower case; any other byte as it is.
  package var lowercased: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }

  /// Whether a scheme may hold this after its first letter.
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

  /// The byte in percent-encoding: `%2F`.
  package var percentEncoded: [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
  }
}

extension Collection<UInt8> {
  /// Returns the text of these bytes, with `%XX` for those that need it.
  package func percentEncoded(where needsEncoding: (UInt8) -> Bool) -> String {
    guard contains(where: needsEncoding) else { return String(decoding: self, as: UTF8.self) }
    return String(decoding: flatMap { needsEncoding($0) ? $0.percentEncoded : [$0] }, as: UTF8.self)
  }
}

extension Substring {
  /// Returns the text before and after the first `separator`, whatever marks follow it; nil if there is none.
  ///
  /// By bytes: of the character that `/` and U+0301 make, this finds the `/`.
  package func cut(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
    guard let index = utf8.firstIndex(of: UInt8(ascii: separator)) else { return nil }
    return (self[..<index], self[utf8.index(after: index)...])
  }

  /// Returns the text before and after the first `separator`; all of it and nil if there is none.
  package func split(at separator: Unicode.Scalar) -> (before: Substring, after: Substring?) {
    cut(at: separator).map { ($0.before, $0.after) } ?? (self, nil)
  }

  /// Returns the parts between separators, without the empty ones.
  package func parts(at separator: Unicode.Scalar) -> [Substring] {
    utf8.split(separator: UInt8(ascii: separator)).map { Substring($0) }
  }

  /// All but the first scalar.
  package var dropFirstScalar: Substring { Substring(unicodeScalars.dropFirst()) }

  /// All but the last scalar.
  package var dropLastScalar: Substring { Substring(unicodeScalars.dropLast()) }
}

/// The limit of Unicode's Stream-Safe Text Format. Comparing texts takes time that grows with the square of
/// such runs, and no language has longer ones.
private let mostMarks = 30

/// Returns whether a text has a longer run of combining marks.
package func hasManyMarks(_ text: String) -> Bool {
  guard text.utf8.contains(where: { $0 >= 0x80 }) else { return false }
  var run = 0
  for scalar in text.unicodeScalars {
    // Three vowel signs of Tibetan have the class of a letter, and decompose into two marks.
    let isMark = [0xf73, 0xf75, 0xf81].contains(scalar.value)
    run =
      scalar.properties.canonicalCombiningClass == .notReordered && !isMark
      ? 0 : run + (isMark ? 2 : 1)
    if run > mostMarks { return true }
  }
  return false
}

/// Decodes the `%XX` of one part of a URL or of a pattern, once.
///
/// - Parameters:
///   - bytes: The part, cut out before anything of it is decoded.
///   - what: The name of the part in messages.
///   - plusIsBlank: Whether a plus is read as a blank, as in a query.
/// - Returns: The text, which is UTF-8.
/// - Throws: ``Refusal`` for `%` without two digits, for `%00`, and for bytes that are not UTF-8.
package func percentDecoded(
  _ bytes: ArraySlice<UInt8>, _ what: String, plusIsBlank: Bool = false
) throws(Refusal) -> String {
  let plus = plusIsBlank ? UInt8(ascii: "+") : UInt8(ascii: "%")
  var index = bytes.startIndex
  while index < bytes.endIndex, bytes[index] != UInt8(ascii: "%"), bytes[index] != plus {
    index += 1
  }
  var decoded = Array(bytes[..<index])
  decoded.reserveCapacity(bytes.count)
  while index < bytes.endIndex {
    switch bytes[index] {
    case UInt8(ascii: "%"):
      guard index + 2 < bytes.endIndex, let high = bytes[index + 1].hexadecimal,
        let low = bytes[index + 2].hexadecimal
      else {
        throw Refusal(at: index, "% is followed by two hexadecimal digits; write %25 for %")
      }
      let byte = high << 4 | low
      try Refusal.check(byte != 0, at: index, "%00 is in no name and no value")
      decoded.append(byte)
      index += 3
    case plus:
      decoded.append(UInt8(ascii: " "))
      index += 1
    default:
      decoded.append(bytes[index])
      index += 1
    }
  }
  guard let text = String(validating: decoded, as: UTF8.self) else {
    throw Refusal(at: bytes.startIndex, "\(what) is not UTF-8 when it is decoded")
  }
  try Refusal.check(
    !hasManyMarks(text), at: bytes.startIndex,
    "\(what) has more than \(mostMarks) combining marks behind one another")
  return text
}
