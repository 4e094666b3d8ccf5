internal import LibC

/// The host of a URL, in the one form that is used to compare hosts.
///
/// By the URL Standard (url.spec.whatwg.org, "Host parsing"):
/// - **`http` and `https`**: percent-decoded once. It is a name in lower case, or, if its last label is a
///   number, an IPv4 address in any of the forms that `inet_aton` reads. Labels that begin with `xn--` are
///   kept as they are. A name outside ASCII is refused, because there is no table of such names here. It has to
///   be written as browsers send it, `xn--…`.
/// - **Other schemes, and none**: opaque. Nothing is decoded and case is kept. Characters outside ASCII are
///   written as the `%XX` of their UTF-8. So composed and decomposed characters are two hosts.
/// - **In brackets**, for every scheme: an IPv6 address, written as the standard serializes it.
///
/// It is stricter in two things. A host may count as a segment of a path, so `.` and `..` are refused. A parameter
/// gets the decoded host, so a delimiter of URLs is refused even if it is encoded.
package struct Host: Hashable, Sendable {
  /// The key in a table of hosts. Keys of the web begin with `//`, which no host holds. So one text has two keys,
  /// as an opaque host and as a host of the web.
  package let key: String
  /// The host as a parameter gets it: decoded once, without brackets.
  package let value: String
  /// Whether this is an IPv6 address.
  package let isIPv6: Bool

  /// The text to compare, whatever rules have read the host: only ASCII, with the brackets of IPv6.
  package var text: String { String(Self.text(ofKey: key)) }

  /// Reads a host that is not empty.
  ///
  /// - Parameters:
  ///   - bytes: The host as it was written, with the brackets of IPv6, without a port.
  ///   - rules: The rules of its scheme.
  /// - Throws: ``Refusal`` with the rule that it breaks.
  package init(_ bytes: ArraySlice<UInt8>, _ rules: SchemeRules) throws(Refusal) {
    let isWeb = rules.isWeb
    isIPv6 = bytes.first == UInt8(ascii: "[")
    if isIPv6 {
      value = try Self.ipv6(bytes)
      key = "\(isWeb ? Self.webMark : "")[\(value)]"
      return
    }
    if !isWeb { try Self.check(bytes, at: bytes.startIndex, for: Self.isForbidden) }
    let decoded = try percentDecoded(bytes, "the host")
    try Refusal.check(
      decoded != "." && decoded != "..", at: bytes.startIndex,
      "a path that climbs with \(decoded) is not followed")
    guard isWeb else {
      // Bytes that are not encoded have been checked.
      if bytes.contains(UInt8(ascii: "%")) {
        try Self.check(Array(decoded.utf8)[...], at: bytes.startIndex, for: Self.isDelimiter)
      }
      key = bytes.percentEncoded { $0 >= 0x7f }
      value = decoded
      return
    }
    let name = decoded.utf8.map(\.lowercased)[...]
    try Refusal.check(
      name.allSatisfy { $0 < 0x80 }, at: bytes.startIndex,
      "a host of http and https is written in ASCII; write its labels as browsers send them, xn--…")
    try Self.check(name, at: bytes.startIndex) {
      Self.isForbidden($0) || $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "%")
    }
    value =
      try Self.ipv4(name, at: bytes.startIndex) ?? String(decoding: name, as: UTF8.self)
    key = Self.webMark + value
  }

  /// Returns the key of the host with a port; without one, the host's own key.
  package func key(port: Int?) -> String { port.map { "\(key):\($0)" } ?? key }

  /// The beginning of the keys of the web's hosts.
  private static let webMark = "//"

  /// Returns the host of a key, with the port if there is one.
  package static func text(ofKey key: String) -> Substring {
    key.utf8.starts(with: webMark.utf8) ? key[...].dropFirstScalar.dropFirstScalar : key[...]
  }

  /// Returns the key of the opaque host that a decoded text would be: a segment, or the name of a target.
  package static func key(ofOpaque value: String) -> String {
    value.utf8.percentEncoded { $0 >= 0x7f || $0 == UInt8(ascii: "%") || isForbidden($0) }
  }

  /// Returns the keys of the hosts that a decoded text would be in URLs of a scheme. For nil, which is any scheme,
  /// these are the opaque host's key, and the web's key if the text can be such a host.
  package static func keys(ofName value: String, scheme: String?) -> [String] {
    let isOfWeb = SchemeRules(scheme: scheme).isWeb
    // Most names are a word, which no rule writes in another way.
    let isWord =
      value.utf8.first?.isLetter == true && value.utf8.allSatisfy { $0.isLetter || $0.isDigit }
    if isWord, scheme != nil { return [isOfWeb ? webMark + value.lowercased() : value] }
    let web = try? Host(Array(value.utf8)[...], SchemeRules(scheme: "http"))
    let opaque = web?.isIPv6 == true ? web?.text ?? value : key(ofOpaque: value)
    return (isOfWeb ? [] : [opaque]) + (scheme == nil || isOfWeb ? web.map { [$0.key] } ?? [] : [])
  }

  /// Returns whether a byte is one of the standard's forbidden host code points.
  private static func isForbidden(_ byte: UInt8) -> Bool {
    // Most bytes of hosts are letters, so these are tested first, without a search.
    byte <= 0x20 || !byte.isSchemeCharacter && (isDelimiter(byte) || "<>^|".utf8.contains(byte))
  }

  /// Returns whether a byte separates parts of URLs.
  private static func isDelimiter(_ byte: UInt8) -> Bool { #"/\?#@:[]"#.utf8.contains(byte) }

  private static func check(
    _ bytes: ArraySlice<UInt8>, at index: Int, for isRefused: (UInt8) -> Bool
  ) throws(Refusal) {
    guard let byte = bytes.first(where: isRefused) else { return }
    let name: String
    switch byte {
    case UInt8(ascii: "/"): name = "slash"
    case UInt8(ascii: " "): name = "blank"
    case 0x21...0x7e: name = "\(Unicode.Scalar(byte))"
    default: name = "control character"
    }
    throw Refusal(at: index, "a host holds no \(name), encoded or not")
  }
}

// The host of a pattern: the part between `//` and the first slash, which matches the hosts of URLs.
extension Host {
  /// Returns the keys of the hosts that it names, as ``Host/key(port:)`` has them.
  ///
  /// A pattern of any scheme has two, because the web reads a text in another way than the other schemes do.
  /// It has only the first if the web has no such host.
  ///
  /// - Parameters:
  ///   - part: The host and perhaps the port, as the pattern has them.
  ///   - scheme: The pattern's scheme, in lower case; nil for any.
  /// - Returns: One key or two; nil if the part is a parameter, or all that is left.
  /// - Throws: ``Refusal`` if no URL has such a host.
  package static func keys(ofPattern part: Substring, scheme: String?) throws(Refusal) -> [String]?
  {
    try Refusal.check(
      part.unicodeScalars.count == 1 || part.unicodeScalars.last != ":", at: part.utf8.count,
      "its port is empty; write the number or leave out the colon")
    guard part.cut(at: "*") == nil,
      isPort(part) || part.cut(at: ":") == nil || part.utf8.first == UInt8(ascii: "[")
    else { return nil }
    let bytes = Array(part.utf8)[...]
    let authority = try Authority(bytes, SchemeRules(scheme: scheme))
    guard let host = authority.host else { throw Refusal(.badPattern, "it is empty") }
    let web = scheme == nil ? try? Authority(bytes, SchemeRules(scheme: "http")).host : nil
    return [host, web].compactMap { $0?.key(port: authority.port) }
  }

  /// Returns the text before and after a parameter, as hosts have it: for `http` and `https`, in lower case.
  ///
  /// - Throws: ``Refusal`` if no host of the scheme has such text.
  package static func patternText(
    before prefix: String, behind suffix: String, scheme: String?
  ) throws(Refusal) -> (prefix: String, suffix: String) {
    try Refusal.check(
      !(prefix + suffix).utf8.contains(where: { "/@:".utf8.contains($0) }), .badPattern,
      "a host holds no slash, no @ and no colon")
    let rules = SchemeRules(scheme: scheme)
    guard rules.isWeb else { return (prefix, suffix) }
    // Around a value that every host may have.
    _ = try Host(Array("\(prefix)a\(suffix)".utf8)[...], rules)
    return (prefix.lowercased(), suffix.lowercased())
  }

  /// Returns whether this ends in a port, and so has no parameter.
  private static func isPort(_ part: Substring) -> Bool {
    guard let colon = part.utf8.lastIndex(of: UInt8(ascii: ":")), colon > part.startIndex else {
      return false
    }
    let digits = part.utf8[colon...].dropFirst()
    return !digits.isEmpty && digits.allSatisfy(\.isDigit)
  }
}

extension Host {
  /// Reads the IPv4 address that a name is, in dotted decimals.
  ///
  /// As the URL Standard does: "ends in a number checker", "IPv4 parser". The C library reads all of its forms except
  /// a `0x` without digits, which is 0.
  ///
  /// - Parameters:
  ///   - name: The host, decoded.
  ///   - index: The location in errors.
  /// - Returns: The address; nil if the last label is not a number, so that this is a name.
  /// - Throws: ``Refusal`` if the last label is a number and the whole is not an address.
  private static func ipv4(_ name: ArraySlice<UInt8>, at index: Int) throws(Refusal) -> String? {
    var labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
    guard let last = labels.last, !last.isEmpty,
      last.allSatisfy(\.isDigit)
        || last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy({ $0.hexadecimal != nil })
    else { return nil }
    let numbers = labels.map {
      $0.elementsEqual("0x".utf8) ? "0" : String(decoding: $0, as: UTF8.self)
    }
    var address = in_addr()
    try Refusal.check(
      unsafe inet_aton(numbers.joined(separator: "."), &address) != 0, at: index,
      "a host whose last label is a number is an IPv4 address: four numbers up to 255, or fewer "
        + "if the last one fills the rest")
    return unsafe withUnsafeBytes(of: address) { bytes in
      unsafe bytes.map(String.init).joined(separator: ".")
    }
  }

  /// Reads an IPv6 address with its brackets. Returns it in lower case, without leading zeros, the longest run of
  /// zeros as `::`.
  ///
  /// Reading follows the URL Standard's "IPv6 parser", as the C library does. Writing follows its
  /// "IPv6 serializer".
  private static func ipv6(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> String {
    var address = in6_addr()
    let text = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
    guard bytes.last == UInt8(ascii: "]"), !bytes.contains(0),
      unsafe inet_pton(AF_INET6, text, &address) == 1
    else {
      throw Refusal(
        at: bytes.startIndex,
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
