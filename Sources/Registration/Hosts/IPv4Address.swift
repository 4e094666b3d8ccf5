/// Reads IPv4 addresses as the URL Standard does: "ends in a number checker", "IPv4 parser".
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
      last.allSatisfy(\.isDigit) || number(last) != nil
    else { return nil }
    let numbers = labels.compactMap(number)
    guard labels.count <= 4, numbers.count == labels.count, let rest = numbers.last,
      numbers.dropLast().allSatisfy({ $0 <= 255 }), rest < 1 << (8 * (5 - numbers.count))
    else {
      throw TextProblem(
        index,
        "a host whose last label is a number is an IPv4 address: four numbers up to 255, or fewer, of "
          + "which the last fills what is left")
    }
    var address = rest
    for (place, number) in numbers.dropLast().enumerated() {
      address += number << (8 * (3 - place))
    }
    return (0..<4).map { "\(address >> (8 * (3 - $0)) & 255)" }.joined(separator: ".")
  }

  /// A number in decimal, after `0x` in hexadecimal, after `0` in octal; one that no address holds is
  /// larger than any that does.
  private static func number(_ label: ArraySlice<UInt8>) -> UInt64? {
    guard let first = label.first else { return nil }
    var digits = label
    var radix: UInt64 = 10
    if first == UInt8(ascii: "0"), label.count > 1 {
      let isHexadecimal = label[label.startIndex + 1].lowercased == UInt8(ascii: "x")
      digits = label.dropFirst(isHexadecimal ? 2 : 1)
      radix = isHexadecimal ? 16 : 8
    }
    var number: UInt64 = 0
    for byte in digits {
      guard let digit = byte.hexadecimal, digit < radix else { return nil }
      number = min(number * radix + UInt64(digit), 1 << 40)
    }
    return number
  }
}
