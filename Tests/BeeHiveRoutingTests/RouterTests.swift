import BeeHiveRouting
import Testing

@Suite("A router finds the one route that a URL means")
struct RouterTests {
  private let router = Router()

  @Test(
    "The best of several patterns answers",
    arguments: [
      // Literal beats typed beats plain beats the rest; nothing matches by half.
      Answer("/list", "/:id", url: "/list", "/list"),
      Answer("/:id", "/:n<Int>", url: "/7", "/:n<Int> n=7"),
      Answer("/:n<Double>", "/:n<Int>", "/:n<Bool>", url: "/1", "/:n<Int> n=1"),
      Answer("/*", "/:id", url: "/x/y", #"/* *=["x", "y"]"#),
      Answer("/:p<Path>", "/*", url: "/x/y", "/:p<Path> p=x/y"),
      Answer("/:id", "/:id.html", url: "/x.html", "/:id.html id=x"),
      Answer("/a/:id", url: "/a", nil),
      Answer("/", url: "/", "/"),
      Answer("/", url: "app://", "/"),
      // Three levels of backtracking.
      Answer("/a/b/c/d", "/a/b/:x/e", "/a/:x/c/f", "/:x/b/c/g", url: "/a/b/c/g", "/:x/b/c/g x=a"),
      Answer("/a/b/c/d", "/a/*", url: "/a/b/c/x", #"/a/* *=["b", "c", "x"]"#),
      // Schemes, hosts and ports.
      Answer("app://shop/:id", url: "APP://shop/7", "app://shop/:id id=7"),
      Answer("app://shop/:id", url: "app:/shop/7", "app://shop/:id id=7"),
      Answer("*://shop/:id", url: "web://shop/7", "*://shop/:id id=7"),
      Answer("//shop/:id", "app://shop/:n", url: "app://shop/7", "app://shop/:n n=7"),
      Answer("/shop/:id", url: "app://shop/7", "/shop/:id id=7"),
      Answer("/:id", url: "https://example.com/7", "/:id id=7"),
      Answer("/:id", url: "http://localhost/7", "/:id id=7"),
      Answer("https:/:id", url: "https://example.com/7", "https:/:id id=7"),
      Answer("http://localhost:8080/a", url: "http://localhost:8080/a", "http://localhost:8080/a"),
      Answer("http://localhost:8080/a", url: "http://localhost:81/a", nil),
      Answer("http://[::1]/a", url: "http://[::1]:80/a", "http://[::1]/a"),
      // Names and texts that other routers get wrong.
      Answer("/_/x", url: "/_/x", "/_/x"),
      Answer("/a.b/c@d", url: "/a.b/c@d", "/a.b/c@d"),
      Answer("/caf%C3%A9", url: "/cafe\u{301}", "/caf%C3%A9"),
      Answer("/搜索/:词", url: "/%E6%90%9C%E7%B4%A2/%E5%80%BC", "/搜索/:词 词=值"),
      Answer("/a%2Fb", url: "/a%2Fb", "/a%2Fb"),
      Answer("https://:url<Path>", url: "https://a.b//c//d/", "https://:url<Path> url=a.b//c//d"),
      Answer("/open?next", url: "/open?next=app://x/y?z=1", "/open?next next=app://x/y?z=1"),
      // Optional parts.
      Answer("/a(/:b)(/c)", url: "/a/c", "/a(/:b)(/c)"),
      Answer("/a(/:b)(/c)", url: "/a/x/c", "/a(/:b)(/c) b=x"),
      Answer("/a(/:b(/:c))", url: "/a/x/y", "/a(/:b(/:c)) b=x c=y"),
      Answer("/(en/)home", url: "/home", "/(en/)home"),
    ])
  func met(_ test: Answer) async throws { try await test.check() }

  @Test("A larger priority comes first, whatever the shape")
  func priorities() async throws {
    try router.register("/a/b") { _ in "literal" }
    try router.register("/*", priority: 1) { _ in "rest" }
    try router.register("/a/:x", priority: 1) { _ in "plain" }
    #expect(await router.answer("/a/b") == "plain")
    #expect(await router.answer("/c/d") == "rest")
  }

  @Test("A handler that refuses leaves the URL to the next match; nobody left is an error")
  func refusals() async throws {
    try router.register("/a/:id<Int>") { call -> String in throw call.refusal("not this number") }
    try router.register("/a/:id") { call -> String in
      let id: Int = try call["id"]
      guard id > 5 else { throw call.refusal("too small") }
      return "large \(id)"
    }
    #expect(await router.answer("/a/7") == "large 7")
    await expectError(.refused, saying: "/a/:id<Int>: not this number; /a/:id: too small") {
      try await router.open("/a/3")
    }
  }

  @Test("Another error of a handler is the caller's")
  func errors() async throws {
    try router.register("/a") { _ in throw Broken() }
    try router.register("/*") { _ in "never" }
    await #expect(throws: Broken.self) { try await router.open("/a") }
  }

  @Test("Prefix by choice")
  func prefixes() async throws {
    try router.register("/docs/:lang", matching: .prefix) { describe($0) }
    #expect(await router.answer("/docs/en") == "/docs/:lang *=[] lang=en")
    #expect(await router.answer("/docs/en/a/b") == #"/docs/:lang *=["a", "b"] lang=en"#)
    #expect(await router.answer("/docs") == nil)
  }

  @Test("canOpen asks nobody and is true for a whole match alone")
  func canOpen() throws {
    try router.register("/a/:id<Int>?q<Int>") { _ in Issue.record("called") }
    router.unmatched { _ in Issue.record("called") }
    router.calls.intercept("asked") { _ in
      Issue.record("called")
      return .proceed
    }
    for (url, expected) in [
      ("/a/1?q=2", true), ("/a/1", false), ("/a/x?q=2", false), ("/a/1?q=x", false), ("/a", false),
      ("/a/1/b?q=2", false), ("/%", false), ("", false),
    ] { #expect(router.canOpen(url) == expected, "\(url)") }
    #expect(!router.canOpen("/a/1?q=2", origin: .remote))
  }

  @Test("A handler of unmatched URLs that opens what is missing too ends, and says where")
  func unmatchedForEver() async throws {
    try router.register("/page") { _ in "the page" }
    router.unmatched { try await router.open($0.url.text == "/gone" ? "/page" : "/error") }
    #expect(try await router.open("/gone") as? String == "the page")
    await expectError(.redirectLoop, saying: "/error is called by what answers calls") {
      try await router.open("/missing")
    }
    // The failed call leaves nothing behind.
    #expect(try await router.open("/gone") as? String == "the page")
  }

  @Test("The query: declared keys are checked, defaults stand in, the path stands over the query")
  func queries() async throws {
    let pattern = "/s/:id?page<Int>=1&q<String>"
    try router.answering(pattern)
    #expect(await router.answer("/s/7?q=x") == "\(pattern) id=7 page=1 q=x")
    #expect(await router.answer("/s/7?q=x&page=2&id=evil") == "\(pattern) id=7 page=2 q=x")
    #expect(await router.failure("/s/7") == .missingParameter)
    #expect(await router.failure("/s/7?q=x&page=two") == .wrongParameter)
  }

  @Test("Typed parameters: what the handler asks for is what it gets, or an error with both types")
  func typedParameters() async throws {
    enum Order: String, URLConvertible { case up, down }
    try router.register("/t/:n<Int>") { call -> String in
      let number: Int = try call["n"]
      let order: Order = try call["order"]
      let tags: [String] = try call["tag"]
      let page: Int? = try call["page"]
      return "\(number) \(order) \(tags) \(page.map(String.init) ?? "-")"
    }
    #expect(await router.answer("/t/7?order=up&tag=a&tag=b") == #"7 up ["a", "b"] -"#)
    #expect(await router.answer("/t/7?order=up&tag=a&page=3") == #"7 up ["a"] 3"#)
    for (url, key) in [("/t/7?tag=a", "order"), ("/t/7?order=left&tag=a", "order")] {
      await expectError(key: key, saying: "Order") { try await router.open(url) }
    }
    await expectError(saying: "2 texts") {
      try await router.open("/t/7?order=up&order=down&tag=a")
    }
  }

  @Test("User info of any Sendable type goes along, over path and query; closures too")
  func userInfo() async throws {
    try router.register("/a/:id") { call -> String in
      let double: @Sendable (Int) -> Int = try call["double"]
      let id: Int = try call["id"]
      return "\(double(id)) \(call.userInfo.keys.sorted())"
    }
    let double: @Sendable (Int) -> Int = { $0 * 2 }
    let answer = try await router.object(
      for: "/a/x?id=3", as: String.self, with: ["id": 21, "double": double])
    #expect(answer == #"42 ["double", "id"]"#)
  }

  @Test("A completion is called exactly once, whatever happens")
  func completions() async throws {
    let log = Log()
    try router.register("/a") { _ in "answer" }
    try router.register("/void") { _ in }
    for url in ["/a", "/void", "/none", "/%"] {
      await router.open(url) { result in
        let text =
          switch result {
          case .success(let value): "\(value)"
          case .failure(let error): (error as? RoutingError)?.code.rawValue ?? "\(error)"
          }
        Task { await log.add("\(url) \(text)") }
      }.value
    }
    while await log.lines.count < 4 { await Task.yield() }
    #expect(
      await log.lines.sorted() == ["/% malformed-url", "/a answer", "/none no-route", "/void ()"])
  }

  @Test("An object of another type is an error that names both")
  func wrongObject() async throws {
    try router.register("/a") { _ in 7 }
    await expectError(.wrongResult, saying: "Int", "String") {
      try await router.object(for: "/a", as: String.self)
    }
  }

  @Test(
    "A Path leads down alone, also where its slashes are encoded",
    arguments: [
      "app://files/..%2F..%2Fetc%2Fpasswd", "app://files/a%2F..%2Fb", "app://files/%2Fetc/passwd",
      "app://files/a/..%5Cb",
    ])
  func climbing(_ url: String) async throws {
    let router = try Router().answering("app://files/:p<Path>")
    #expect(await router.failure(url) == .noRoute)
    #expect(await router.answer("app://files/a%2Fb/..c") == nil)
  }

  @Test("A URL of endless combining marks is refused, those of a language are read")
  func marks() async throws {
    let router = try Router().answering("app://x/p-:id")
    let marks = String(repeating: "\u{301}\u{323}", count: 16)
    #expect(await router.failure("app://x/p-e\(marks)") == .malformedURL)
    #expect(await router.failure("app://x/p-e%CC%81%CC%A3") == nil)
  }
}
