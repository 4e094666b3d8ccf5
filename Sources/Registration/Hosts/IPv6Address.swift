/// An IPv6 address in brackets, read and written as the URL Standard does: "IPv6 parser", "IPv6 serializer".
struct IPv6Address {
  private let pieces: [UInt16]

  /// Reads an address with its brackets.
  init(_ bytes: ArraySlice<UInt8>) throws(TextProblem) {
    let pieces = Self.pieces(ofAddress: bytes.dropFirst().dropLast())
    guard bytes.last == UInt8(ascii: "]"), let pieces, pieces.count == 8 else {
      throw TextProblem(
        bytes.startIndex,
        "an IPv6 host is eight groups of hexadecimal digits, or fewer with one ::, and the last two may "
          + "be an IPv4 address")
    }
    self.pieces = pieces
  }

  /// In lower case, without leading zeros, the longest run of zeros as `::`.
  var text: String {
    var run = 0..<0
    var start = 0
    while start < 8 {
      let end = pieces[start...].firstIndex { $0 != 0 } ?? 8
      if end - start > max(run.count, 1) { run = start..<end }
      start = end + 1
    }
    func groups(_ range: Range<Int>) -> String {
      pieces[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard !run.isEmpty else { return groups(0..<8) }
    return groups(0..<run.lowerBound) + "::" + groups(run.upperBound..<8)
  }

  /// The pieces of an address, with those that `::` leaves out: one at least.
  private static func pieces(ofAddress text: ArraySlice<UInt8>) -> [UInt16]? {
    let gap = zip(text.indices, text.indices.dropFirst()).first { first, second in
      text[first] == colon && text[second] == colon
    }
    guard let gap else { return pieces(ofGroups: text) }
    guard let before = pieces(ofGroups: text[..<gap.0]),
      let behind = pieces(ofGroups: text[(gap.1 + 1)...]), before.count + behind.count < 8,
      !text[..<gap.0].contains(dot)
    else { return nil }
    return before + Array(repeating: 0, count: 8 - before.count - behind.count) + behind
  }

  /// The pieces of groups with one colon between two of them; the last one may be an IPv4 address.
  private static func pieces(ofGroups text: ArraySlice<UInt8>) -> [UInt16]? {
    if text.isEmpty { return [] }
    var pieces: [UInt16] = []
    for group in text.split(separator: colon, omittingEmptySubsequences: false) {
      let digits = group.compactMap(\.hexadecimal)
      if group.endIndex == text.endIndex, group.contains(dot) {
        guard let address = Self.pieces(ofIPv4: group) else { return nil }
        pieces += address
      } else if (1...4).contains(digits.count), digits.count == group.count {
        pieces.append(digits.reduce(0) { $0 << 4 | UInt16($1) })
      } else {
        return nil
      }
    }
    return pieces
  }

  /// The pieces of four decimal numbers without leading zeros.
  private static func pieces(ofIPv4 text: ArraySlice<UInt8>) -> [UInt16]? {
    let parts = text.split(separator: dot, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part -> UInt16? in
      guard (1...3).contains(part.count), part.allSatisfy(\.isDigit),
        part.count == 1 || part.first != UInt8(ascii: "0")
      else { return nil }
      let number = part.reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
      return number <= 255 ? number : nil
    }
    guard parts.count == 4, numbers.count == 4 else { return nil }
    return [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
  }

  private static let colon = UInt8(ascii: ":")
  private static let dot = UInt8(ascii: ".")
}
