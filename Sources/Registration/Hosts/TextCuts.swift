extension Substring {
  /// The text before and behind the first `separator`, whatever marks follow it; nil where it has none.
  ///
  /// By scalars, as bytes are: of the character that `/` and U+0301 make, this finds the `/`.
  package func cut(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
    let scalars = unicodeScalars
    guard let index = scalars.firstIndex(of: separator) else { return nil }
    return (self[..<index], self[scalars.index(after: index)...])
  }

  /// The text before the first `separator`, or all where it has none, and the text behind it.
  package func split(at separator: Unicode.Scalar) -> (before: Substring, after: Substring?) {
    cut(at: separator).map { ($0.before, $0.after) } ?? (self, nil)
  }

  /// The parts between separators that are not empty.
  package func parts(at separator: Unicode.Scalar) -> [Substring] {
    unicodeScalars.split(separator: separator).map { Substring($0) }
  }

  /// All but the first scalar.
  package var dropFirstScalar: Substring { Substring(unicodeScalars.dropFirst()) }

  /// All but the last scalar.
  package var dropLastScalar: Substring { Substring(unicodeScalars.dropLast()) }
}
