internal import BinaryImage
package import Registration

// "Did you mean": what is there under a name that is nearly the one that was asked for.
extension SimilarNames {
  /// Keeps a name whose last part is near, unless three nearer ones are there: the distance is that of
  /// the whole names, which no limit holds.
  mutating func keep(_ name: String, for wanted: String) {
    insert(name, at: Self.distance(name, wanted, atMost: .max) ?? .max)
  }

  /// `; did you mean log or logs?`, to end a sentence with; empty where no name is near.
  package var question: String { Self.question(names.map(\.text)) }

  /// The same of names that were found before.
  static func question(_ names: [String]) -> String {
    let texts = names.map(\.escaped)
    guard let last = texts.last else { return "" }
    let others = texts.dropLast().joined(separator: ", ")
    return "; did you mean \(others.isEmpty ? last : "\(others) or \(last)")?"
  }
}
