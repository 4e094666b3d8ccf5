import TestSupport
import Testing
import Threads

@testable import BeeHiveRouting

/// A difference between the router and the reference.
private struct Disagreement: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

@Suite("The tree agrees with a matcher that tries every route")
struct ReferenceMatcherTests {
  /// Returns the routes that a URL meets in a router, in order, each with its values.
  private func answers(_ router: Router, _ url: String) throws -> [String] {
    router.core.meet(try URLText(url)).matches.map { match in
      match.values.reduce(match.route.pattern.text) { text, pair in
        "\(text) \(pair.name)=\(pair.value.urlTexts.joined(separator: "/"))"
      }
    }
  }

  /// Registers random routes. If two have one shape, the router must refuse the second.
  private func register(
    _ count: Int, in router: Router, _ random: inout ReferenceGenerator
  ) throws -> [(route: ReferenceRoute, registration: Handle)] {
    try router.define("Even") { text in
      text.last.map { "02468".contains($0) } == true ? text : nil
    }
    try router.define("Short") { $0.count == 1 ? $0 : nil }
    var taken: Set<[String]> = []
    var registered: [(route: ReferenceRoute, registration: Handle)] = []
    for _ in 0..<count {
      let route = random.route()
      let isTaken = !taken.isDisjoint(with: route.shapes)
      do {
        let registration = try router.register(
          route.pattern, priority: route.priority, matching: route.isPrefix ? .prefix : .exact
        ) { _ in }
        guard !isTaken else { throw Disagreement("\(route.pattern) has the shape of another") }
        taken.formUnion(route.shapes)
        registered.append((route, registration))
      } catch let error as RoutingError {
        guard isTaken, error.code == .duplicate else { throw Disagreement("\(error)") }
      }
    }
    return registered
  }

  private func said(_ values: [(name: String, value: any URLConvertible)]) -> [String] {
    values.filter { !$0.value.urlTexts.isEmpty }.map { "\($0.name)=\($0.value.urlTexts)" }.sorted()
  }

  /// Makes a URL from the values of a match. The URL must meet the same route and give the same values.
  ///
  /// Returns false, without a check, for the types of this suite, because a pattern does not know them. So it does for
  /// an encoded slash, because a Path gives it like any other slash. Two more cases are values that the URL spells in
  /// its own way, and patterns of http without a host, because every URL of http has one.
  private func checkWayBack(_ router: Router, _ url: String) throws -> Bool {
    guard let match = router.core.meet(try URLText(url)).matches.first,
      match.route.extent == .exact,
      match.route.pattern.scheme != "http" || match.route.pattern.isAbsolute,
      !["<Even>", "<Short>"].contains(where: match.route.pattern.text.contains),
      !["%2f", "%2F", "+", "%2b", "%2B", "00"].contains(where: url.contains),
      match.values.allSatisfy({ $0.value.urlTexts.count != 1 || url.contains($0.value.urlText) })
    else { return false }
    let values = Dictionary(match.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let made = try match.route.pattern.url(with: values)
    let again = router.core.meet(try URLText(made)).matches.first { $0.route.id == match.route.id }
    let (before, after) = (said(match.values), said(again?.values ?? []))
    guard again != nil, before == after else {
      throw Disagreement("\(match.route) makes \(made) of \(before), which gives \(after)")
    }
    return true
  }

  /// The number of patterns and URLs that each of the four quarters tries at least.
  private static let enough = Effort.times(250, full: 25_000)

  @Test("random patterns and random URLs: all matches, their order, their values", arguments: 1...4)
  func agreement(quarter: UInt64) throws {
    var random = ReferenceGenerator(seed: quarter << 32)
    var (patterns, urls, met, ways) = (0, 0, 0, 0)
    while patterns < Self.enough || urls < Self.enough {
      let router = Router()
      var registered = try register(random.number(1...20), in: router, &random)
      patterns += registered.count
      for round in 0..<12 {
        // Removing a route leaves the others as they were.
        if round >= 8, !registered.isEmpty {
          let gone = registered.remove(at: random.number(0...registered.count - 1))
          gone.registration.cancel()
        }
        let routes = registered.map(\.route)
        let url = random.url(for: routes)
        let (found, expected) = (
          try answers(router, url.text), ReferenceRoute.answers(of: routes, url)
        )
        urls += 1
        met += found.count
        guard found == expected else {
          throw Disagreement("\(url.text): \(found), not \(expected), of \(routes.map(\.pattern))")
        }
        if try checkWayBack(router, url.text) { ways += 1 }
      }
      for (_, registration) in registered { registration.cancel() }
      let tree = router.core.routes.withLock { $0.tree }
      #expect(tree.isEmpty, "nothing is left behind")
    }
    #expect(met > Self.enough, "URLs that meet nothing say little: \(met) matches")
    #expect(ways > Self.enough / 4, "and a quarter ought to lead back: \(ways)")
  }

  @Test("many routes: a match looks at the branches of its URL alone")
  func manyRoutes() throws {
    /// Returns how often a segment is converted while 1,000 URLs meet one route each.
    func tries(among count: Int) throws -> Int {
      let router = Router()
      let tried = Counter()
      try router.define("Counted") { text in
        tried.next()
        return Int(text)
      }
      for index in 0..<count {
        let item = "/group\(index % 100)/item\(index)"
        let pattern =
          index % 2 == 0 ? "\(item)/:id<Counted>" : "/a\(index % 100)/:id<Counted>/b\(index)"
        try router.register(pattern) { _ in }
      }
      for number in 0..<1000 {
        let index = number * 97 % count
        let url =
          index % 2 == 0
          ? "/group\(index % 100)/item\(index)/7" : "/a\(index % 100)/7/b\(index)"
        #expect(router.route(for: url) != nil)
      }
      return tried.count
    }
    let (few, many) = try (tries(among: 1000), tries(among: Effort.times(5_000, full: 100_000)))
    #expect(few >= 1000)
    #expect(many == few)
  }
}
