/// The host of a URL, in the one form by which hosts are compared.
///
/// By the URL Standard (url.spec.whatwg.org, "Host parsing"):
/// - **`http` and `https`**: percent-decoded once; then a name in lower case, or, where its last label is a
///   number, an IPv4 address in any of the forms that `inet_aton` reads. Labels that begin with `xn--` are
///   kept as they are. A name outside ASCII is refused, since no table of such names is here: it has to be
///   written as browsers send it, `xn--…`.
/// - **Other schemes, and none**: opaque. Nothing is decoded and case is kept; what is outside ASCII is
///   written as the `%XX` of its UTF-8. So composed and decomposed characters are two hosts.
/// - **In brackets**, for every scheme: an IPv6 address, written as the standard serializes it.
///
/// In two things it is stricter. A host may be taken for a segment of a path, so `.` and `..` are refused; and
/// a parameter is given the decoded host, so a delimiter of URLs is refused where it is encoded too.
package struct Host: Hashable, Sendable {
  /// What a table of hosts has it under. Of one text, an opaque host and one of the web are two keys: the
  /// second begins with `//`, which no host holds.
  package let key: String
  /// The host as a parameter is given it: decoded once, without brackets.
  package let value: String
  /// Whether this is an IPv6 address.
  package let isIPv6: Bool

  /// What is compared, without regard to whose rules it was read by: ASCII alone, with the brackets of IPv6.
  package var text: String { String(Self.text(ofKey: key)) }

  /// Reads a host that is not empty.
  ///
  /// - Parameters:
  ///   - bytes: The host as it was written, with the brackets of IPv6, without a port.
  ///   - rules: Those of its scheme.
  /// - Throws: ``TextProblem`` with the rule that it breaks.
  package init(_ bytes: ArraySlice<UInt8>, _ rules: SchemeRules) throws(TextProblem) {
    let isWeb = rules.isWeb
    isIPv6 = bytes.first == UInt8(ascii: "[")
    if isIPv6 {
      value = try IPv6Address.text(of: bytes)
      key = "\(isWeb ? Self.webMark : "")[\(value)]"
      return
    }
    if !isWeb { try Self.check(bytes, at: bytes.startIndex, for: Self.isForbidden) }
    let decoded = try PercentDecoding.text(of: bytes, "the host")
    try TextProblem.check(
      decoded != "." && decoded != "..", bytes.startIndex,
      "a path that climbs with \(decoded) is not followed")
    guard isWeb else {
      // What is not encoded has been looked at.
      if bytes.contains(UInt8(ascii: "%")) {
        try Self.check(Array(decoded.utf8)[...], at: bytes.startIndex, for: Self.isDelimiter)
      }
      key = bytes.percentEncoded { $0 >= 0x7f }
      value = decoded
      return
    }
    let name = decoded.utf8.map(\.lowercased)[...]
    try TextProblem.check(
      name.allSatisfy { $0 < 0x80 }, bytes.startIndex,
      "a host of http and https is written in ASCII; write its labels as browsers send them, xn--…")
    try Self.check(name, at: bytes.startIndex) {
      Self.isForbidden($0) || $0 < 0x20 || $0 == 0x7f || $0 == UInt8(ascii: "%")
    }
    value =
      try IPv4Address.text(of: name, at: bytes.startIndex) ?? String(decoding: name, as: UTF8.self)
    key = Self.webMark + value
  }

  /// The key of the host with a port; without one, the host's own.
  package func key(port: Int?) -> String { port.map { "\(key):\($0)" } ?? key }

  /// How the keys of the web's hosts begin.
  private static let webMark = "//"

  /// The host, and the port if there is one, of a key.
  package static func text(ofKey key: String) -> Substring {
    key.utf8.starts(with: webMark.utf8) ? key[...].dropFirstScalar.dropFirstScalar : key[...]
  }

  /// The key of the opaque host that a decoded text would be: a segment, or the name of a target.
  package static func key(ofOpaque value: String) -> String {
    value.utf8.percentEncoded { $0 >= 0x7f || $0 == UInt8(ascii: "%") || isForbidden($0) }
  }

  /// The standard's forbidden host code points.
  private static func isForbidden(_ byte: UInt8) -> Bool {
    byte <= 0x20 || isDelimiter(byte) || "<>^|".utf8.contains(byte)
  }

  /// What parts of URLs are told apart by.
  private static func isDelimiter(_ byte: UInt8) -> Bool { #"/\?#@:[]"#.utf8.contains(byte) }

  private static func check(
    _ bytes: ArraySlice<UInt8>, at index: Int, for isRefused: (UInt8) -> Bool
  ) throws(TextProblem) {
    guard let byte = bytes.first(where: isRefused) else { return }
    let name: String
    switch byte {
    case UInt8(ascii: "/"): name = "slash"
    case UInt8(ascii: " "): name = "blank"
    case 0x21...0x7e: name = "\(Unicode.Scalar(byte))"
    default: name = "control character"
    }
    throw TextProblem(index, "a host holds no \(name), encoded or not")
  }
}
