/// A version as Semantic Versioning orders them; it may have fewer numbers or more: `2.1`, `2.1.0-beta.3`.
package struct Version: Comparable, Sendable {
  private let numbers: [UInt64]
  /// What makes it earlier than the release: numbers and words.
  private let early: [Substring]

  /// Nil where the text is no version. What follows `+` does not count.
  package init?(_ text: some StringProtocol) {
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

  package static func < (first: Version, second: Version) -> Bool {
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
