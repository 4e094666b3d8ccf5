/// A URL, taken apart by the rules of route matching.
///
/// The rules, each with a test of its own:
/// - **Scheme**: a letter, then letters, digits, `+`, `-`, `.`; compared without case. It may be absent.
/// - **Authority**: follows `//`. For `http` and `https` hosts follow the URL Standard: case does not count,
///   encoded text is decoded once, addresses have one form, and a name outside ASCII is written as `xn--…`. They
///   need a host. For other schemes, and none, it may be empty, and is compared byte by byte as it is
///   written: `%73` is not `s`. A port is a number up to 65535; `http` and `https` have a usual one. A user or
///   a password is refused.
/// - **Path**: split at `/` before it is decoded, so `%2F` is a character of its segment. Empty segments,
///   and so a trailing slash, do not count. `.` and `..` are refused, also if they are encoded. For `http`
///   and `https` a `\` before the query is a slash; elsewhere it is a character of its segment, and in no host.
/// - **Percent-encoding**: `%` and two hexadecimal digits, decoded once. Anything else after `%`, bytes
///   that are not UTF-8, and `%00` are refused. A blank or a control character has to be encoded.
/// - **Unicode**: need not be encoded. Composed and decomposed characters are equal, except in hosts, which are
///   compared byte by byte. Case is not folded.
/// - **Query**: from the first `?` to the first `#`, split at `&`, each part at its first `=`. So a URL is
///   a legal value, as far as its first `&` or `#`. `+` is a blank here, and a plus in the path.
/// - **Keys** may repeat: all values are kept in order. `key=` is empty, `key` has no value at all.
/// - **Fragment**: everything after the first `#`, decoded.
/// - The empty text is not a URL.
public struct URLText: Hashable, Sendable, CustomStringConvertible {
  /// One parameter of a query.
  public struct Item: Hashable, Sendable {
    /// The text before the first `=`, decoded.
    public var name: String
    /// The text after it, decoded; nil if there is no `=`.
    public var value: String?

    /// Describes a parameter.
    ///
    /// - Parameters:
    ///   - name: The key, not encoded.
    ///   - value: The value, not encoded; nil for a key without `=`.
    public init(name: String, value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// Shared by all copies: a call hands its URL on at every step.
  private let parts: Parts

  /// The URL as it was given.
  public var text: String { parts.text }
  /// The scheme in lower case; nil if there is none.
  public var scheme: String? { parts.scheme }
  /// The host, decoded, without brackets; nil if it is empty or absent. Hosts of `http` and `https`, and IPv6
  /// addresses, have the form that the URL Standard gives them.
  public var host: String? { authority?.host?.value }
  /// The port; nil if there is none, or it is the usual one of `http` or `https`.
  public var port: Int? { parts.port }
  /// The segments of the path, decoded, without the empty ones.
  public var path: [String] { parts.path }
  /// The parameters of the query, in order.
  public var items: [Item] { parts.items }
  /// The text after the first `#`, decoded; nil if there is none.
  public var fragment: String? { parts.fragment }
  private var authority: Authority? { parts.authority }
  private var pathBytes: ArraySlice<UInt8> { parts.pathBytes }

  /// Takes a URL apart.
  ///
  /// - Parameters:
  ///   - text: The URL, absolute or a path.
  ///   - limits: The limits for reading it.
  ///   - plusIsBlank: Whether `+` is a blank in the query.
  /// - Throws: ``RoutingError`` with `malformedURL` if it breaks a rule, with the byte and the rule; with
  ///   `limitExceeded` if it is longer, deeper or has more parameters than the limits allow.
  public init(
    _ text: String, limits: URLLimits = URLLimits(), plusIsBlank: Bool = true
  ) throws(RoutingError) {
    do throws(Refusal) {
      parts = try Parts(reading: text, limits, plusIsBlank: plusIsBlank)
    } catch {
      if error.reason == .limitExceeded { throw RoutingError(.limitExceeded, error.message) }
      throw RoutingError(
        .malformedURL, "the URL cannot be read at byte \(error.index): \(error.message)")
    }
  }

  /// Returns the values of a key of the query.
  ///
  /// - Parameter key: The key, decoded.
  /// - Returns: The values in order, an empty text for a key without `=`; empty if the URL has no such key.
  public func values(of key: String) -> [String] {
    items.filter { $0.name == key }.map { $0.value ?? "" }
  }

  /// The parameters of a fragment that is written as a query, `#key=value&…`: cut first, then decoded.
  public var fragmentItems: [Item] {
    guard let bytes = Array(text.utf8)[...].split(at: "#").after, bytes.split(at: "=").after != nil
    else { return [] }
    // The text was read before, so each part can be decoded.
    func decoded(_ bytes: ArraySlice<UInt8>) -> String {
      (try? percentDecoded(bytes, "the fragment")) ?? ""
    }
    return bytes.split(separator: UInt8(ascii: "&")).map { part in
      let (name, value) = part.split(at: "=")
      return Item(name: decoded(name), value: value.map(decoded))
    }
  }

  /// The host as the first segment of the path, with the brackets of IPv6.
  var hostSegment: String? { authority?.host.map { $0.isIPv6 ? $0.text : $0.value } }

  /// The key of the host, as patterns have it; without a host, the key of the first segment.
  var hostKey: String? { authority?.host?.key ?? path.first.map(Host.key(ofOpaque:)) }

  /// The same for patterns with a port; nil if the URL has none and none is usual.
  var hostKeyWithPort: String? {
    guard let port = port ?? SchemeRules(scheme: scheme).defaultPort else { return nil }
    return authority?.host?.key(port: port)
  }

  /// The host, if it is a plain name, as in `app://shop`, so that it may be meant as a part of the path.
  var plainHost: String? {
    guard let host = authority?.host, port == nil, !host.isIPv6, host.value.isPlainHost else {
      return nil
    }
    return host.value
  }

  /// Returns whether the host is this name, byte by byte.
  func isHost(_ name: String) -> Bool { authority?.host?.text == Host.key(ofOpaque: name) }

  /// Returns the path from a segment on, as one text with the slashes in it; no trailing slash.
  func pathTail(from index: Int) -> String {
    let slash = UInt8(ascii: "/")
    let behind = (0..<index).reduce(pathBytes) { rest, _ in
      rest.drop { $0 == slash }.drop { $0 != slash }
    }
    return Self.trimmed(behind.drop { $0 == slash })
  }

  /// The whole path with the slashes before it and in it.
  var pathBehindHost: String { Self.trimmed(pathBytes) }

  /// Returns a path without the slashes at its end, as one text. It was read before, so it can be decoded.
  private static func trimmed(_ path: ArraySlice<UInt8>) -> String {
    let end = path.lastIndex { $0 != UInt8(ascii: "/") }.map { $0 + 1 } ?? path.startIndex
    return (try? percentDecoded(path[..<end], "the path")) ?? ""
  }

  /// The URL as it was given.
  public var description: String { text }
}

extension URLText {
  /// The parts of a URL.
  private final class Parts: Sendable {
    let text: String
    let scheme: String?
    let port: Int?
    let path: [String]
    let items: [Item]
    let fragment: String?
    /// The host and the port as they are compared; nil without `//`.
    let authority: Authority?
    /// The path as it was written, with the slash of `http` and `https` for each `\`.
    let pathBytes: ArraySlice<UInt8>

    fileprivate init(reading text: String, _ limits: URLLimits, plusIsBlank: Bool) throws(Refusal) {
      var bytes = Array(text.utf8)
      try Refusal.check(!bytes.isEmpty, at: 0, "it is empty; write / for the root")
      try Refusal.check(
        bytes.count <= limits.bytes, .limitExceeded,
        "the URL has \(bytes.count) bytes, and at most \(limits.bytes) are read")
      if let index = bytes.firstIndex(where: { $0 <= 0x20 || $0 == 0x7f }) {
        throw Refusal(at: index, "a blank or a control character has to be written as %XX")
      }
      let (scheme, start) = Self.scheme(of: bytes)
      let rules = SchemeRules(scheme: scheme)
      if rules.isWeb {
        for index in bytes.indices.prefix(while: { !"?#".utf8.contains(bytes[$0]) }) {
          bytes[index] = rules.cut(bytes[index])
        }
      }
      let (front, fragment) = bytes[start...].split(at: "#")
      let (head, query) = front.split(at: "?")
      (authority, pathBytes) = try Self.authority(of: head, rules)
      (self.text, self.scheme) = (text, scheme)
      self.fragment = try fragment.map { bytes throws(Refusal) in
        try percentDecoded(bytes, "the fragment")
      }
      port = authority?.port == rules.defaultPort ? nil : authority?.port
      path = try Self.segments(
        of: pathBytes, atMost: limits.segments, behindHost: authority?.host != nil)
      func decoded(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> String {
        try percentDecoded(bytes, "the query", plusIsBlank: plusIsBlank)
      }
      var items: [Item] = []
      for part in query?.split(separator: UInt8(ascii: "&")) ?? [] {
        try Refusal.check(
          items.count < limits.items, .limitExceeded,
          "the URL's query has more than \(limits.items) parameters")
        let (name, value) = part.split(at: "=")
        items.append(Item(name: try decoded(name), value: try value.map(decoded)))
      }
      self.items = items
    }

    /// Returns the scheme in lower case, and the index after its colon.
    private static func scheme(of bytes: [UInt8]) -> (scheme: String?, end: Int) {
      guard let end = bytes.firstIndex(where: { !$0.isSchemeCharacter }),
        bytes[end] == UInt8(ascii: ":"), bytes[0].isLetter
      else { return (nil, 0) }
      return (String(decoding: bytes[..<end], as: UTF8.self).lowercased(), end + 1)
    }

    /// Returns the host and the port, and the path after them.
    private static func authority(
      of bytes: ArraySlice<UInt8>, _ rules: SchemeRules
    ) throws(Refusal) -> (Authority?, path: ArraySlice<UInt8>) {
      guard bytes.starts(with: "//".utf8) else {
        guard !rules.isWeb else { throw Authority.noHost(bytes.startIndex) }
        return (nil, bytes)
      }
      let rest = bytes.dropFirst(2)
      let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      return (try Authority(rest[..<end], rules), rest[end...])
    }

    /// Returns the segments of a path, decoded, without the empty ones. A host before them counts as one.
    private static func segments(
      of path: ArraySlice<UInt8>, atMost most: Int, behindHost: Bool
    ) throws(Refusal) -> [String] {
      let slash = UInt8(ascii: "/")
      var segments: [String] = []
      // One after the other: an array of all parts would cost each URL three allocations.
      var rest = path.drop { $0 == slash }
      while !rest.isEmpty {
        let part = rest.prefix { $0 != slash }
        rest = rest[part.endIndex...].drop { $0 == slash }
        try Refusal.check(
          segments.count + (behindHost ? 1 : 0) < most, .limitExceeded,
          "the URL has more than \(most) segments")
        let segment = try percentDecoded(part, "the path")
        try Refusal.check(
          segment != "." && segment != "..", at: part.startIndex,
          "a path that climbs with \(segment) is not followed")
        segments.append(segment)
      }
      return segments
    }
  }

  /// Equal URLs have the same text, read with the same meaning of `+`.
  public static func == (first: Self, second: Self) -> Bool {
    first.parts === second.parts
      || first.text.utf8.elementsEqual(second.text.utf8) && first.items == second.items
  }

  /// Hashes the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension URLText {
  /// Makes a URL of parts that are not encoded: `app://book/7?from=mail` of `["book", "7"]` and one item.
  ///
  /// The first segment becomes the host. Each part is encoded, so no text in it reads as a user, a port, a
  /// further segment or a further parameter; reading ``text`` gives the same parts back.
  ///
  /// - Parameters:
  ///   - scheme: The scheme.
  ///   - segments: The host and the path.
  ///   - items: The parameters of the query.
  ///   - limits: The limits for the result.
  /// - Throws: ``RoutingError`` with `malformed-url` if a URL cannot hold a part, such as an empty segment,
  ///   `..`, or a slash in the first one; with `limit-exceeded` if the text is too long.
  public init(
    scheme: String, segments: [String], items: [Item] = [], limits: URLLimits = URLLimits()
  ) throws(RoutingError) {
    let path = segments.enumerated().map { index, segment in
      index == 0 ? segment.asHost : segment.asSegment
    }
    let query = items.map(\.encoded).joined(separator: "&")
    try self.init(
      "\(scheme)://\(path.joined(separator: "/"))\(query.isEmpty ? "" : "?\(query)")",
      limits: limits)
    try RoutingError.check(
      self.scheme == scheme.lowercased() && self.items == items
        && (host.map { [$0] } ?? []) + self.path == segments, .malformedURL,
      "\(text) does not lead back to its parts; none may be empty, and a scheme is a word")
  }
}

/// The limits beyond which a URL is refused.
public struct URLLimits: Hashable, Sendable {
  /// The longest URL, in bytes of UTF-8.
  package var bytes: Int
  /// The most segments of a path, its host included.
  package var segments: Int
  /// The most parameters of a query.
  package var items: Int

  /// Describes limits; by default 8192 bytes, 64 segments and 256 parameters.
  ///
  /// - Parameters:
  ///   - bytes: The longest URL, in bytes of UTF-8.
  ///   - segments: The most segments of a path, its host included.
  ///   - items: The most parameters of a query.
  public init(bytes: Int = 8192, segments: Int = 64, items: Int = 256) {
    self.bytes = bytes
    self.segments = segments
    self.items = items
  }
}

extension ArraySlice<UInt8> {
  /// Returns the bytes before the first `separator`, and those after it; nil if there is none.
  fileprivate func split(at separator: Unicode.Scalar) -> (before: Self, after: Self?) {
    guard let index = firstIndex(of: UInt8(ascii: separator)) else { return (self, nil) }
    return (self[..<index], self[(index + 1)...])
  }
}

extension String {
  /// Whether this is a plain name as a host, rather than an address or a name of the network.
  var isPlainHost: Bool {
    utf8.first != UInt8(ascii: "[") && !utf8.contains(UInt8(ascii: "."))
      && lowercased() != "localhost"
  }
}

// Encodings of a text for the parts of a URL.
extension String {
  /// The text as a segment of a path, encoded so that it comes back as one segment.
  var asSegment: String { encoded(keeping: "-._~!$'()*,;=@+") }

  /// The text as a host, encoded so that nothing in it reads as a user or a port.
  var asHost: String { encoded(keeping: "-._~!$'()*,;=") }

  /// The text as a key or a value of a query. A plus is encoded, because it would come back as a blank.
  fileprivate var asQuery: String { encoded(keeping: "-._~/:") }

  private func encoded(keeping others: StaticString) -> String {
    let kept = Set(others.description.utf8)
    return utf8.percentEncoded { !($0.isLetter || $0.isDigit || kept.contains($0)) }
  }
}

extension URLText.Item {
  /// The parameter as a query has it: `name=value`.
  var encoded: String { name.asQuery + (value.map { "=\($0.asQuery)" } ?? "") }
}
