/// The part of a URL between `//` and the path: a host and a port.
package struct Authority: Hashable, Sendable {
  /// The host; nil if it is empty.
  package let host: Host?
  /// The port; nil if there is none.
  package let port: Int?

  /// Reads an authority.
  ///
  /// - Parameters:
  ///   - bytes: All between `//` and the next slash, as it was written.
  ///   - rules: The rules of the scheme.
  /// - Throws: ``Refusal`` for a user or a password, for a host or a port that cannot be read, for a
  ///   port without a host, and for a URL of the web without a host.
  package init(_ bytes: ArraySlice<UInt8>, _ rules: SchemeRules) throws(Refusal) {
    let colon = UInt8(ascii: ":")
    try Refusal.check(
      !bytes.contains(UInt8(ascii: "@")), at: bytes.startIndex,
      "a user or a password is not read here; leave out all up to the @")
    var end = bytes.firstIndex(of: colon) ?? bytes.endIndex
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw Refusal(at: bytes.startIndex, "the IPv6 host has no ]")
      }
      end = close + 1
      try Refusal.check(
        end == bytes.endIndex || bytes[end] == colon, at: end, "only a port may follow ]")
    }
    guard end > bytes.startIndex else {
      try Refusal.check(end == bytes.endIndex, at: end, "a port has a host before it")
      guard !rules.isWeb else { throw Self.noHost(end) }
      (host, port) = (nil, nil)
      return
    }
    host = try Host(bytes[..<end], rules)
    port = end + 1 < bytes.endIndex ? try Self.port(bytes[(end + 1)...]) : nil
  }

  /// Returns the refusal of a URL of the web without a host.
  package static func noHost(_ index: Int) -> Refusal {
    Refusal(at: index, "a URL of http or https names its host behind //")
  }

  private static func port(_ digits: ArraySlice<UInt8>) throws(Refusal) -> Int {
    guard digits.allSatisfy(\.isDigit), let port = UInt16(String(decoding: digits, as: UTF8.self))
    else { throw Refusal(at: digits.startIndex, "a port is a number up to 65535") }
    return Int(port)
  }
}

/// The rules of a scheme for hosts and slashes.
///
/// `http` and `https` have the URL Standard's rules of a host, and `\` is a slash. With every other scheme, and
/// with none, a host is opaque, and `\` is a character like others.
package struct SchemeRules: Hashable, Sendable {
  /// The port of a URL that names none; nil if no port is usual.
  package let defaultPort: Int?

  /// Creates the rules of a scheme in lower case; nil for a URL without a scheme.
  package init(scheme: String?) {
    switch scheme {
    case "http": defaultPort = 80
    case "https": defaultPort = 443
    default: defaultPort = nil
    }
  }

  package var isWeb: Bool { defaultPort != nil }

  /// Returns a byte before the query: a slash, if these rules take the byte for one.
  package func cut(_ byte: UInt8) -> UInt8 {
    isWeb && byte == UInt8(ascii: "\\") ? UInt8(ascii: "/") : byte
  }
}
