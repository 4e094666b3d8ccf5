import BeeHiveRouting
import Testing

/// A matcher that looks at every route, one after the other: slow, and easy to believe.
private struct ReferenceMatcher {
  /// `a`, `:int`, `:text`, `*`: one letter for each sort of segment.
  typealias Pattern = [String]

  /// Smaller is better, segment by segment from the left; nil where it does not match.
  static func score(_ pattern: Pattern, _ url: [String]) -> [Int]? {
    var score: [Int] = []
    for (index, segment) in pattern.enumerated() {
      if segment == "*" { return score + [3] }
      guard index < url.count else { return nil }
      switch segment {
      case ":int":
        guard Int(url[index]) != nil else { return nil }
        score.append(1)
      case ":text": score.append(2)
      default:
        guard segment == url[index] else { return nil }
        score.append(0)
      }
    }
    return pattern.count == url.count ? score : nil
  }

  static func best(of patterns: [Pattern], for url: [String]) -> Int? {
    var best: (index: Int, score: [Int])?
    for (index, pattern) in patterns.enumerated() {
      guard let score = score(pattern, url) else { continue }
      if let known = best, !score.lexicographicallyPrecedes(known.score) { continue }
      best = (index, score)
    }
    return best?.index
  }
}

private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}

@Suite("The tree agrees with a matcher that tries every route")
struct ReferenceMatcherTests {
  @Test("100,000 random URLs over 2,000 sets of 1 to 20 random patterns")
  func agreement() throws {
    var random = Generator(state: 20_261_121)
    let words = ["a", "b", "c", "7", "42"]
    for _ in 0..<2000 {
      let router = Router()
      var patterns: [[String]] = []
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        var pattern = (0..<Int.random(in: 0...5, using: &random)).map { _ in
          ([":int", ":text", ":text"] + words).randomElement(using: &random) ?? "a"
        }
        if Int.random(in: 0..<4, using: &random) == 0 { pattern.append("*") }
        let text = pattern.enumerated().map { index, segment in
          switch segment {
          case ":int": "/:p\(index)<Int>"
          case ":text": "/:p\(index)"
          default: "/\(segment)"
          }
        }
        let name = text.isEmpty ? "/" : text.joined()
        guard (try? router.register(name, { _ in })) != nil else { continue }
        patterns.append(pattern)
      }
      let routes = router.routes
      try #require(routes.count == patterns.count)
      for _ in 0..<50 {
        let url = (0..<Int.random(in: 0...6, using: &random)).map { _ in
          (words + ["x"]).randomElement(using: &random) ?? "a"
        }
        let expected = ReferenceMatcher.best(of: patterns, for: url).map { routes[$0].pattern.text }
        let found = router.route(for: "app:/" + url.joined(separator: "/"))?.pattern.text
        if found != expected {
          Issue.record("\(url): \(found ?? "none"), not \(expected ?? "none"), of \(patterns)")
          return
        }
      }
    }
  }

  @Test("100,000 routes: a match looks at the branches of its URL alone")
  func manyRoutes() throws {
    func cost(of count: Int) throws -> Duration {
      let router = Router()
      for index in 0..<count {
        try router.register("/group\(index % 100)/item\(index)/:id<Int>") { _ in }
      }
      let urls = (0..<1000).map { "/group\($0 * 97 % count % 100)/item\($0 * 97 % count)/7" }
      var best = Duration.seconds(10)
      for _ in 0..<5 {
        let start = ContinuousClock.now
        for url in urls { #expect(router.route(for: url) != nil) }
        best = min(best, ContinuousClock.now - start)
      }
      return best
    }
    let (few, many) = try (cost(of: 1000), cost(of: 100_000))
    // Memory that is not in the cache costs something; looking at every route would cost 100 times.
    #expect(many < few * 8, "1,000 routes: \(few), 100,000: \(many)")
  }
}
