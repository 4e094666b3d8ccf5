internal import Registration

extension Source {
  /// What places are called, each with as much of its path as tells it from the others: two libraries in
  /// different folders may have one name.
  static func told(apart places: [Source]) -> [String] {
    places.map { place in
      guard case .image(let origin) = place else { return place.description }
      let parts = origin.image.split(separator: "/").reversed()
      let shared = places.compactMap { other -> Int? in
        guard case .image(let other) = other, other.image != origin.image else { return nil }
        return zip(parts, other.image.split(separator: "/").reversed()).prefix { $0 == $1 }.count
      }
      return origin.description(folders: shared.max() ?? 0)
    }
  }
}
