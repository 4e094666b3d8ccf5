import Testing
import Threads

@testable import BeeHiveRouting

@Suite("A router takes in routes, and lets go of one without another")
struct RouteTableTests {
  private let router = Router()

  @Test("Two routes of one shape are refused with both places, until one has a priority")
  func duplicates() async throws {
    try router.register("/search/:query", file: "M/First.swift", line: 3) { _ in "first" }
    for same in ["/search/:query", "/search/:keyword", "/search(/:q)"] {
      expectError(.duplicate, saying: "Second.swift:4", "First.swift:3") {
        try router.register(same, file: "M/Second.swift", line: 4) { _ in "second" }
      }
    }
    #expect(router.routes.count == 1)
    #expect(await router.answer("/search") == nil, "the forms of a refused route are gone")
    try router.register("/search/:keyword", priority: 1) { _ in "second" }
    #expect(await router.answer("/search/x") == "second")
  }

  @Test("Of 10,000 parameters with text around them, a segment is looked up by each length")
  func manyFrames() async throws {
    for number in 0..<10_000 {
      try router.register("/v\(number)-:id.\(number % 7)") { "\(number) \(try $0["id"] as String)" }
    }
    try router.answering("/:plain")
    for number in [0, 7, 8, 99, 4_321, 9_999] {
      #expect(await router.answer("/v\(number)-x.\(number % 7)") == "\(number) x")
      #expect(await router.answer("/v\(number)-x.8") == "/:plain plain=v\(number)-x.8")
    }
    func root() -> RouteEdges? {
      var root: RouteEdges?
      router.core.routes.withLock { $0.tree }.forEachRoot(of: nil) { node, _ in root = node.edges }
      return root
    }
    #expect(root()?.framed.count == 4)
    #expect(root()?.edges(for: "v7-x.0").count == 2)
    for number in 0..<10_000 {
      #expect(router.deregister("/v\(number)-:other.\(number % 7)"))
    }
    #expect(root()?.framed.isEmpty != false)
  }

  @Test("Text around a value: the longer first, then the narrower type, then by the alphabet")
  func frameOrder() async throws {
    let router = try Router().answering(
      "/:x.b", "/a:x", "/ab:x", "/:n<Int>.b", "/a:x.b", "/a:n<Int>", "/:plain")
    for (url, answer) in [
      ("/abc.b", "/a:x.b x=bc"), ("/a7.b", "/a:x.b x=7"), ("/abc", "/ab:x x=c"),
      ("/a7", "/a:n<Int> n=7"), ("/ac", "/a:x x=c"), ("/7.b", "/:n<Int>.b n=7"),
      ("/q.b", "/:x.b x=q"), ("/a", "/:plain plain=a"), ("/.b", "/:plain plain=.b"),
      ("/ab", "/a:x x=b"), ("/a.b", "/:x.b x=a"),
    ] {
      #expect(await router.answer(url) == answer, "\(url)")
    }
  }

  @Test("Deregistering takes out this route and no other")
  func deregistration() async throws {
    let router = try Router().answering("/a/:id", "/a/:id/b", "/a", "/a.b/c@d", "/x(/y)(/:z)")
    #expect(router.deregister("/a/:id"))
    #expect(!router.deregister("/a/:id"))
    #expect(await router.answer("/a/7") == nil)
    #expect(await router.answer("/a/7/b") == "/a/:id/b id=7")
    #expect(await router.answer("/a") == "/a")
    #expect(router.deregister("/a.b/c@d"))
    #expect(await router.answer("/a.b/c@d") == nil)
    #expect(router.deregister("/x(/y)(/:z)"))
    for url in ["/x", "/x/y", "/x/q", "/x/y/q"] { #expect(!router.canOpen(url)) }
    let registration = try router.register("/t") { _ in "t" }
    registration.cancel()
    registration.cancel()
    #expect(!router.canOpen("/t"))
    router.deregisterAll()
    #expect(router.routes.isEmpty)
    try router.answering("/a/:id")
    #expect(await router.answer("/a/7") == "/a/:id id=7")
  }

  @Test(
    "Deregistering goes by shape, as duplicates do: names and the query say nothing",
    arguments: [
      ("/a/:id", "/a/:other", true), ("/a/:id<Int>?q", "/a/:n<int>?r&*", true),
      ("/a(/:b)(/:c)", "/a(/:x)(/:y)", true), ("/a/*", "/a/*rest", true),
      ("/a/:n<Float>", "/a/:m<double>", true),
      ("app://Shop/a", "APP://Shop/a", true), ("http://Shop/a", "http://shop/a", true),
      ("/caf\u{e9}-:id", "/cafe\u{301}-:n", true),
      ("/a/:id", "/a/:id<Int>", false), ("/a/:id", "/a/:id.html", false), ("/a(/:b)", "/a", false),
      ("/a", "/a(/:b)", false), ("app://Shop/a", "app://shop/a", false), ("/a", "app:/a", false),
      ("/a/:p<Path>", "/a/*", false), ("//a", "/a", false),
    ])
  func deregistrationByShape(_ pattern: String, _ other: String, _ isSame: Bool) throws {
    try router.answering(pattern)
    if isSame { expectError(.duplicate) { try router.answering(other) } }
    #expect(router.deregister(other) == isSame)
    #expect(router.routes.isEmpty == isSame)
  }

  @Test("What follows a prefix is of its shape, and either pattern takes it out")
  func deregistrationOfPrefixes() throws {
    for pattern in ["/a", "/a/*"] {
      let router = Router()
      try router.register("/a", matching: .prefix) { _ in }
      #expect(throws: RoutingError.self) { try router.answering("/a/*") }
      #expect(router.deregister(pattern))
    }
  }

  @Test("The rest of a scheme is asked after its routes, and before those of any scheme")
  func schemes() async throws {
    let router = try Router().answering("/a", "app:/b")
    let rest = try router.register("app:/*") { call in
      if call.url.text.hasSuffix("?more") { throw call.refusal("not mine") }
      return "app has no \(call.url)"
    }
    #expect(await router.answer("app://b") == "app:/b")
    for url in ["app://a", "app://www.a.com:1/x", "app://"] {
      #expect(await router.answer(url) == "app has no \(url)")
    }
    #expect(await router.answer("app://a?more") == "/a more=")
    #expect(await router.answer("web://a") == "/a")
    rest.cancel()
    #expect(await router.answer("app://a") == "/a")
  }

  @Test("Types of the host's own, defined once")
  func customTypes() async throws {
    enum Month: String, URLConvertible { case may, june }
    try router.define("Month") { Month(rawValue: $0) }
    try router.answering("/:m<Month>", "/:other")
    #expect(await router.answer("/may") == "/:m<Month> m=may")
    #expect(await router.answer("/must") == "/:other other=must")
    #expect(throws: RoutingError.self) { try router.define("month") { _ in 1 } }
    #expect(throws: RoutingError.self) { try router.define("Path") { _ in 1 } }
  }

  @Test("Every route is listed with its source")
  func listing() throws {
    try router.register("/a", exposure: .remote, file: "M/Shop.swift", line: 7) { _ in 1 }
    #expect(router.routes.map(\.description) == ["/a  remote  M/Shop.swift:7"])
    try router.register("/b") { _ in }
    #expect(router.routes.map(\.result) == ["Int", ""])
  }
}
