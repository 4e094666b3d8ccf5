internal import BeeHiveRouting

/// Matching one URL among few and many routes.
enum Matching {
  /// One side: a thousand URLs among `count` routes, spread over a hundred hosts.
  private static func side(among count: Int) -> Comparison.Side {
    let router = Router()
    for index in 0..<count {
      // Distinct by their number: none is refused.
      _ = try? router.register("app://host\(index % 100)/item\(index)/:id<Int>") { _ in }
    }
    let urls = (0..<1000).map { step in
      let index = step * 97 % count
      return "app://host\(index % 100)/item\(index)/42"
    }
    return Comparison.Side(
      run: { for url in urls where router.route(for: url) == nil { unmatched() } },
      operations: urls.count)
  }

  /// A URL that is not found would make the measurement a lie.
  private static func unmatched() { preconditionFailure("a registered route was not found") }

  static func few() -> Comparison {
    Comparison("match-100", floor: nil, candidate: side(among: 100))
  }

  static func many() -> Comparison {
    Comparison("match-100000", floor: nil, candidate: side(among: 100_000))
  }
}
