/// A version as Semantic Versioning orders them; it may have fewer numbers or more: `2.1`, `2.1.0-beta.3`.
struct Version: Comparable {
  private let numbers: [UInt64]
  /// What makes it earlier than the release: numbers and words.
  private let early: [Substring]

  /// Nil where the text is no version. What follows `+` does not count.
  init?(_ text: some StringProtocol) {
    let text = Substring(text).prefix { $0 != "+" }
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts[0].split(separator: ".", omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy(\.isDigit) ? UInt64(part) : nil
    }
    guard !numbers.contains(nil) else { return nil }
    var known = numbers.compactMap(\.self)
    while known.last == 0 { known.removeLast() }
    self.numbers = known
    early =
      parts.count == 1
      ? [] : parts[1].split(separator: ".", omittingEmptySubsequences: false)
    guard !early.contains("") else { return nil }
  }

  static func < (first: Version, second: Version) -> Bool {
    if first.numbers != second.numbers {
      return first.numbers.lexicographicallyPrecedes(second.numbers)
    }
    // The release comes behind all that is early.
    if first.early.isEmpty || second.early.isEmpty {
      return !first.early.isEmpty && second.early.isEmpty
    }
    return first.early.lexicographicallyPrecedes(second.early, by: isBefore)
  }

  /// Numbers by their value and before words, words by their letters.
  private static func isBefore(_ first: Substring, _ second: Substring) -> Bool {
    switch (UInt64(first), UInt64(second)) {
    case (let first?, let second?): first < second
    case (nil, nil): first < second
    case (let number, _): number != nil
    }
  }
}

/// A range of versions: `>=2.1 <3`, comparisons of which all hold.
struct VersionRange: Sendable {
  /// The longer ones first; a version alone is meant with its equals.
  private static let signs: [(text: String, comparison: DecisionTable.Comparison?)] = [
    (">=", .atLeast), ("<=", .atMost), (">", .above), ("<", .below), ("=", nil), ("", nil),
  ]

  private let bounds: [(comparison: DecisionTable.Comparison?, version: Version)]

  /// Nil where the text is none.
  init?(_ text: String) {
    let bounds = text.split(separator: " ").map { part -> (DecisionTable.Comparison?, Version)? in
      guard let sign = Self.signs.first(where: { part.hasPrefix($0.text) }),
        let version = Version(part.dropFirst(sign.text.count))
      else { return nil }
      return (sign.comparison, version)
    }
    let known = bounds.compactMap(\.self)
    guard !known.isEmpty, known.count == bounds.count else { return nil }
    self.bounds = known
    // Bounds that leave no version between them are a mistake.
    let least = known.filter { [.atLeast, .above, nil].contains($0.0) }.map(\.1).max()
    let most = known.filter { [.atMost, .below, nil].contains($0.0) }.map(\.1).min()
    if let least, let most, most < least { return nil }
  }

  func contains(_ version: Version) -> Bool {
    bounds.allSatisfy { comparison, bound in
      comparison?.holds(version, bound) ?? (version == bound)
    }
  }
}
