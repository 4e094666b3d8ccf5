/// A range of versions: `>=2.1 <3`, comparisons of which all hold.
package struct VersionRange: Sendable {
  /// The longer ones first; a version alone is meant with its equals.
  private enum Sign: String, CaseIterable {
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"
    case equal = "="
    case none = ""
  }

  private let bounds: [(sign: Sign, version: Version)]

  /// Nil where the text is none.
  package init?(_ text: String) {
    let bounds = text.split(separator: " ").map { part -> (Sign, Version)? in
      guard let sign = Sign.allCases.first(where: { part.hasPrefix($0.rawValue) }),
        let version = Version(part.dropFirst(sign.rawValue.count))
      else { return nil }
      return (sign, version)
    }
    let known = bounds.compactMap(\.self)
    guard !known.isEmpty, known.count == bounds.count else { return nil }
    self.bounds = known
    // Bounds that leave no version between them are a mistake.
    let least = known.filter { ![.atMost, .below].contains($0.0) }.map(\.1).max()
    let most = known.filter { ![.atLeast, .above].contains($0.0) }.map(\.1).min()
    if let least, let most, most < least { return nil }
  }

  package func contains(_ version: Version) -> Bool {
    bounds.allSatisfy { bound in
      switch bound.sign {
      case .atLeast: version >= bound.version
      case .atMost: version <= bound.version
      case .above: version > bound.version
      case .below: version < bound.version
      case .equal, .none: version == bound.version
      }
    }
  }
}
