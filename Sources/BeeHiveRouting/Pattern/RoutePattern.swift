/// Which URLs a route answers to.
///
/// `app://shop/:id<Int>(/:tab)?from&page<Int>=1`
///
/// - A **scheme** and a **host** as they are, or `*` for any scheme; the host is the first segment, so
///   `app://:section/list` is one too. Hosts are compared as `URLText` says of the URL's scheme, whatever the
///   pattern's: `*://Shop` meets `http://shop` and `app://Shop`. Without `//` a pattern is of paths: it matches
///   behind any host, and a host that is a plain name (no dot, no port, not `localhost`) counts as the path's
///   first segment.
/// - **Literals**; what a pattern reserves, `: * ( ) ? # %`, is written as `%XX`. A pattern is cut where a URL is,
///   at characters of ASCII, whatever marks follow them.
/// - **`:name`** takes one segment, `:name<Int>` only one of that type: `String`, `Int`, `Double`, `Bool`,
///   `UUID`, or what `Router.define` adds. It may have text before and behind: `v:major`, `:id.html`. A segment
///   has one parameter; a type of `Router.define` can take one apart that holds several values.
/// - **`:name<Path>`**, at the end, takes all that is left, at least one segment, as one text with its
///   slashes; **`*`** or `*name` takes what is left, if any, as an array of texts.
/// - **`( … )`** may be there or not; such parts may be nested.
/// - **`?key&key<Int>&key<Int?>&key<Int>=1&*`** declares the query. A bare key is an optional text, a
///   type makes it required, a default or an optional type does not; `*` allows any other key.
public struct RoutePattern: Hashable, Sendable {
  /// One segment of a path.
  enum Segment: Hashable, Sendable {
    case literal(String)
    case capture(Capture)
    case rest(Rest)
  }

  /// `v:major<Int>.html`
  struct Capture: Hashable, Sendable {
    var prefix = ""
    var name: String
    /// Nil for text.
    var type: String?
    var suffix = ""
  }

  /// `*name`, or `:name<Path>`.
  struct Rest: Hashable, Sendable {
    var name: String
    var isPath: Bool
  }

  /// One key that the query may have.
  public struct Key: Hashable, Sendable {
    /// The key, decoded.
    public var name: String
    /// The type's name as it was written; `String` for a bare key.
    public var type: String
    /// Whether it may be missing.
    public var isOptional: Bool
    /// What stands for a missing one.
    public var defaultText: String?
  }

  /// The pattern as it was written.
  public let text: String
  /// The scheme in lower case; nil for any.
  public let scheme: String?
  /// Whether the first segment is a host.
  let isAbsolute: Bool
  /// One list of segments for each choice of the optional parts, the longest first.
  let variants: [[Segment]]
  /// The declared keys of the query.
  public let keys: [Key]
  /// Whether the query may have other keys.
  public let allowsOtherKeys: Bool

  /// Reads a pattern.
  public init(_ text: String) throws(RoutingError) {
    var reader = PatternReader(text)
    let parts = try reader.read()
    self.text = text
    scheme = parts.scheme
    isAbsolute = parts.isAbsolute
    variants = parts.variants
    keys = parts.keys
    allowsOtherKeys = parts.allowsOtherKeys
  }

  private init(anything: Void) {
    text = "*"
    scheme = nil
    isAbsolute = false
    variants = [[.rest(Rest(name: "*", isPath: false))]]
    keys = []
    allowsOtherKeys = true
  }

  /// What the handler of unmatched URLs is told as its pattern.
  static let anything = RoutePattern(anything: ())

  /// The names that the path gives values to, in order of the longest form.
  public var names: [String] { Self.names(in: variants.first ?? []) }

  /// The names that one form gives values to.
  static func names(in variant: [Segment]) -> [String] {
    variant.compactMap { segment in
      switch segment {
      case .literal: nil
      case .capture(let capture): capture.name
      case .rest(let rest): rest.name
      }
    }
  }

  /// The name of the type that the path asks for at a name; nil for text.
  func type(of name: String) -> String? {
    for case .capture(let capture) in variants.joined() where capture.name == name {
      return capture.type
    }
    return nil
  }

  /// Whether a name takes what is left of the path, if anything.
  func isRest(_ name: String) -> Bool {
    variants.contains { $0.last == .rest(Rest(name: name, isPath: false)) }
  }

  /// Compares shapes, as duplicates are found: by all but the names of parameters and the query.
  ///
  /// - Parameters:
  ///   - other: The other pattern.
  ///   - variants: The route's forms where anything may follow them, else those of the pattern.
  /// - Returns: Whether a route of this pattern has the other's shape, its own forms or the route's.
  func hasShape(of other: RoutePattern, _ variants: [[Segment]]) -> Bool {
    guard scheme == other.scheme, isAbsolute == other.isAbsolute else { return false }
    let shape = Self.shape(other.variants)
    return Self.shape(self.variants) == shape || Self.shape(variants) == shape
  }

  /// What is left of forms without the names of their parameters.
  private static func shape(_ variants: [[Segment]]) -> Set<[Segment]> {
    Set(
      variants.map { variant in
        variant.map { segment in
          switch segment {
          case .literal: segment
          case .capture(let capture):
            .capture(
              Capture(
                prefix: capture.prefix, name: "", type: capture.type.map(SegmentTypes.key),
                suffix: capture.suffix))
          case .rest(let rest): .rest(Rest(name: "", isPath: rest.isPath))
          }
        }
      })
  }

  /// The names of the types that the path and the query ask for.
  var typeNames: [String] {
    let path = variants.joined().compactMap { segment -> String? in
      if case .capture(let capture) = segment { capture.type } else { nil }
    }
    return path + keys.map(\.type)
  }
}

extension RoutePattern: CustomStringConvertible {
  /// The pattern as it was written.
  public var description: String { text }
}

extension RoutePattern.Key: CustomStringConvertible {
  /// The key as a pattern has it: `from`, `page<Int>=1`, `q<String>`.
  public var description: String {
    if let defaultText { return "\(name)<\(type)>=\(defaultText)" }
    if isOptional { return type == "String" ? name : "\(name)<\(type)?>" }
    return "\(name)<\(type)>"
  }
}
