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
  ///   - limits: How much may come of it.
  /// - Throws: ``RoutingError`` with `malformed-url` if a URL cannot hold a part, such as an empty segment,
  ///   `..`, or a slash in the first one; with `limit-exceeded` if the text is too long.
  public init(
    scheme: String, segments: [String], items: [Item] = [], limits: URLLimits = .standard
  ) throws(RoutingError) {
    let path = segments.enumerated().map { index, segment in
      index == 0 ? PercentEncoding.host(segment) : PercentEncoding.segment(segment)
    }
    let query = items.map(PercentEncoding.item).joined(separator: "&")
    try self.init(
      "\(scheme)://\(path.joined(separator: "/"))\(query.isEmpty ? "" : "?\(query)")",
      limits: limits)
    try RoutingError.check(
      self.scheme == scheme.lowercased() && self.items == items
        && (host.map { [$0] } ?? []) + self.path == segments, .malformedURL,
      "\(text) does not lead back to its parts; none may be empty, and a scheme is a word")
  }
}
