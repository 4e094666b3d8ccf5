import Testing
import Threads

@testable import BeeHiveRouting

/// Where the router and the reference differ.
private struct Disagreement: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

@Suite("The tree agrees with a matcher that tries every route")
struct ReferenceMatcherTests {
  /// What a router says of a URL: the routes that it meets, in order, and what each is given.
  private func answers(_ router: Router, _ url: String) throws -> [String] {
    router.core.meet(try URLText(url)).matches.map { match in
      match.values.reduce(match.route.pattern.text) { text, pair in
        "\(text) \(pair.name)=\(pair.value.urlTexts.joined(separator: "/"))"
      }
    }
  }

  /// Registers random routes; of two of one shape the second has to be refused.
  private func register(
    _ count: Int, in router: Router, _ random: inout ReferenceGenerator
  ) throws -> [(route: ReferenceRoute, registration: RouteRegistration)] {
    try router.define("Even") { text in
      text.last.map { "02468".contains($0) } == true ? text : nil
    }
    try router.define("Short") { $0.count == 1 ? $0 : nil }
    var taken: Set<[String]> = []
    var registered: [(route: ReferenceRoute, registration: RouteRegistration)] = []
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

  /// A URL that is made of what a match gave has to meet the same route and give the same.
  ///
  /// Not for the types of this suite, which a pattern alone does not know; nor for an encoded slash, which
  /// a Path gives like any other; nor for a value that the URL spells in another way than it is written.
  private func checkWayBack(_ router: Router, _ url: String) throws -> Bool {
    guard let match = router.core.meet(try URLText(url)).matches.first,
      match.route.extent == .exact,
      !["<Even>", "<Short>"].contains(where: match.route.pattern.text.contains),
      !["%2f", "%2F", "+", "00"].contains(where: url.contains),
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

  @Test(
    "100,000 random patterns and 100,000 random URLs: all matches, their order, their values",
    arguments: 1...4)
  func agreement(quarter: UInt64) throws {
    var random = ReferenceGenerator(state: quarter << 32)
    var (patterns, urls, met, ways) = (0, 0, 0, 0)
    while patterns < 25_000 || urls < 25_000 {
      let router = Router()
      var registered = try register(random.number(1...20), in: router, &random)
      patterns += registered.count
      for round in 0..<12 {
        // Whoever goes leaves the others as they were.
        if round >= 8, !registered.isEmpty {
          let gone = registered.remove(at: random.number(0...registered.count - 1))
          #expect(gone.registration.cancel())
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
      #expect(router.core.routes.withLock { $0.tree.roots.isEmpty }, "nothing is left behind")
    }
    #expect(met > 25_000, "URLs that meet nothing say little: \(met) matches")
    #expect(ways > 10_000, "and as many ought to lead back: \(ways)")
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
        let start = ThreadTime.now
        for url in urls { #expect(router.route(for: url) != nil) }
        best = min(best, ThreadTime.now - start)
      }
      return best
    }
    let (few, many) = try (cost(of: 1000), cost(of: 100_000))
    // Memory that is not in the cache costs something; looking at every route would cost 100 times.
    #expect(many < few * 8, "1,000 routes: \(few), 100,000: \(many)")
  }
}
