/// A module that another one requires: `log`, or `log >=1.2 <2` if not every version will do.
package struct ModuleRequirement: Hashable, Sendable {
  /// The other module's name.
  package let name: String
  /// The versions of it that will do, as written; empty if every version will.
  package let versions: String

  /// Reads a requirement. Its versions begin at the first `<`, `>` or `=` that follows a space.
  package init(_ text: String) {
    let gap = zip(text.indices, text.indices.dropFirst()).first {
      text[$0] == " " && "<>=".contains(text[$1])
    }
    name = String(text[..<(gap?.0 ?? text.endIndex)])
    versions = String(text[(gap?.1 ?? text.endIndex)...])
  }

  /// Whether the versions can be read.
  package var isReadable: Bool { versions.isEmpty || VersionRange(versions) != nil }

  /// Returns why a module of the name does not meet the requirement: "is of version 0.9, not >=1.2 <2".
  ///
  /// - Parameter version: The module's version, if it has one.
  /// - Returns: The reason; nil if the module will do.
  package func fault(of version: String?) -> String? {
    guard !versions.isEmpty else { return nil }
    guard let range = VersionRange(versions) else {
      return "is there, but the required versions, \(versions), cannot be read"
    }
    guard let version, let found = Version(version) else {
      return "has no version, but \(versions) is required"
    }
    return range.contains(found) ? nil : "is of version \(version), not \(versions)"
  }
}

extension Attributes {
  /// The names of the modules that must be present and start earlier.
  package var requiredNames: [String] { requires.map { ModuleRequirement($0).name } }
}

/// A range of versions: `>=2.1 <3`. All of its comparisons have to hold.
package struct VersionRange: Sendable {
  /// The comparisons. A version without a sign has to be equal.
  private var bounds: [(sign: Substring, version: Version)] = []

  /// Reads a range; nil if the text is not one.
  package init?(_ text: String) {
    for part in text.split(separator: " ") {
      let sign = part.prefix { "<>=".contains($0) }
      guard ["", "=", ">", ">=", "<", "<="].contains(sign),
        let version = Version(part.dropFirst(sign.count))
      else { return nil }
      bounds.append((sign, version))
    }
    // Bounds that leave no version between them are a mistake.
    let least = bounds.filter { $0.sign.first != "<" }.map(\.version).max()
    let most = bounds.filter { $0.sign.first != ">" }.map(\.version).min()
    if let least, let most, most < least { return nil }
    let isStrict = bounds.contains { $0.version == least && ["<", ">"].contains($0.sign) }
    if least != nil, least == most, isStrict { return nil }
    if bounds.isEmpty { return nil }
  }

  package func contains(_ version: Version) -> Bool {
    bounds.allSatisfy { sign, bound in
      switch sign {
      case ">": version > bound
      case ">=": version >= bound
      case "<": version < bound
      case "<=": version <= bound
      default: version == bound
      }
    }
  }
}

/// A version, ordered as in Semantic Versioning. It may have fewer numbers or more: `2.1`, `2.1.0-beta.3`.
package struct Version: Comparable, Sendable {
  private let numbers: [UInt64]
  /// The numbers and words that make it earlier than the release.
  private let early: [Substring]

  /// Reads a version; nil if the text is not one. Text after `+` does not count.
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
    // The release comes after its early versions.
    if first.early.isEmpty || second.early.isEmpty {
      return !first.early.isEmpty && second.early.isEmpty
    }
    return first.early.lexicographicallyPrecedes(second.early, by: isBefore)
  }

  /// Returns whether a part comes first: numbers by their value and before words, words by their letters.
  private static func isBefore(_ first: Substring, _ second: Substring) -> Bool {
    switch (UInt64(first), UInt64(second)) {
    case (let first?, let second?): first < second
    case (nil, nil): first < second
    case (let number, _): number != nil
    }
  }
}
