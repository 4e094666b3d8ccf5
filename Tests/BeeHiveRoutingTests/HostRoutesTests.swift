import BeeHiveRouting
import Testing

@Suite("A pattern's host is compared as the URL's scheme compares hosts")
struct HostRoutesTests {
  @Test(
    "The host of a pattern meets the hosts of URLs",
    arguments: [
      // For http, case, encoding and the usual port do not matter.
      Answer("http://Shop.Example/a", url: "http://SHOP.example/a", "http://Shop.Example/a"),
      Answer("http://shop.example/a", url: "http://sh%6Fp.example:80/a", "http://shop.example/a"),
      Answer("http://shop.example:80/a", url: "http://shop.example/a", "http://shop.example:80/a"),
      Answer("http://shop.example:80/a", url: "http://shop.example:81/a", nil),
      Answer(
        "https://shop.example:443/a", url: "https://shop.example/a", "https://shop.example:443/a"),
      Answer("https://shop.example:80/a", url: "https://shop.example/a", nil),
      Answer("//shop.example:443/a", url: "https://shop.example/a", "//shop.example:443/a"),
      Answer("//shop.example:443/a", url: "http://shop.example/a", nil),
      Answer("http://127.0.0.1/a", url: "http://0x7f.1/a", "http://127.0.0.1/a"),
      Answer("http://0177.1/a", url: "http://127.0.0.1/a", "http://0177.1/a"),
      Answer("http://[2001:DB8::]/a", url: "http://[2001:db8:0::]/a", "http://[2001:DB8::]/a"),
      Answer("http://:shop.Example/a", url: "http://B.EXAMPLE/a", "http://:shop.Example/a shop=b"),
      Answer("http://:host/a", url: "http://[::0:1]/a", "http://:host/a host=[::1]"),
      Answer("http://shop/a", url: #"http:\\shop\a"#, "http://shop/a"),
      Answer(#"http://shop\a/:b"#, url: "http://shop/a/c", #"http://shop\a/:b b=c"#),
      Answer("http://shop.example/*", url: #"http://evil.example\@shop.example/b"#, nil),
      Answer(
        "https://:url<Path>", url: #"https://a.b\c\\d\"#, "https://:url<Path> url=a.b/c//d"),
      // Other schemes compare byte by byte.
      Answer("app://Shop/:id", url: "app://Shop/7", "app://Shop/:id id=7"),
      Answer("app://shop/:id", url: "app://Shop/7", nil),
      Answer("app://shop/:id", url: "app://%73hop/7", nil),
      Answer("app://%73hop/:id", url: "app://%73hop/7", "app://%73hop/:id id=7"),
      Answer("app://caf\u{e9}/:id", url: "app://caf%C3%A9/7", "app://caf\u{e9}/:id id=7"),
      Answer("app://caf\u{e9}/:id", url: "app://cafe\u{301}/7", nil),
      Answer("app://127.1/:id", url: "app://127.0.0.1/7", nil),
      Answer("app://shop:80/:id", url: "app://shop/7", nil),
      Answer("app://[::1]/:id", url: "app://[0:0::1]/7", "app://[::1]/:id id=7"),
      Answer("app://caf\u{e9}/:id", url: "app:/cafe\u{301}/7", nil),
      Answer("app://caf\u{e9}/:id", url: "app:/caf\u{e9}/7", "app://caf\u{e9}/:id id=7"),
      Answer("app://:section/list", url: "app://%4Eews/list", "app://:section/list section=News"),
      // A pattern of any scheme reads its host as each URL's scheme does.
      Answer("*://Shop/:id", url: "http://shop/7", "*://Shop/:id id=7"),
      Answer("*://Shop/:id", url: "app://Shop/7", "*://Shop/:id id=7"),
      Answer("*://Shop/:id", url: "app://shop/7", nil),
      Answer("//shop/:id", url: "http://SHOP/7", "//shop/:id id=7"),
      Answer("//010/:id", url: "http://8/7", "//010/:id id=7"),
      Answer("//010/:id", url: "app://010/7", "//010/:id id=7"),
      Answer("//010/:id", url: "app://0.0.0.8/7", nil),
      Answer("//caf\u{e9}/:id", url: "app://caf\u{e9}/7", "//caf\u{e9}/:id id=7"),
      // A decoded segment such as //shop is never read as a key of http's hosts.
      Answer("//shop/:id", url: "app:/%2F%2Fshop/7", nil),
      // After the host, a text that looks like a user is only text.
      Answer(
        "app://browser/:url<Path>", url: "app://browser/http://user:pw@x/y",
        "app://browser/:url<Path> url=http://user:pw@x/y"),
      Answer("/open?next", url: "/open?next=http://user:pw@x", "/open?next next=http://user:pw@x"),
      Answer("app:/:who", url: "app:/me@home", "app:/:who who=me@home"),
    ])
  func hosts(_ test: Answer) async throws { try await test.check() }

  @Test("Two of any scheme that http cannot tell apart are duplicates")
  func duplicates() throws {
    let router = try Router().answering("*://Shop/a")
    expectError(.duplicate) { try router.answering("*://shop/a") }
    try router.answering("app://Shop/a", "app://shop/a")
    #expect(router.routes.count == 3)
  }

  @Test(
    "A mark behind what cuts a pattern is the first character of the next part",
    arguments: [
      Answer("/a/\u{301}b", url: "/a/\u{301}b", "/a/\u{301}b"),
      Answer("/a/:id/\u{300}", url: "/a/7/\u{300}", "/a/:id/\u{300} id=7"),
      Answer("/k?\u{301}q", url: "/k?\u{301}q=1", "/k?\u{301}q \u{301}q=1"),
      Answer("/k?a&\u{301}q<Int>=\u{301}", url: "/k", nil),
      Answer("/k(/\u{301}b)", url: "/k/\u{301}b", "/k(/\u{301}b)"),
      Answer("/k(/b)\u{301}", url: "/k/b\u{301}", "/k(/b)\u{301}"),
      Answer("/\u{301}", url: "/%CC%81", "/\u{301}"),
      Answer("app://\u{301}/a", url: "app://\u{301}/a", "app://\u{301}/a"),
      Answer("app:/\u{301}", url: "app:/\u{301}", "app:/\u{301}"),
      Answer("/x/\u{200d}/:y", url: "/x/\u{200d}/1", "/x/\u{200d}/:y y=1"),
      Answer("/\u{600}/:y", url: "/\u{600}/1", "/\u{600}/:y y=1"),
    ])
  func marks(_ test: Answer) async throws {
    guard test.answer == nil else { return try await test.check() }
    // The default in the pattern is not a number.
    #expect(throws: RoutingError.self) { try Router().answering(test.patterns[0]) }
  }

  @Test("Text that makes one character with every value is refused, since it would match none")
  func joinedText() {
    for pattern in ["/:id<Int>\u{301}", "/:id<String>\u{200d}x", "/a\u{600}:id"] {
      expectError(.badPattern, saying: "one character") { try RoutePattern(pattern) }
    }
  }

  @Test(
    "A host of a value has to be one, and a URL that is made leads back",
    arguments: [
      ("http://:host/a", "shop.example", "http://shop.example/a"),
      ("http://:host/a", "[::1]", "http://[::1]/a"), ("app://:host/a", "Shop", "app://Shop/a"),
      ("app://:host/a", "caf\u{e9}", "app://caf%C3%A9/a"),
      ("app://:host/a", "a&b", "app://a%26b/a"),
      ("http://:host/a", "a:80", nil), ("app://:host/a", "a:80", nil),
      ("app://:host/a", "a@b", nil),
      ("app://:host/a", "a/b", nil), ("http://:host/a", "caf\u{e9}", nil),
      ("http://:host/a", "Shop", nil), ("http://:host/a", "1.2.3.4.5", nil),
      ("https://:host<Path>", "a.b/c:d@e", "https://a.b/c%3Ad@e"), ("https:/:host", "7", nil),
      ("http:/:host", "abc", "http://abc"), ("http:/11111", "7", nil),
    ] as [(String, String, String?)])
  func generated(_ pattern: String, _ value: String, _ url: String?) throws {
    let pattern = try RoutePattern(pattern)
    guard let url else {
      #expect(throws: RoutingError.self) { try pattern.url(with: ["host": value]) }
      return
    }
    #expect(try pattern.url(with: ["host": value]) == url)
    #expect(try Router().answering(pattern.text).canOpen(url))
  }
}
