import BeeHiveRouting
import Testing

@Suite("A pattern says which URLs a route answers to")
struct RoutePatternTests {
  private let router = Router()

  @Test(
    "What no pattern can be is refused with the reason and what to write",
    arguments: [
      // Impossible patterns are refused with the reason.
      ("", "empty"), ("a b", "%XX"), ("/a#b", "fragment"), ("/a/:", "begins with a letter"),
      ("/a/:1", "begins with a letter"), ("/a/:id<", "no >"), ("/a/:id<>", "name of a type"),
      ("/a/:id<Int?>", "(/:name<Type>)"),
      ("/*/b", "nothing can follow"), ("/a/:p<Path>/b", "nothing can follow"), ("/a*", "whole"),
      ("/x:p<Path>", "whole segments"), ("/:a:b", "two parameters"), ("/:a/:a", "twice"),
      ("/:a?a", "twice"), ("/?a&a", "twice"), ("/?=1", "no key"), ("/?a<Int", "has <"),
      ("/(a", "no )"), ("/a)", "no ("), ("/a/../b", "climbs"), ("/%zz", "hexadecimal"),
      ("//a%2Fb/c", "slash"), ("//a%40b/c", "no host"), ("//a:99999/", "65535"),
      ("//[zz]/", "hexadecimal"), ("//x@:h/", "no @"), ("//..", "climbs"),
      ("http://", "has a host"), ("https://(a)?b", "has a host"), ("http://caf\u{e9}/", "xn--"),
      ("http://1.2.3.4.5/", "IPv4"), ("//u@h/", "user"),
      ("/<int:id>", "has <, which no name has; write :name"), ("/{id}", "has {"),
      ("/:id([0-9]+)", "has ["), ("/a/:id(<Int>)", "has <"), ("/a/:(id)", "begins with a letter"),
      ("/a/*(rest)", "write *rest"), ("my_app://p/:id", "\"my_app\" is no scheme"),
      ("/(a)/(b)/(c)/(d)/(e)/(f)/(g)", "64 forms"),
      ("/" + String(repeating: "(a", count: 64) + String(repeating: ")", count: 64), "64 forms"),
      // The syntax of other routers is refused with the way to write it here.
      (#"/:id(\d+)"#, #"has \"#), ("/:lang(en|de)/a", "has |"), ("/(en|de)/a", "has |"),
      ("/:id?", "(/:name)"), ("/:id?/edit", "(/:name)"), ("/user/:id+", "*name"),
      ("/:path*", "write *rest"), ("/a/:id*", "write *rest"), (#"/a/\:id"#, #"has \"#),
      ("https?://example.com/a", "*:// is any scheme"), ("/search?q=:q", "write q or q<String>"),
      ("/search?q={q}", "write q or q<String>"), ("/a?q&lang{x}", "has {"), ("/a?[a]", "has ["),
      ("/**", "write *rest"), ("/(.*)", "write *rest"), ("/a/{*rest}", "write *rest"),
      (#"/a/{id:\d+}"#, "has {"), ("/a/*/b", "write :name"), ("/((?!api).*)", "( has no )"),
      ("GET /a/:id", "method"), ("/foo/{b}one", ":name<String>text"),
      // Values that no URL can give are refused with what to write.
      ("/a?q<Path>", "write q or q<String>"), ("/a?q<path?>", "takes what is left of the path"),
      ("/a?n<Int>=zz", #"the default of n is no Int: "zz""#), ("/a?n<float>=1e999", "is no float"),
      ("http://ex.com:/p", "its port is empty"), ("app://a:", "its port is empty"),
    ] as [(String, String)])
  func impossible(_ pattern: String, _ reason: String) {
    expectError(.badPattern, saying: reason) { try RoutePattern(pattern) }
  }

  @Test("A name ends where an optional part begins or ends")
  func edges() async throws {
    let router = try Router().answering("/file/:name(_full)", "/(:pre)baz/x")
    #expect(await router.answer("/file/x") == "/file/:name(_full) name=x")
    #expect(await router.answer("/file/x_full") == "/file/:name(_full) name=x")
    #expect(await router.answer("/abaz/x") == "/(:pre)baz/x pre=a")
    #expect(await router.answer("/baz/x") == "/(:pre)baz/x")
    #expect(try RoutePattern("/file/:name(_full)").url(with: ["name": "x"]) == "/file/x_full")
    #expect(try RoutePattern("//shop(.example)/a").url() == "//shop.example/a")
  }

  @Test("Nested deep enough to use up a stack, if it were followed, it is refused")
  func nested() {
    impossible("/" + String(repeating: "(", count: 16_000), "64 forms")
    impossible("/" + String(repeating: "(", count: 1_000_000), "longer than 16384 bytes")
  }

  @Test("A type that is nearly spelled right is asked for")
  func nearType() {
    expectError(saying: "; did you mean string?") { try Router().answering("/a/:m<Sring>") }
  }

  @Test("A type that is not defined is refused, and named beside those there are")
  func unknownType() throws {
    for pattern in ["/a/:m<Month>", "/a?m<Month>"] {
      expectError(.unknownType, saying: "bool, double, float, int, path, string, uuid") {
        try router.answering(pattern)
      }
    }
    #expect(router.routes.isEmpty)
  }

  @Test("A segment with two texts is one parameter, of a type that takes it apart")
  func twoTexts() async throws {
    struct File: URLConvertible {
      var name: Substring
      var type: Substring
      var urlText: String { "\(name).\(type)" }
      init?(urlText: String) {
        guard let dot = urlText.lastIndex(of: ".") else { return nil }
        (name, type) = (urlText[..<dot], urlText[dot...].dropFirst())
      }
    }
    #expect(throws: RoutingError.self) { try RoutePattern("/f/:name.:ext") }
    try router.define("File") { File(urlText: $0) }
    try router.register("/f/:file<File>") { call in
      let file: File = try call["file"]
      return "\(file.name) \(file.type)"
    }
    #expect(await router.answer("/f/a.tar.gz") == "a.tar gz")
    #expect(await router.answer("/f/a") == nil)
  }

  @Test("The query that a pattern declares")
  func keys() throws {
    let pattern = try RoutePattern("app://s/:id?from&page<Int>=1&q<String>&sort<Order?>&*")
    let keys = pattern.keys.map(\.description)
    #expect(keys == ["from: String?", "page: Int? = 1", "q: String", "sort: Order?"])
    #expect(pattern.keys.map(\.isOptional) == [true, true, false, true])
    #expect(pattern.allowsOtherKeys)
    #expect(pattern.names == ["id"])
    #expect(try RoutePattern("/a/:b") == RoutePattern("/a/:b"))
    #expect(try RoutePattern("/a/:b") != RoutePattern("/a/:c"))
    #expect(try RoutePattern("/a/:b") != RoutePattern("/a/:b<Int>"))
  }

  @Test("A URL that is made of a pattern leads back to its values")
  func roundTrip() async throws {
    let values: [[String: any URLConvertible]] = [
      ["id": "42"], ["id": "a/b c%d?e#f&g=h+i"], ["id": "中文", "q": "值"], ["id": "é.x:y*z"],
      ["id": "1", "q": "http://x/?a=b&c=d#e+f g"], ["id": "1", "tab": "t/u", "q": ""],
    ]
    let router = try Router().answering("app://shop/:id(/:tab)?q")
    for values in values {
      let url = try RoutePattern("app://shop/:id(/:tab)?q").url(with: values)
      let parameters = values.keys.sorted().map { "\($0)=\(values[$0].map { "\($0)" } ?? "")" }
      let expected = (["app://shop/:id(/:tab)?q"] + parameters).joined(separator: " ")
      #expect(await router.answer(url) == expected, "\(url)")
    }
  }

  @Test(
    "URLs of patterns",
    arguments: [
      ("/", "/"), ("/a/b", "/a/b"), ("app://a", "app://a"),
      ("http://[::1]:80/a", "http://[::1]:80/a"), ("/v:major/:file.html", "/v7/x%20y.html"),
      ("/files/:rest<Path>", "/files/a/b"), ("/tags/*", "/tags/t/u%2Fv"),
      ("/a(/:file)(/:other)", "/a/x%20y"), ("/a%3Ab", "/a%3Ab"), ("//A:080/b", "//A:80/b"),
      ("HTTP://A:080/b", "http://a:80/b"), ("app://caf\u{e9}/%25", "app://caf%C3%A9/%25"),
      ("app://sh%6Fp/:file", "app://sh%6Fp/x%20y"), ("http://:major.X", "http://7.x"),
      ("https://:rest<Path>", "https://a/b"), ("//:file.x", "//x%20y.x"),
    ])
  func generated(_ pattern: String, _ url: String) throws {
    let all: [String: any URLConvertible] = [
      "major": 7, "file": "x y", "rest": "a/b", "*": ["t", "u/v"],
    ]
    let pattern = try RoutePattern(pattern)
    let made = try pattern.url(with: all.filter { pattern.names.contains($0.key) })
    #expect(made == url)
  }

  @Test("A missing value, and one that no segment can hold, are errors with the key")
  func unfitValues() throws {
    let pattern = try RoutePattern("/:id/:idx?q<Int>")
    let cases: [(values: [String: any URLConvertible], key: String)] = [
      ([:], "id"), (["id": "1"], "idx"), (["id": "1", "idx": "2"], "q"),
      (["id": "", "idx": "2", "q": 1], "id"), (["id": "..", "idx": "2", "q": 1], "id"),
    ]
    for (values, key) in cases {
      expectError(key: key) { try pattern.url(with: values) }
    }
    #expect(try pattern.url(with: ["id": "a", "idx": "b", "q": 3]) == "/a/b?q=3")
  }
}
