import BeeHiveRouting
import TestSupport
import Testing

@testable import Registration

/// A router and `section-dump verify`, which compares shapes, must agree on which of these routes are duplicates.
@Suite("Routes of one shape")
struct RouteShapeTests {
  struct Route: Hashable, Sendable {
    var pattern: String
    var isPrefix = false

    /// The shapes; empty if the pattern cannot be used.
    var shapes: Set<RouteShape> {
      Set((try? PatternParts(pattern))?.shapes(isPrefix: isPrefix) ?? [])
    }
  }

  static let patterns = [
    "/a", "a", "/a/", "//a", "//A", "app://a", "APP://a", "app:/a", "*://a", "*:/a", "/A", "/a/:id",
    "/a/:name", "/a/:id<String>", "/a/:id<Int>", "/a/:n<int>", "/a/:n<Double>", "/a/:n<Float>",
    "/a/v:id", "/a/v:other", "/a/:id.html", "/a/:rest<Path>", "/a/:tail<path>", "/a/*", "/a/*rest",
    "*", "/a(/b)", "/a/b", "/a(/:id)(/:tab)", "/a/:x/:y", "/(a)", "/", "/a?from",
    "/a?page<Int>=1&*", "/a/:id?x", "/%61", "/a%2Fb", "/:a", ":a/b", "v:major", "//:section/list",
    "//shop:80/a", "//[::1]/a", "//[::1]:80/a", "//[0::1]/a", "//a:b/c", "http://a", "HTTP://A",
    #"http://a\b"#, "http://a/b", #"app://a\b"#, "http://0x1", "//1", "//0.0.0.1", "http://0.0.0.1",
    "app://A", "//caf\u{e9}", "//caf%C3%A9", "//cafe\u{301}", "http://caf\u{e9}", "//%61",
    "http://:x.B", "http://:y.b", "//:x.B", "//:x.b", "http://:x@b", "http://a%3A1", "http://a:1",
    "http:///", "http:/", "http://(a)", "/a/\u{301}b", "/a/:id/\u{300}", "/a?\u{301}q",
    "/a(/\u{301}b)", "/a/:id<Int>\u{301}", "/a/:e\u{301}", "/caf\u{e9}", "/cafe\u{301}",
    "/a(/b(/c(/d)))", "/a/b/c/d",
    // Every router refuses these.
    "", " ", "/a b", "/a#b", "/a/:", "/a/:1", "/a/:id<", "/a/:id<>", "/a/:x:y", "/a*", "/*/a",
    "/:p<Path>/a", "/a(", "/a)", "/(", "/..", "/%", "/%zz", "/%00", "/%ff", "/v:p<Path>", "//*x*",
  ]

  /// The most segments that a route may have, and one more.
  private static let most = path(of: 64)
  private static let tooMany = path(of: 65)

  private static func path(of count: Int) -> String { String(repeating: "/s", count: count) }

  static let routes =
    (patterns + [most, tooMany, "/\(most)", "//h\(most)", "//h\(path(of: 63))", "\(most)(/s)"])
    .map { Route(pattern: $0) } + [
      Route(pattern: most, isPrefix: true), Route(pattern: tooMany, isPrefix: true),
      Route(pattern: path(of: 63) + "/*"), Route(pattern: most + "/*"),
      Route(pattern: "/a", isPrefix: true), Route(pattern: "/a/*", isPrefix: true),
      Route(pattern: "/a/:id", isPrefix: true), Route(pattern: "/a/:p<Path>", isPrefix: true),
      Route(pattern: "/a(/b)", isPrefix: true),
    ]

  /// Returns whether a router that has one route refuses the other as its duplicate; nil if it refuses one anyway.
  private static func isDuplicate(_ one: Route, _ other: Route) -> Bool? {
    let router = Router()
    func register(_ route: Route) -> RoutingError? {
      do throws(RoutingError) {
        try router.register(route.pattern, matching: route.isPrefix ? .prefix : .exact) { _ in 0 }
        return nil
      } catch {
        return error
      }
    }
    guard register(one) == nil else { return nil }
    guard let error = register(other) else { return false }
    return error.code == .duplicate ? true : nil
  }

  @Test("are those that the router takes for one", arguments: Effort.sample(25, of: routes))
  func pairs(one: Route) {
    var duplicates = 0
    for other in Self.routes {
      let expected = Self.isDuplicate(one, other)
      #expect(
        !one.shapes.isDisjoint(with: other.shapes) == (expected ?? false),
        "\(one.pattern) and \(other.pattern)")
      duplicates += expected == true ? 1 : 0
    }
    // A route is its own duplicate, unless the router refuses it anyway.
    #expect((duplicates > 0) == !one.shapes.isEmpty)
  }

  @Test("as many segments as a router takes, and no more")
  func mostSegments() {
    #expect(PatternParts.mostSegments == URLLimits().segments)
    #expect(!Route(pattern: Self.most).shapes.isEmpty)
    #expect(Route(pattern: Self.tooMany).shapes.isEmpty)
  }

  @Test("A pattern that is longer than any URL is compared with none, however many forms it has")
  func long() {
    let head = "/(a)(b)(c)(d)(e)(f)/"
    let rest = PatternReader.mostBytes - head.utf8.count
    let longest = Route(pattern: head + String(repeating: "x", count: rest))
    #expect(longest.shapes.count == 64)
    #expect(PatternReader.mostBytes > URLLimits().bytes)
    let huge = head + String(repeating: "x", count: Effort.times(1, full: 12) << 20)
    // A pattern that is a byte longer has no shapes, whatever its text is.
    for pattern in [longest.pattern + "x", huge] {
      #expect(Route(pattern: pattern).shapes.isEmpty)
    }
  }

  @Test("A pattern that is nested without end, or has too many forms, has none", .mayHang)
  func hostile() {
    let open = String(repeating: "(", count: 1 << 16)
    let close = String(repeating: ")", count: 1 << 16)
    for pattern in [
      open, "/" + open + "a" + close, "/" + String(repeating: "(/a)", count: 1 << 14),
      String(repeating: "(/a", count: 1 << 12) + String(repeating: ")", count: 1 << 12),
    ] {
      #expect(Route(pattern: pattern).shapes.isEmpty)
    }
  }
}
