/// A URL, taken apart by the rules that routes are matched by.
///
/// The rules, each held by a test of its own:
/// - **Scheme**: a letter, then letters, digits, `+`, `-`, `.`; compared without case. It may be absent.
/// - **Authority**: follows `//`. The host is compared without case and may be empty; what stands before
///   `@` is kept out of every match; IPv6 hosts stand in brackets; a port is a number up to 65535.
/// - **Path**: split at `/` before it is decoded, so `%2F` is a character of its segment. Empty segments,
///   and so a trailing slash, do not count. `.` and `..` are refused, also where they are encoded.
/// - **Percent-encoding**: `%` and two hexadecimal digits, decoded once; anything else behind `%`, bytes
///   that are no UTF-8, and `%00` are refused. A blank or a control character has to be encoded.
/// - **Unicode**: may stand unencoded. Composed and decomposed characters are equal, case is not folded.
/// - **Query**: from the first `?` to the first `#`, split at `&`, each part at its first `=`. So a URL is
///   a legal value, as far as its first `&` or `#`. `+` is a blank here, and a plus in the path.
/// - **Keys** may repeat: all values are kept in order. `key=` is empty, `key` has no value at all.
/// - **Fragment**: all behind the first `#`, decoded.
public struct URLText: Hashable, Sendable {
  /// One parameter of a query.
  public struct Item: Hashable, Sendable {
    /// What stands before the first `=`, decoded.
    public var name: String
    /// What stands behind it, decoded; nil where there is no `=`.
    public var value: String?

    /// Describes a parameter.
    public init(name: String, value: String?) {
      self.name = name
      self.value = value
    }
  }

  /// The URL as it was given.
  public let text: String
  /// The scheme in lower case; nil where there is none.
  public let scheme: String?
  /// The host as it was written, decoded, without brackets; nil where it is empty or absent.
  public let host: String?
  /// The port; nil where there is none.
  public let port: Int?
  /// The segments of the path, decoded, the empty ones left out.
  public let path: [String]
  /// The parameters of the query, in order.
  public let items: [Item]
  /// What stands behind the first `#`, decoded; nil where there is none.
  public let fragment: String?
  /// Whether the host stood in brackets.
  let isIPv6: Bool
  /// The bytes of `text` that the path is.
  let pathRange: Range<Int>

  /// Takes a URL apart.
  public init(
    _ text: String, limits: URLLimits = .standard, plusIsBlank: Bool = true
  ) throws(RoutingError) {
    let scanner = URLScanner(bytes: Array(text.utf8), limits: limits)
    try scanner.check()
    var rest = 0..<scanner.bytes.count
    scheme = scanner.scheme(&rest)
    let tail = scanner.split(rest, at: "#")
    fragment = try tail.after.map { range throws(RoutingError) in
      try scanner.decode(range, "the fragment")
    }
    let head = scanner.split(tail.before, at: "?")
    let authority = try scanner.authority(of: head.before)
    (host, port, isIPv6) = (authority.host, authority.port, authority.isIPv6)
    pathRange = authority.path
    path = try scanner.segments(of: authority.path, behindHost: host != nil)
    items = try scanner.items(of: head.after, plusIsBlank: plusIsBlank)
    self.text = text
  }

  /// The values of a key, in order; a key without `=` counts as an empty text.
  public func values(of key: String) -> [String] {
    items.filter { $0.name == key }.map { $0.value ?? "" }
  }

  /// The parameters of a fragment that is written as a query: `#key=value&…`.
  public var fragmentItems: [Item] {
    guard let fragment, fragment.contains("=") else { return [] }
    return fragment.split(separator: "&").map { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return Item(name: String(pair[0]), value: pair.count > 1 ? String(pair[1]) : nil)
    }
  }

  /// The host with its brackets and its port; empty where there is none.
  var hostText: String {
    guard let host else { return "" }
    return (isIPv6 ? "[\(host)]" : host) + (port.map { ":\($0)" } ?? "")
  }

  /// The path from a segment on, as one text with the slashes that stand in it; no trailing slash.
  func pathTail(from index: Int) -> String {
    let scanner = URLScanner(bytes: Array(text.utf8), limits: .standard)
    return scanner.tail(of: pathRange, from: index)
  }

  /// The whole path with the slashes that stand before it and in it.
  var pathBehindHost: String {
    let scanner = URLScanner(bytes: Array(text.utf8), limits: .standard)
    return scanner.trimmed(pathRange)
  }
}

extension URLText: CustomStringConvertible {
  /// The URL as it was given.
  public var description: String { text }
}
