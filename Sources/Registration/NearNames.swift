internal import BinaryImage

/// Returns `; did you mean log or logs?`, to end a sentence with: up to three of `names` that are nearly `wanted`.
///
/// - Returns: An empty text if no name is near.
package func near(_ wanted: String, in names: some Sequence<String>) -> String {
  question(about: nearest(to: wanted, in: names))
}

/// Returns the same question about names that were found before.
package func question(about names: [String]) -> String {
  let texts = names.map(\.escaped)
  guard let last = texts.last else { return "" }
  let others = texts.dropLast().joined(separator: ", ")
  return "; did you mean \(others.isEmpty ? last : "\(others) or \(last)")?"
}

/// Returns up to three of `names` that are nearly `wanted`.
///
/// Looks at no more than 10,000 names, so that an error comes soon.
///
/// - Parameters:
///   - wanted: The name that nothing has.
///   - names: The known names.
///   - most: The number of bytes that may differ, ignoring case; nil for a quarter of the bytes of `wanted`.
/// - Returns: The near names, the nearest first.
package func nearest(
  to wanted: String, in names: some Sequence<String>, atMost most: Int? = nil
) -> [String] {
  let most = most ?? max(1, wanted.utf8.count / 4)
  var found: [(distance: Int, name: String)] = []
  for name in names.prefix(10_000) where name != wanted {
    let isQualified = name.hasSuffix(".\(wanted)")
    guard let distance = isQualified ? 0 : distance(name, wanted, atMost: most),
      !found.contains(where: { $0.name == name })
    else { continue }
    found.append((distance, name))
    found.sort { ($0.distance, $0.name) < ($1.distance, $1.name) }
    if found.count > 3 { found.removeLast() }
  }
  return found.map(\.name)
}

/// Returns the same, but no names after too many questions or among too many names. Each question takes a
/// comparison with all of them.
package func nearest(
  to wanted: String, in names: some Collection<String>, after questions: Int
) -> [String] {
  questions < 16 && names.count < 10_000 ? nearest(to: wanted, in: names) : []
}

/// Returns the number of bytes that differ; nil if more than `most` do, or the names are too long for a typing error.
private func distance(_ name: String, _ wanted: String, atMost most: Int) -> Int? {
  let (count, wantedCount) = (name.utf8.count, wanted.utf8.count)
  guard max(count, wantedCount) <= 128, abs(count - wantedCount) <= most else { return nil }
  let (first, second) = (Array(name.lowercased().utf8), Array(wanted.lowercased().utf8))
  // Row by row: the changes that turn the first bytes of one name into those of the other.
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
  // Two swapped neighbours are one fault.
  var swapped = first
  let place = zip(first, second).prefix { $0 == $1 }.count
  if place + 1 < first.count { swapped.swapAt(place, place + 1) }
  let distance = swapped == second ? min(1, row[second.count]) : row[second.count]
  return distance <= most ? distance : nil
}
