/// What the text of a route's pattern says; `RoutePattern` of `BeeHiveRouting` has the notation.
package struct PatternParts: Hashable, Sendable {
  /// The most segments of a form, which are as many as a URL may have unless the host says otherwise.
  package static let mostSegments = 64

  /// In lower case; nil for any.
  package internal(set) var scheme: String?
  /// Whether the first segment is a host.
  package internal(set) var isAbsolute = false
  /// One list of segments for each choice of the optional parts, the longest first; never empty.
  package internal(set) var variants: [[PatternSegment]] = []
  package internal(set) var keys: [PatternKey] = []
  /// Whether the query may have keys that are not declared.
  package internal(set) var allowsOtherKeys = false

  /// Any path and any query: `*?*`.
  package static let anything = PatternParts(variants: [[.anything]], allowsOtherKeys: true)

  /// The forms as a router takes them; `isPrefix` where anything may follow what the pattern covers.
  package func variants(isPrefix: Bool) -> [[PatternSegment]] {
    guard isPrefix else { return variants }
    return variants.map { variant in
      if case .rest? = variant.last { return variant }
      return variant + [.anything]
    }
  }
}

extension PatternParts {
  /// Reads a pattern.
  ///
  /// - Parameter text: The pattern, in the notation of `RoutePattern`.
  /// - Throws: ``TextProblem`` where no router takes it.
  package init(_ text: String) throws(TextProblem) {
    self.init()
    try PatternReader(text: text).read(into: &self)
  }
}
