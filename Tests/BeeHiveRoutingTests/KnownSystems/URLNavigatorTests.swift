import BeeHiveRouting
import Testing

/// The situations that URLNavigator tests, in this router's notation: `:id<Int>` for `<int:id>`.
@Suite("URLNavigator")
struct URLNavigatorTests {
  @Test(
    "URLMatcher",
    arguments: [
      ("no candidates", Answer(url: "myapp://user/1", nil)),
      ("unmatched scheme", Answer("yourapp://user/:id", url: "myapp://user/1", nil)),
      ("totally unmatched", Answer("myapp://comment/:id", url: "myapp://user/1", nil)),
      ("partially unmatched", Answer("myapp://user/:id/hello", url: "myapp://user/1", nil)),
      ("unmatched value type", Answer("myapp://user/:id<Int>", url: "myapp://user/devxoul", nil)),
      ("totally matching", Answer("myapp://hello", url: "myapp://hello", "myapp://hello")),
      (
        "a URL value",
        Answer(
          "myapp://user/:id/hello", "myapp://user/:id", url: "myapp://user/1",
          "myapp://user/:id id=1")
      ),
      (
        "exact beats placeholder",
        Answer(
          "myapp://user/:id", "myapp://user/hello", url: "myapp://user/hello",
          "myapp://user/hello")
      ),
      (
        "longest match",
        Answer(
          "myapp://:p<Path>", "myapp://user/:p<Path>", "myapp://user/:id/posts",
          url: "myapp://user/1/posts", "myapp://user/:id/posts id=1")
      ),
      (
        "string",
        Answer(
          "myapp://user/:id<String>", url: "myapp://user/123", "myapp://user/:id<String> id=123")
      ),
      (
        "int",
        Answer("myapp://user/:id<Int>", url: "myapp://user/123", "myapp://user/:id<Int> id=123")
      ),
      (
        "float",
        Answer(
          "myapp://user/:id<Float>", url: "myapp://user/123.456",
          "myapp://user/:id<Float> id=123.456")
      ),
      (
        "uuid",
        Answer(
          "myapp://user/:id<UUID>", url: "myapp://user/621425b8-42D1-4AB4-9A58-1E69D708A84B",
          "myapp://user/:id<UUID> id=621425B8-42D1-4AB4-9A58-1E69D708A84B")
      ),
      ("no uuid", Answer("myapp://user/:id<UUID>", url: "myapp://user/621425B8", nil)),
      (
        "multiple values",
        Answer(
          "myapp://user/:id", "myapp://user/:id/:object", url: "myapp://user/1/posts",
          "myapp://user/:id/:object id=1 object=posts")
      ),
      (
        "ignores a query",
        Answer("myapp://alert", url: "myapp://alert?title=hello", "myapp://alert title=hello")
      ),
      (
        "path value",
        Answer(
          "https://:url<Path>", url: "https://google.com/search",
          "https://:url<Path> url=google.com/search")
      ),
      (
        "path value with a trailing slash",
        Answer(
          "https://:url<Path>", url: "https://google.com/search/",
          "https://:url<Path> url=google.com/search")
      ),
      (
        "issue 109, a path behind a literal",
        Answer(
          "http://host/anything/:path<Path>", url: "http://host/anything/Search",
          "http://host/anything/:path<Path> path=Search")
      ),
      (
        "issue 109, nothing behind it",
        Answer("http://host/anything/:path<Path>", url: "http://host/anything", nil)
      ),
      (
        "another URL in the path",
        Answer(
          "myapp://browser/:url<Path>", url: "myapp://browser/http://google.fr/a",
          "myapp://browser/:url<Path> url=http://google.fr/a")
      ),
      (
        "another URL in the path, encoded",
        Answer(
          "myapp://browser/:url", url: "myapp://browser/http%3A%2F%2Fgoogle.fr%2F%3Fq",
          "myapp://browser/:url url=http://google.fr/?q")
      ),
      ("normalize slashes", Answer("myapp://a/b", url: "myapp:////a///b//", "myapp://a/b")),
      (
        "normalize a query and fragment", Answer("myapp://a/b", url: "myapp://a/b#f", "myapp://a/b")
      ),
      (
        "path components",
        Answer("myapp://a/:b/c/:d", url: "myapp://a/1/c/2", "myapp://a/:b/c/:d b=1 d=2")
      ),
      ("no scheme in the URL", Answer("myapp://a/b", url: "/a/b", nil)),
      ("no scheme in the pattern", Answer("/a/b", url: "myapp://a/b", "/a/b")),
    ])
  func matcher(_ name: String, _ test: Answer) async throws { try await test.check() }

  @Test("custom value type")
  func customValue() async throws {
    let router = Router()
    try router.define("Greeting") { "Hello, \($0)!" }
    try router.answering("myapp://hello/:name<Greeting>")
    #expect(
      await router.answer("myapp://hello/devxoul")
        == "myapp://hello/:name<Greeting> name=Hello, devxoul!")
  }

  @Test("path component equality")
  func componentEquality() throws {
    #expect(try RoutePattern("/:id<Int>") == RoutePattern("/:id<Int>"))
    #expect(try RoutePattern("/:id<Int>") != RoutePattern("/:id"))
    #expect(try RoutePattern("/id") != RoutePattern("/:id"))
  }

  @Test("query parameters")
  func queryParameters() throws {
    let url = try URLText("https://x.com/?q=a%20b&q=c&n=&m")
    #expect(url.values(of: "q") == ["a b", "c"])
    #expect(url.values(of: "n") == [""])
    #expect(try URLText("https://x.com").items.isEmpty)
  }

  @Test("Navigator: an object, none for what is not registered, an error for another type")
  func navigator() async throws {
    struct Page: Sendable { let id: Int }
    let router = Router()
    try router.register("myapp://page/:id<Int>") { try Page(id: $0["id"]) }
    #expect(try await router.object(for: "myapp://page/7", as: Page.self).id == 7)
    #expect(await router.failure("myapp://other/7") == .noRoute)
    await #expect(throws: RoutingError.self) {
      try await router.object(for: "myapp://page/7", as: String.self)
    }
  }

  @Test("Navigator: a factory that has nothing refuses")
  func factoryWithoutObject() async throws {
    let router = Router()
    try router.register("myapp://page/:id<Int>") { call -> Int in throw call.refusal("no page") }
    #expect(await router.failure("myapp://page/7") == .refused)
  }

  @Test("Navigator: the context is passed along")
  func context() async throws {
    let router = Router()
    try router.register("myapp://a") { call -> Int in try call.userInfo.value("context") }
    #expect(try await router.object(for: "myapp://a", as: Int.self, with: ["context": 7]) == 7)
  }

  @Test("Navigator: a delegate may veto")
  func veto() async throws {
    let router = Router()
    try router.register("myapp://a") { _ in Issue.record("called") }
    router.calls.intercept("shouldPush") { _ in .refuse("not now") }
    let error = await #expect(throws: RoutingError.self) { try await router.open("myapp://a") }
    #expect(error?.code == .refused && error?.message.contains("not now") == true)
  }

  @Test("Navigator: open answers whether somebody did")
  func open() async throws {
    let router = try Router().answering("myapp://a")
    #expect(await router.answer("myapp://a") != nil)
    #expect(await router.answer("myapp://b") == nil)
  }
}
