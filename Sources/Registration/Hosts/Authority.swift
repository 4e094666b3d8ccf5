/// The part of a URL between `//` and the path: a host and a port.
package struct Authority: Hashable, Sendable {
  /// Nil where it is empty.
  package let host: Host?
  /// Nil where there is none.
  package let port: Int?

  /// Reads an authority.
  ///
  /// - Parameters:
  ///   - bytes: All between `//` and the next slash, as it was written.
  ///   - rules: Those of the scheme.
  /// - Throws: ``TextProblem`` for a user or a password, for a host or a port that cannot be read, for a
  ///   port without a host, and where the web's rules ask for a host and there is none.
  package init(_ bytes: ArraySlice<UInt8>, _ rules: SchemeRules) throws(TextProblem) {
    let colon = UInt8(ascii: ":")
    try TextProblem.check(
      !bytes.contains(UInt8(ascii: "@")), bytes.startIndex,
      "a user or a password is not read here; leave out all up to the @")
    var end = bytes.firstIndex(of: colon) ?? bytes.endIndex
    if bytes.first == UInt8(ascii: "[") {
      guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw TextProblem(bytes.startIndex, "the IPv6 host has no ]")
      }
      end = close + 1
      try TextProblem.check(
        end == bytes.endIndex || bytes[end] == colon, end, "only a port may follow ]")
    }
    guard end > bytes.startIndex else {
      try TextProblem.check(end == bytes.endIndex, end, "a port has a host before it")
      guard !rules.isWeb else { throw Self.noHost(end) }
      (host, port) = (nil, nil)
      return
    }
    host = try Host(bytes[..<end], rules)
    port = end + 1 < bytes.endIndex ? try Self.port(bytes[(end + 1)...]) : nil
  }

  /// Why a URL of the web without a host is refused.
  package static func noHost(_ index: Int) -> TextProblem {
    TextProblem(index, "a URL of http or https names its host behind //")
  }

  private static func port(_ digits: ArraySlice<UInt8>) throws(TextProblem) -> Int {
    var number = 0
    for index in digits.indices {
      try TextProblem.check(
        digits[index].isDigit && number <= 65535, index, "a port is a number up to 65535")
      number = number * 10 + Int(digits[index] - UInt8(ascii: "0"))
    }
    try TextProblem.check(number <= 65535, digits.startIndex, "a port is a number up to 65535")
    return number
  }
}

/// What the scheme of a URL says of how its host and its slashes are read.
package enum SchemeRules: Hashable, Sendable {
  /// `http` and `https`: the URL Standard's rules of a host, and `\` is a slash.
  case web(defaultPort: Int?)
  /// Every other scheme, and none: a host is opaque, and `\` is a character like others.
  case opaque

  /// The rules of a scheme in lower case; nil where a URL has none.
  package init(scheme: String?) {
    switch scheme {
    case "http": self = .web(defaultPort: 80)
    case "https": self = .web(defaultPort: 443)
    default: self = .opaque
    }
  }

  package var isWeb: Bool { if case .web = self { true } else { false } }

  /// The port of a URL that names none; nil where no port is usual.
  package var defaultPort: Int? { if case .web(let port) = self { port } else { nil } }

  /// A byte in front of the query: a slash for what these rules take for one.
  package func cut(_ byte: UInt8) -> UInt8 {
    isWeb && byte == UInt8(ascii: "\\") ? UInt8(ascii: "/") : byte
  }
}
