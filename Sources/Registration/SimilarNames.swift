/// The names that come nearest to one that was asked for: what may have been meant.
package struct SimilarNames: Codable, Sendable {
  /// A name, and how far it is from the one that was asked for.
  package struct Near: Codable, Sendable {
    var distance: Int
    package var text: String
  }

  /// What is told of them.
  private static let most = 3
  /// Longer ones are hardly typed wrongly, and take long to compare.
  private static let longest = 128
  /// How many names are looked at: an error is told soon, however many there are.
  private static let limit = 10_000

  /// The nearest first; of equal ones in the order of the letters.
  package private(set) var names: [Near] = []

  package init() {}

  /// Those that come nearest to `wanted`.
  package init(to wanted: String, among names: some Sequence<String>) {
    for name in names.prefix(Self.limit) where name != wanted { consider(name, for: wanted) }
  }

  /// Keeps a name if it is among the nearest.
  package mutating func consider(_ name: String, for text: String) {
    guard let distance = Self.distance(name, text, atMost: max(1, text.utf8.count / 4)) else {
      return
    }
    insert(name, at: distance)
  }

  package mutating func add(_ other: Self) {
    for name in other.names { insert(name.text, at: name.distance) }
  }

  /// Keeps a name at this distance if it is among the nearest.
  package mutating func insert(_ text: String, at distance: Int) {
    guard !names.contains(where: { $0.text == text }) else { return }
    let position =
      names.firstIndex { (distance, text) < ($0.distance, $0.text) } ?? names.endIndex
    names.insert(Near(distance: distance, text: text), at: position)
    if names.count > Self.most { names.removeLast() }
  }

  /// Returns the number of bytes that differ, of whatever case; nil where that is more than `most`.
  package static func distance(_ name: String, _ wanted: String, atMost most: Int) -> Int? {
    guard max(name.utf8.count, wanted.utf8.count) <= longest,
      abs(name.utf8.count - wanted.utf8.count) <= most
    else { return nil }
    let (first, second) = (Array(name.lowercased().utf8), Array(wanted.lowercased().utf8))
    // Row by row: what it takes to make the first bytes of one those of the other.
    var row = Array(0...second.count)
    for (line, byte) in first.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in second.indices {
        let replaced = diagonal + (byte == second[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[second.count] <= most ? row[second.count] : nil
  }
}
