extension RoutePattern {
  /// Returns a URL that the pattern matches, with these values.
  ///
  /// Matching the URL gives the values back. Types that ``Router/define(_:_:)`` adds are not known here, and
  /// so not checked.
  ///
  /// - Parameter values: The values by name; what the path does not name goes into the query. Optional parts
  ///   are there where all of their values are given.
  /// - Returns: The URL, encoded: the same values give the same URL.
  /// - Throws: ``RoutingError`` with `missingParameter` if a value is missing; with `wrongParameter` if one
  ///   is of another type than the pattern names, if no URL can hold it, or if the URL would give it to
  ///   another name.
  public func url(with values: [String: any URLConvertible] = [:]) throws(RoutingError) -> String {
    let given = Set(values.keys)
    let fitting = variants.filter { given.isSuperset(of: Self.needed(by: $0)) }
    // Of the forms that take all that the fullest one takes, the first that leads back.
    let taken = fitting.first.map { given.intersection(Self.names(in: $0)) }
    // Where a type is not known, a URL cannot be checked here.
    let tree = try? RouteTree(of: self, types: .builtIn)
    var failure: RoutingError?
    for variant in fitting where given.intersection(Self.names(in: variant)) == taken {
      do throws(RoutingError) {
        return try url(of: variant, values, checkedBy: tree)
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

  private func url(
    of variant: [PatternSegment], _ values: [String: any URLConvertible], checkedBy tree: RouteTree?
  ) throws(RoutingError) -> String {
    var used: [String: [String]] = [:]
    var path: [String] = []
    for (index, segment) in variant.enumerated() {
      let host = isAbsolute && index == 0 ? SchemeRules(scheme: scheme) : nil
      if let part = try Self.part(segment, values, &used, host: host) { path.append(part) }
    }
    var url = scheme.map { $0 + ":" } ?? ""
    url += isAbsolute ? "//" : "/"
    url += path.joined(separator: "/")
    if let tree { try check(url, in: tree, gives: used) }
    return url + (try query(values.filter { used[$0.key] == nil }))
  }

  /// Reads a URL that was made, as a router would: `/a(/:b)(/:c)` gives to b what was meant for c.
  private func check(
    _ url: String, in tree: RouteTree, gives meant: [String: [String]]
  ) throws(RoutingError) {
    let limits = URLLimits(bytes: .max, segments: .max, items: .max)
    let match = RouteSearch.matches(of: try URLText(url, limits: limits), in: tree).first
    let read = Dictionary(
      (match?.values ?? []).map { ($0.name, $0.value.urlTexts) },
      uniquingKeysWith: { first, _ in first })
    for name in Set(meant.keys).union(read.keys).sorted()
    where meant[name] ?? [] != read[name] ?? [] {
      let value = read[name].map { "\"\($0.joined(separator: "/"))\"" } ?? "nothing"
      throw RoutingError(
        .wrongParameter, "\(text) cannot hold these values: \(url) would give \(name) \(value)",
        key: name)
    }
  }

  private static func needed(by variant: [PatternSegment]) -> [String] {
    variant.filter { !$0.isRest }.compactMap(\.name)
  }

  private static func part(
    _ segment: PatternSegment, _ values: [String: any URLConvertible],
    _ used: inout [String: [String]],
    host rules: SchemeRules?
  ) throws(RoutingError) -> String? {
    switch segment {
    case .literal(let literal):
      return rules == nil ? literal.asSegment : String(Host.text(ofKey: literal))
    case .capture(let capture):
      let text = values[capture.name]?.urlText ?? ""
      guard !text.isEmpty else { throw unfit(capture.name, "an empty text is no segment") }
      try check(text, is: capture.type, capture.name)
      used[capture.name] = [SegmentTypes.builtIn.normal(text, as: capture.type)]
      let whole = capture.prefix + text + capture.suffix
      guard whole != ".", whole != ".." else { throw unfit(capture.name, "\(whole) is a way up") }
      return try encoded(whole[...], capture.name, host: rules)
    case .rest(let rest):
      let texts = values[rest.name]?.urlTexts ?? []
      used[rest.name] = texts
      // A Path has slashes, and may hold a whole URL: `http://…`.
      let parts =
        rest.isPath
        ? texts.flatMap { $0.split(separator: "/", omittingEmptySubsequences: false) }
        : texts.map { $0[...] }
      guard !parts.contains(where: { $0 == "." || $0 == ".." }), texts.allSatisfy({ !$0.isEmpty })
      else { throw unfit(rest.name, "a segment is neither empty nor a way up") }
      // The first part is the host, the others are segments behind it.
      var encoded: [String] = []
      for part in parts {
        encoded.append(try self.encoded(part, rest.name, host: encoded.isEmpty ? rules : nil))
      }
      return encoded.isEmpty ? nil : encoded.joined(separator: "/")
    }
  }

  /// A segment, or a host by its rules.
  private static func encoded(
    _ text: Substring, _ key: String, host rules: SchemeRules?
  ) throws(RoutingError) -> String {
    guard let rules else { return String(text).asSegment }
    // An IPv6 host is given with its brackets.
    let host = text.utf8.first == UInt8(ascii: "[") ? String(text) : String(text).asHost
    do throws(Refusal) { _ = try Host(Array(host.utf8)[...], rules) } catch {
      throw unfit(key, error.message)
    }
    return host
  }

  private static func check(_ text: String, is type: String?, _ key: String) throws(RoutingError) {
    guard let type, !SegmentTypes.builtIn.mayHold(text, as: type) else { return }
    throw unfit(key, "\"\(text)\" is no \(type)")
  }

  private static func unfit(_ key: String, _ reason: String) -> RoutingError {
    RoutingError(
      .wrongParameter, "the value of \(key) cannot be part of a URL: \(reason)", key: key)
  }

  private func query(_ values: [String: any URLConvertible]) throws(RoutingError) -> String {
    for key in keys {
      let texts = values[key.name]?.urlTexts ?? []
      try RoutingError.check(
        key.isOptional || !texts.isEmpty, .missingParameter, "\(text) needs a value of \(key.name)",
        key: key.name)
      for value in texts { try Self.check(value, is: key.type, key.name) }
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
