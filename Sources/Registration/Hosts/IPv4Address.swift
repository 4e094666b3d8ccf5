internal import LibC

/// Reads IPv4 addresses as the URL Standard does: "ends in a number checker", "IPv4 parser". The C library
/// reads all of its forms but a `0x` without digits, which is 0.
enum IPv4Address {
  /// Reads the address that a name is, in dotted decimals.
  ///
  /// - Parameters:
  ///   - name: The host, decoded.
  ///   - index: What errors name as its place.
  /// - Returns: The address; nil where the last label is no number, so that this is a name.
  /// - Throws: ``TextProblem`` where the last label is a number and the whole is no address.
  static func text(of name: ArraySlice<UInt8>, at index: Int) throws(TextProblem) -> String? {
    var labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard let last = labels.last, !last.isEmpty,
      last.allSatisfy(\.isDigit) || isHexadecimal(last)
    else { return nil }
    let numbers = labels.map {
      $0.elementsEqual("0x".utf8) ? "0" : String(decoding: $0, as: UTF8.self)
    }
    var address = in_addr()
    try TextProblem.check(
      unsafe inet_aton(numbers.joined(separator: "."), &address) != 0, index,
      "a host whose last label is a number is an IPv4 address: four numbers up to 255, or fewer, of "
        + "which the last fills what is left")
    return unsafe withUnsafeBytes(of: address) { bytes in
      unsafe bytes.map(String.init).joined(separator: ".")
    }
  }

  private static func isHexadecimal(_ label: ArraySlice<UInt8>) -> Bool {
    label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy { $0.hexadecimal != nil }
  }
}
