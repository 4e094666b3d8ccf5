import Testing

@testable import BeeHiveRouting

/// A route as the reference sees it, and a matcher that looks at every route, one after the other: slow,
/// and easy to believe.
private struct ReferenceRoute {
  enum Segment: Hashable {
    case literal(String)
    /// `4:name`
    case behind4, int, text, path, rest

    /// Smaller is better.
    var rank: Int {
      switch self {
      case .literal: 0
      case .behind4: 1
      case .int: 2
      case .text: 3
      case .path: 4
      case .rest: 5
      }
    }
  }

  /// Nil for any.
  var scheme: String?
  var segments: [Segment]
  /// How many segments at the end may be missing together.
  var optional: Int
  var priority: Int

  /// The pattern, in which the segment at an index is called `p` and that number.
  var pattern: String {
    let parts = segments.enumerated().map { index, segment in
      switch segment {
      case .literal(let word): "/\(word)"
      case .behind4: "/4:p\(index)"
      case .int: "/:p\(index)<Int>"
      case .text: "/:p\(index)"
      case .path: "/:p\(index)<Path>"
      case .rest: "/*p\(index)"
      }
    }
    let fixed = parts.dropLast(optional).joined()
    let tail = parts.suffix(optional).joined()
    return (scheme.map { "\($0):" } ?? "") + (fixed.isEmpty ? "/" : fixed)
      + (tail.isEmpty ? "" : "(\(tail))")
  }

  /// How well a form of this matches, segment by segment from the left, and what it gives.
  private func match(_ form: ArraySlice<Segment>, _ path: [String]) -> (ranks: [Int], said: String)?
  {
    var ranks: [Int] = []
    var said = ""
    for (index, segment) in form.enumerated() {
      if segment == .rest || segment == .path {
        if segment == .path, index >= path.count { return nil }
        let rest = path[min(index, path.count)...].joined(separator: "/")
        return (ranks + [segment.rank], said + " p\(index)=\(rest)")
      }
      guard index < path.count else { return nil }
      var value: String? = path[index]
      switch segment {
      case .literal(let word) where word != path[index]: return nil
      case .literal: value = nil
      case .behind4 where !path[index].hasPrefix("4") || path[index] == "4": return nil
      case .behind4: value = String(path[index].dropFirst())
      case .int where Int(path[index]) == nil: return nil
      default: break
      }
      ranks.append(segment.rank)
      if let value { said += " p\(index)=\(value)" }
    }
    return form.count == path.count ? (ranks, said) : nil
  }

  /// What the router is to say of all routes that meet a URL, in order.
  static func answers(of routes: [ReferenceRoute], scheme: String, _ path: [String]) -> [String] {
    let met = routes.compactMap { route -> (order: [Int], said: String)? in
      guard route.scheme == nil || route.scheme == scheme else { return nil }
      let forms =
        [route.segments[...]]
        + (route.optional > 0 ? [route.segments.dropLast(route.optional)] : [])
      let best = forms.compactMap { route.match($0, path) }
        .min { $0.ranks.lexicographicallyPrecedes($1.ranks) }
      return best.map {
        ([-route.priority, route.scheme == nil ? 1 : 0] + $0.ranks, route.pattern + $0.said)
      }
    }
    return met.sorted { $0.order.lexicographicallyPrecedes($1.order) }.map(\.said)
  }
}

/// Random numbers that are the same in each run.
private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &self) }

  /// Words that patterns and URLs have in common, so that they meet.
  mutating func word() -> String { ["a", "b", "7", "4", "42", "4a"][number(0...5)] }

  mutating func route() -> ReferenceRoute {
    var segments = (0..<number(0...5)).map { _ -> ReferenceRoute.Segment in
      switch number(0...9) {
      case 0, 1: .text
      case 2: .int
      case 3: .behind4
      default: .literal(word())
      }
    }
    switch number(0...5) {
    case 0: segments.append(.rest)
    case 1: segments.append(.path)
    default: break
    }
    return ReferenceRoute(
      scheme: [nil, nil, "x", "y"][number(0...3)], segments: segments,
      optional: number(0...3) == 0 ? min(segments.count, number(1...2)) : 0,
      priority: number(0...5) == 0 ? number(-1...1) : 0)
  }
}

@Suite("The tree agrees with a matcher that tries every route")
struct ReferenceMatcherTests {
  @Test(
    "100,000 random patterns and 100,000 random URLs: all matches, their order, their values",
    arguments: 1...4)
  func agreement(quarter: UInt64) throws {
    var random = Generator(state: quarter << 32)
    var (patterns, urls, met) = (0, 0, 0)
    while patterns < 25_000 || urls < 25_000 {
      let router = Router()
      var routes: [ReferenceRoute] = []
      for _ in 0..<random.number(1...20) {
        let route = random.route()
        // Two of one shape: the second is refused, and the reference does without it too.
        guard
          (try? router.register(route.pattern, priority: route.priority) { _ in }) != nil
        else { continue }
        routes.append(route)
      }
      patterns += routes.count
      for _ in 0..<10 {
        let path = (0..<random.number(0...6)).map { _ in random.word() }
        let scheme = ["x", "y", "z"][random.number(0...2)]
        let expected = ReferenceRoute.answers(of: routes, scheme: scheme, path)
        let url = try URLText("\(scheme):/" + path.joined(separator: "/"))
        let found = router.core.meet(url).matches.map { match in
          match.values.reduce(match.route.pattern.text) { text, pair in
            "\(text) \(pair.name)=\(pair.value.urlTexts.joined(separator: "/"))"
          }
        }
        urls += 1
        met += found.count
        if found != expected {
          Issue.record("\(url): \(found), not \(expected), of \(routes.map(\.pattern))")
          return
        }
      }
    }
    #expect(met > 12_500, "URLs that meet nothing say little: \(met) matches")
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
