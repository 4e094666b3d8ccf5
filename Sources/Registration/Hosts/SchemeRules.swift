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
