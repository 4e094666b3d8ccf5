/// Reads the `%XX` of URLs and patterns, once.
package enum PercentDecoding {
  /// What Unicode's Stream-Safe Text Format allows: to compare texts takes time that grows with the square of
  /// such runs, and no language has longer ones.
  private static let mostMarks = 30

  private static func hasManyMarks(_ text: String) -> Bool {
    guard text.utf8.contains(where: { $0 >= 0x80 }) else { return false }
    var run = 0
    for scalar in text.unicodeScalars {
      run = scalar.properties.canonicalCombiningClass == .notReordered ? 0 : run + 1
      if run > mostMarks { return true }
    }
    return false
  }

  /// Decodes the text of one part of a URL.
  ///
  /// - Parameters:
  ///   - bytes: The part, cut out before anything of it is decoded.
  ///   - what: What messages call the part.
  ///   - plusIsBlank: Whether a plus is read as a blank, as in a query.
  /// - Returns: The text, which is UTF-8.
  /// - Throws: ``Refusal`` for `%` without two digits, for `%00`, and for what is not UTF-8.
  package static func text(
    of bytes: ArraySlice<UInt8>, _ what: String, plusIsBlank: Bool = false
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
}
