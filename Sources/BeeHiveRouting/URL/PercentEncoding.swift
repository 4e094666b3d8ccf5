extension URLScanner {
  /// The text of a range with its `%XX` decoded, once.
  func decode(
    _ range: Range<Int>, _ what: String, plusIsBlank: Bool = false
  ) throws(RoutingError) -> String {
    let plus = plusIsBlank ? UInt8(ascii: "+") : UInt8(ascii: "%")
    var index = range.lowerBound
    while index < range.upperBound, bytes[index] != UInt8(ascii: "%"), bytes[index] != plus {
      index += 1
    }
    if index == range.upperBound { return copy(range) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(range.count)
    index = range.lowerBound
    while index < range.upperBound {
      switch bytes[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < range.upperBound, let high = bytes[index + 1].hexadecimal,
          let low = bytes[index + 2].hexadecimal
        else { throw malformed(index, "% is followed by two hexadecimal digits; write %25 for %") }
        let byte = high << 4 | low
        guard byte != 0 else { throw malformed(index, "%00 is in no name and no value") }
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
      throw malformed(range.lowerBound, "\(what) is not UTF-8 when it is decoded")
    }
    return text
  }

  /// The text of a range that ends at ASCII bytes of a valid text.
  func copy(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }
}

/// Writes text so that a URL can hold it.
enum PercentEncoding {
  /// A segment of a path: what RFC 3986 reserves is encoded, so that it comes back as one segment.
  static func segment(_ text: String) -> String { encode(text, keeping: "-._~!$'()*,;=@+") }

  /// A host: nothing in it reads as a user or a port.
  static func host(_ text: String) -> String { encode(text, keeping: "-._~!$'()*,;=") }

  /// A key or a value of a query; a plus is encoded, since it would come back as a blank.
  static func query(_ text: String) -> String { encode(text, keeping: "-._~/:") }

  /// A parameter of a query.
  static func item(_ item: URLText.Item) -> String {
    query(item.name) + (item.value.map { "=\(query($0))" } ?? "")
  }

  private static func encode(_ text: String, keeping others: StaticString) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let kept = Set(others.description.utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if byte.isLetter || byte.isDigit || kept.contains(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  var isLetter: Bool { (0x61...0x7a).contains(self | 0x20) }
  var isDigit: Bool { (0x30...0x39).contains(self) }

  /// What a scheme may hold behind its first letter.
  var isSchemeCharacter: Bool {
    isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "-")
      || self == UInt8(ascii: ".")
  }

  /// What an IPv6 host may hold.
  var isAddressCharacter: Bool {
    hexadecimal != nil || self == UInt8(ascii: ":") || self == UInt8(ascii: ".")
  }

  /// The value of a hexadecimal digit.
  var hexadecimal: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }
}
