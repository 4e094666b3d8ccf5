extension RoutePattern {
  /// A URL that the pattern matches, with these values; what the path does not name goes into the query.
  ///
  /// Optional parts are there where all of their values are given. Matching the URL gives the values back.
  public func url(with values: [String: any URLConvertible] = [:]) throws(RoutingError) -> String {
    let given = Set(values.keys)
    guard let variant = variants.first(where: { given.isSuperset(of: Self.needed(by: $0)) }) else {
      let missing = Self.needed(by: variants.last ?? []).filter { !given.contains($0) }
      throw RoutingError(
        .missingParameter, "\(text) needs a value of \(missing.joined(separator: ", "))",
        key: missing.first)
    }
    var used: Set<String> = []
    var path: [String] = []
    for (index, segment) in variant.enumerated() {
      let isHost = isAbsolute && index == 0
      if let part = try Self.part(segment, values, &used, isHost: isHost) { path.append(part) }
    }
    var url = scheme.map { $0 + ":" } ?? ""
    url += isAbsolute ? "//" : "/"
    url += path.joined(separator: "/")
    return url + (try query(values.filter { !used.contains($0.key) }))
  }

  private static func needed(by variant: [Segment]) -> [String] {
    variant.compactMap { segment in
      switch segment {
      case .capture(let capture): capture.name
      case .rest(let rest) where rest.isPath: rest.name
      case .rest, .literal: nil
      }
    }
  }

  private static func part(
    _ segment: Segment, _ values: [String: any URLConvertible], _ used: inout Set<String>,
    isHost: Bool
  ) throws(RoutingError) -> String? {
    switch segment {
    case .literal(let literal):
      // A host with a port or in brackets stands as it is.
      let isWhole = isHost && literal.contains(":")
      return isWhole
        ? literal : isHost ? PercentEncoding.host(literal) : PercentEncoding.segment(literal)
    case .capture(let capture):
      used.insert(capture.name)
      let text = values[capture.name]?.urlText ?? ""
      guard !text.isEmpty else { throw unfit(capture.name, "an empty text is no segment") }
      let whole = capture.prefix + text + capture.suffix
      guard whole != ".", whole != ".." else { throw unfit(capture.name, "\(whole) is a way up") }
      guard !isHost || !whole.contains("/") else {
        throw unfit(capture.name, "a host has no slash")
      }
      return isHost ? PercentEncoding.host(whole) : PercentEncoding.segment(whole)
    case .rest(let rest):
      used.insert(rest.name)
      let texts = values[rest.name]?.urlTexts ?? []
      // A Path has slashes, and may hold a whole URL: `http://…`.
      let parts =
        rest.isPath
        ? texts.flatMap { $0.split(separator: "/", omittingEmptySubsequences: false) }
        : texts.map { $0[...] }
      guard !parts.contains(where: { $0 == "." || $0 == ".." }), texts.allSatisfy({ !$0.isEmpty })
      else { throw unfit(rest.name, "a segment is neither empty nor a way up") }
      guard !isHost || parts.first?.contains("/") != true else {
        throw unfit(rest.name, "what stands first is a host, which has no slash")
      }
      let encoded = parts.map {
        isHost ? PercentEncoding.host(String($0)) : PercentEncoding.segment(String($0))
      }
      return encoded.isEmpty ? nil : encoded.joined(separator: "/")
    }
  }

  private static func unfit(_ key: String, _ reason: String) -> RoutingError {
    RoutingError(.wrongParameter, "the value of \(key) cannot stand in a path: \(reason)", key: key)
  }

  private func query(_ values: [String: any URLConvertible]) throws(RoutingError) -> String {
    if let missing = keys.first(where: { !$0.isOptional && values[$0.name] == nil }) {
      throw RoutingError(
        .missingParameter, "\(text) needs a value of \(missing.name)", key: missing.name)
    }
    // In the order of the pattern, then of the alphabet: the same values give the same URL.
    let declared = keys.map(\.name).filter { values[$0] != nil }
    let others = values.keys.filter { !declared.contains($0) }.sorted()
    let items = (declared + others).flatMap { key in
      (values[key]?.urlTexts ?? []).map {
        "\(PercentEncoding.query(key))=\(PercentEncoding.query($0))"
      }
    }
    return items.isEmpty ? "" : "?" + items.joined(separator: "&")
  }
}
