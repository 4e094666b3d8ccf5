extension RoutePattern {
  /// Returns a URL that the pattern matches, with these values.
  ///
  /// Matching the URL gives the values back. Types that ``Router/define(_:_:)`` adds are not known here, and
  /// so not checked.
  ///
  /// - Parameter values: The values by name. Those that the path does not name go into the query. The URL has
  ///   the optional parts that are given all of their values.
  /// - Returns: The URL, encoded: the same values give the same URL.
  /// - Throws: ``RoutingError`` with `missingParameter` if a value is missing; with `wrongParameter` if a value
  ///   is of another type than the pattern names, if no URL can hold it, or if the URL would give it to
  ///   another name.
  public func url(with values: [String: any URLConvertible] = [:]) throws(RoutingError) -> String {
    let given = Set(values.keys)
    let fitting = variants.filter { given.isSuperset(of: Self.needed(by: $0)) }
    // Of the forms that take the same values as the fullest one, the first that leads back.
    let taken = fitting.first.map { given.intersection(Self.names(in: $0)) }
    var failure: RoutingError?
    for variant in fitting where given.intersection(Self.names(in: variant)) == taken {
      do throws(RoutingError) {
        let url = try url(of: variant, values)
        return url + (try query(values.filter { taken?.contains($0.key) == false }))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    let missing = Self.needed(by: variants.last ?? []).filter { !given.contains($0) }
    throw RoutingError(
      .missingParameter, "\(text) needs a value of \(missing.joined(separator: ", "))",
      key: missing.first)
  }

  /// Returns the URL of a form, and reads it again as a router would: `/a(/:b)(/:c)` may give b a value that was meant
  /// for c, and no segment holds an empty text, a way up, or a value of another type.
  private func url(
    of variant: [PatternSegment], _ values: [String: any URLConvertible]
  ) throws(RoutingError) -> String {
    let parts = variant.enumerated().map { index, segment in
      Self.part(segment, values, isHost: isAbsolute && index == 0)
    }
    let url =
      (scheme.map { $0 + ":" } ?? "")
      // Every URL of the web has a host. A pattern without one takes the host for the first segment.
      + (isAbsolute || SchemeRules(scheme: scheme).isWeb ? "//" : "/")
      + parts.filter { !$0.isEmpty }.joined(separator: "/")
    // The host's types are not known here, so then only this form is compared.
    let whole = try? RouteTree(of: self, variants, types: .builtIn)
    let tree = if let whole { whole } else { try RouteTree(of: self, [variant], types: anyTypes) }
    let limits = URLLimits(bytes: .max, segments: .max, items: .max)
    let read = try? URLText(url, limits: limits)
    let match = read.flatMap { RouteSearch.matches(of: $0, in: tree).first }
    let given = Dictionary(
      (match?.values ?? []).map { ($0.name, $0.value.urlTexts) },
      uniquingKeysWith: { first, _ in first })
    // The rest of the path depends on the other values, so it is compared last.
    let names = Set(Self.names(in: variant)).union(given.keys).sorted()
    for name in names.filter({ !isRest($0) }) + names.filter(isRest)
    where meant(for: name, in: variant, values) != given[name] ?? [] {
      let value = given[name].map { "\"\($0.joined(separator: "/"))\"" } ?? "nothing"
      throw RoutingError(
        .wrongParameter,
        "\(text) cannot hold these values: \(url.excerpt) would give \(name) \(value.excerpt)",
        key: name)
    }
    guard match != nil else {
      throw RoutingError(
        .wrongParameter, "\(text) does not meet \(url.excerpt), the URL that it would make")
    }
    return url
  }

  /// Returns the texts that a URL of a form has to give to a name.
  private func meant(
    for name: String, in variant: [PatternSegment], _ values: [String: any URLConvertible]
  ) -> [String] {
    guard let value = values[name], let segment = variant.first(where: { $0.name == name }) else {
      return []
    }
    guard case .capture(let capture) = segment else { return value.urlTexts }
    return [SegmentTypes.builtIn.normal(value.urlText, as: capture.type)]
  }

  /// Returns a segment with its value, or several of them for a rest; empty if there is no value.
  private static func part(
    _ segment: PatternSegment, _ values: [String: any URLConvertible], isHost: Bool
  ) -> String {
    func encoded(_ text: some StringProtocol, _ isHost: Bool) -> String {
      guard isHost else { return String(text).asSegment }
      // An IPv6 host is given with its brackets.
      return text.utf8.first == UInt8(ascii: "[") ? String(text) : String(text).asHost
    }
    switch segment {
    case .literal(let literal):
      return isHost ? String(Host.text(ofKey: literal)) : literal.asSegment
    case .capture(let capture):
      let text = values[capture.name]?.urlText ?? ""
      return encoded(capture.prefix + text + capture.suffix, isHost)
    case .rest(let name, let isPath):
      let texts = values[name]?.urlTexts ?? []
      // A Path has slashes, and may hold a whole URL: `http://…`.
      let parts =
        isPath
        ? texts.flatMap { $0.split(separator: "/", omittingEmptySubsequences: false) }
        : texts.map { $0[...] }
      // The first part is the host, the others are segments after it.
      return parts.enumerated().map { encoded($1, isHost && $0 == 0) }.joined(separator: "/")
    }
  }

  private func query(_ values: [String: any URLConvertible]) throws(RoutingError) -> String {
    for key in keys {
      let texts = values[key.name]?.urlTexts ?? []
      try RoutingError.check(
        key.isOptional || !texts.isEmpty, .missingParameter, "\(text) needs a value of \(key.name)",
        key: key.name)
      try RoutingError.check(
        texts.allSatisfy { SegmentTypes.builtIn.mayHold($0, as: key.type) }, .wrongParameter,
        "\(text) needs a value of \(key.name) that is of type \(key.type)", key: key.name)
    }
    // In the order of the pattern, then of the alphabet: the same values give the same URL.
    let declared = keys.map(\.name).filter { values[$0] != nil }
    let others = values.keys.filter { !declared.contains($0) }.sorted()
    let items = (declared + others).flatMap { key in
      (values[key]?.urlTexts ?? []).map { URLText.Item(name: key, value: $0).encoded }
    }
    return items.isEmpty ? "" : "?" + items.joined(separator: "&")
  }
}
