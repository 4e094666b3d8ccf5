/// An IPv6 address in brackets, read and written as the URL Standard does: "IPv6 parser", "IPv6 serializer".
struct IPv6Address {
  private var pieces = [UInt16](repeating: 0, count: 8)

  /// Reads an address with its brackets.
  init(_ bytes: ArraySlice<UInt8>) throws(URLRefusal) {
    var reader = Reader(rest: bytes.dropFirst().dropLast())
    guard bytes.last == UInt8(ascii: "]"), reader.read(into: &pieces) else {
      throw URLRefusal(
        bytes.startIndex,
        "an IPv6 host is eight groups of hexadecimal digits, or fewer with one ::, and the last two may "
          + "be an IPv4 address")
    }
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

  /// Takes an address off its front, group by group.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    private static let colon = UInt8(ascii: ":")
    private static let dot = UInt8(ascii: ".")

    /// Fills the pieces; false where the text is no address.
    mutating func read(into pieces: inout [UInt16]) -> Bool {
      var count = 0
      /// The number of pieces before `::`.
      var gap: Int?
      if rest.starts(with: [Self.colon, Self.colon]) {
        rest = rest.dropFirst(2)
        gap = 0
      }
      while let byte = rest.first {
        guard count < 8 else { return false }
        if byte == Self.colon {
          // The first colon of two was taken with the group before it.
          guard gap == nil, count > 0 else { return false }
          rest = rest.dropFirst()
          gap = count
          continue
        }
        let digits = rest.prefix { $0.hexadecimal != nil }
        if digits.count < rest.count, rest[digits.endIndex] == Self.dot {
          guard count <= 6, let (high, low) = readIPv4() else { return false }
          (pieces[count], pieces[count + 1]) = (high, low)
          count += 2
          break
        }
        guard (1...4).contains(digits.count) else { return false }
        pieces[count] = digits.reduce(0) { $0 << 4 | UInt16($1.hexadecimal ?? 0) }
        count += 1
        rest = rest[digits.endIndex...]
        guard let next = rest.popFirst() else { break }
        guard next == Self.colon, !rest.isEmpty else { return false }
      }
      guard let gap else { return count == 8 }
      // `::` is one piece at least.
      guard count < 8 else { return false }
      pieces.replaceSubrange(
        gap..., with: Array(repeating: 0, count: 8 - count) + pieces[gap..<count])
      return true
    }

    /// Four decimal numbers without leading zeros, up to the end.
    private mutating func readIPv4() -> (high: UInt16, low: UInt16)? {
      let parts = rest.split(separator: Self.dot, omittingEmptySubsequences: false)
      let numbers = parts.compactMap { part -> UInt16? in
        guard (1...3).contains(part.count), part.allSatisfy(\.isDigit),
          part.count == 1 || part.first != UInt8(ascii: "0")
        else { return nil }
        let number = part.reduce(0) { $0 * 10 + UInt16($1 - 0x30) }
        return number <= 255 ? number : nil
      }
      rest = []
      guard parts.count == 4, numbers.count == 4 else { return nil }
      return (numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3])
    }
  }
}
