internal import LibC

/// An IPv6 address in brackets, read as the URL Standard's "IPv6 parser" does, which is how the C library does,
/// and written as its "IPv6 serializer".
enum IPv6Address {
  /// Reads an address with its brackets. Returns it in lower case, without leading zeros, the longest run of
  /// zeros as `::`.
  static func text(of bytes: ArraySlice<UInt8>) throws(TextProblem) -> String {
    var address = in6_addr()
    let text = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
    guard bytes.last == UInt8(ascii: "]"), !bytes.contains(0),
      unsafe inet_pton(AF_INET6, text, &address) == 1
    else {
      throw TextProblem(
        bytes.startIndex,
        "an IPv6 host is eight groups of hexadecimal digits, or fewer with one ::, and the last two may "
          + "be an IPv4 address")
    }
    let pieces = unsafe withUnsafeBytes(of: address) { bytes in
      (0..<8).map { unsafe UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
    }
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
}
