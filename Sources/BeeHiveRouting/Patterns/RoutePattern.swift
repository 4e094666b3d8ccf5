/// A pattern of the URLs that a route answers.
///
/// `app://shop/:id<Int>(/:tab)?from&page<Int>=1`
///
///     let pattern = try RoutePattern("app://shop/:id<Int>?from")
///     pattern.names                                     // ["id"]
///     try pattern.url(with: ["id": 7, "from": "mail"])  // "app://shop/7?from=mail"
///
/// - A **scheme** and a **host** as they are, or `*` for any scheme. The host is the first segment, so
///   `app://:section/list` has one too. Hosts are compared as `URLText` says of the URL's scheme, whatever the
///   pattern's: `*://Shop` meets `http://shop` and `app://Shop`. Without `//` a pattern is of paths. It matches
///   after any host. A host that is a plain name (no dot, no port, not `localhost`) counts as the path's
///   first segment.
/// - **Literals**. The reserved characters `: * ( ) ? # % < > { } [ ] \ | ^ "` and the grave accent are written as
///   `%XX`. A pattern is cut where a URL is, at characters of ASCII, whatever marks follow them.
/// - **`:name`** takes one segment, `:name<Int>` only one of that type: `String`, `Int`, `Double`, `Bool`,
///   `UUID`, or what `Router.define` adds. It may have text before and after: `v:major`, `:id.html`. A segment
///   has one parameter; a type of `Router.define` can take a segment apart that holds several values.
/// - **`:name<Path>`**, at the end, takes all that is left as one text with its slashes: at least one segment, and
///   none with an encoded slash. **`*`** or `*name` takes what is left, if any, as an array of texts.
/// - **`( … )`** is optional; such parts may be nested.
/// - **`?key&key<Int>&key<Int?>&key<Int>=1&*`** declares the query. A bare key is an optional text, a
///   type makes it required, a default or an optional type does not; `*` allows any other key.
public struct RoutePattern: Hashable, Sendable, CustomStringConvertible {
  /// The pattern as it was written.
  public let text: String
  let parts: PatternParts

  /// Reads a pattern.
  ///
  /// The names of its types are not looked up yet. That happens when a route is registered.
  ///
  /// - Parameter text: The pattern, in the notation of this type.
  /// - Throws: ``RoutingError`` with `badPattern` if it cannot be read; the message has the rule that it
  ///   breaks.
  public init(_ text: String) throws(RoutingError) {
    do throws(Refusal) {
      self.init(text, try PatternParts(text))
    } catch {
      throw RoutingError(.badPattern, error.message)
    }
  }

  /// Takes the pattern of a route that an image declares. It was read when the image came.
  init(of entry: RegisteredEntry) throws(RoutingError) {
    guard let parts = entry.pattern else {
      try self.init(entry.name)
      return
    }
    self.init(entry.name, parts)
  }

  private init(_ text: String, _ parts: PatternParts) {
    self.text = text
    self.parts = parts
  }

  /// The scheme in lower case; nil for any.
  package var scheme: String? { parts.scheme }
  /// Whether the first segment is a host.
  var isAbsolute: Bool { parts.isAbsolute }
  /// One list of segments for each choice of the optional parts, the longest first.
  var variants: [[PatternSegment]] { parts.variants }
  /// The declared keys of the query.
  package var keys: [PatternKey] { parts.keys }
  /// Whether the query may have other keys.
  package var allowsOtherKeys: Bool { parts.allowsOtherKeys }

  /// The pattern that the handler of unmatched URLs gets.
  static let anything = RoutePattern("*", .anything)

  /// The pattern without its query. It identifies a route.
  var path: String { String(text[...].split(at: "?").before) }

  /// The names that the path gives values to, in order of the longest form.
  package var names: [String] { Self.names(in: variants.first ?? []) }

  /// Returns the names that one form gives values to.
  static func names(in variant: [PatternSegment]) -> [String] { variant.compactMap(\.name) }

  /// Returns the names that a form needs values of.
  static func needed(by variant: [PatternSegment]) -> [String] {
    variant.filter { !$0.isRest }.compactMap(\.name)
  }

  /// Returns whether a name takes what is left of the path, if anything.
  func isRest(_ name: String) -> Bool {
    variants.joined().contains { $0.isRest && $0.name == name }
  }

  /// The types that the path names. Those that are not built in take any text here.
  var anyTypes: SegmentTypes {
    var types = SegmentTypes()
    // Throws if the type is there already.
    for key in parts.pathKeys { _ = try? types.define(key.type) { $0 } }
    return types
  }

  /// Returns whether the path of a URL has this form.
  func meets(_ url: URLText, _ extent: RouteExtent) -> Bool {
    let forms = parts.variants(isPrefix: extent == .prefix)
    let tree = try? RouteTree(of: self, forms, types: anyTypes)
    return tree.map { !RouteSearch.matches(of: url, in: $0).isEmpty } == true
  }

  /// Returns a form with the decoded and composed name of its host, as a parameter would get it; nil if it has no
  /// other name.
  func decodingHost(in variant: [PatternSegment]) -> [PatternSegment]? {
    guard let (name, port) = host(of: variant) else { return nil }
    let key = Host.key(ofOpaque: name.composedText) + (port.map { ":" + $0 } ?? "")
    let decoding = [.literal(key)] + variant.dropFirst()
    return decoding == variant ? nil : decoding
  }

  /// Returns the names that a pattern of any scheme has for the host of a URL. The web has names in lower case, other
  /// schemes as they are written.
  func hosts(for url: URLText) -> Set<String> {
    guard let key = url.hostKey else { return [] }
    let names = Set(variants.compactMap { host(of: $0)?.name })
    return names.filter { Host.keys(ofName: $0, scheme: nil).contains(key) }
  }

  /// Returns the opaque host that a form begins with, decoded, and its port.
  private func host(of variant: [PatternSegment]) -> (name: String, port: Substring?)? {
    guard isAbsolute, case .literal(let key)? = variant.first, key.utf8.first != UInt8(ascii: "["),
      !key.hasPrefix("//")
    else { return nil }
    let (host, port) = key[...].split(at: ":")
    return (try? percentDecoded(Array(host.utf8)[...], "the host")).map { ($0, port) }
  }

  /// The pattern as it was written.
  public var description: String { text }
}
