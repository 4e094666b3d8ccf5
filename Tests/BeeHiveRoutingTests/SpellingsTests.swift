import TestSupport
import Testing

@testable import BeeHiveRouting

@Suite("Rules judge what a call resolves to, however its URL is spelled")
struct SpellingsTests {
  /// A URL of each route and action, as its author writes it.
  private static let canonical = [
    "app://book/7", "/page/home", "/page/7/x", "*://any/7", "http://shop.example/cart/7",
    "app://files/a/b", "/tags/t/u", "app://shop/price?sku=a", "app://shop/nothing",
    "app://%61dmin/list", "/caf%C3%A9/7", "app://docs/a/b", "app:/free/home", "app://id/\(Self.id)",
  ]

  private static let id = "621425B8-42D1-4AB4-9A58-1E69D708A84B"

  /// The aliases, and the URLs that they lead to.
  private static let aliases = [
    "home": "/page/home", "cart": "app://book/7", "say": "app://shop/price?sku=a",
  ]

  private let router = Router()
  /// A router with the same routes, and with rules.
  private let ruled = Router()

  init() throws {
    for router in [router, ruled] {
      for pattern in [
        "app://book/:id", "/page/:name", "/page/:id/x", "*://any/:x",
        "http://shop.example/cart/:id",
        "app://files/:path<Path>", "/tags/*all", "app://:section/list", "/caf\u{e9}/:x",
        "app://docs/*rest", "app:/free/:name", "app://id/:id<UUID>",
      ] {
        try router.register(pattern, exposure: .remote) { describe($0) }
      }
      try router.mediator.register("shop") { ShopTarget() }
      try router.register(aliases: Self.aliases)
    }
    let urls = Self.canonical.map { $0.replacing("*:", with: "app:") }
    for url in urls + [
      "app://page/home", "any://any/:x", "/shop/:action", "app://tags/t/*", "app://files/a/*",
      "app://admin/list", "app://caf\u{e9}/7", "app://cafe\u{301}/:x", "app://docs/:path<Path>",
      "app://free/home", "app://free/:p<Path>",
    ] {
      try ruled.calls.guardCalls(url, .url(url), then: .proceed)
    }
    try ruled.calls.guardCalls("price", .action("shop", "price"), then: .proceed)
    try ruled.calls.load(
      table(
        rule(
          "id", #"{"url": "app://id/:id"}"#, when: #"{"parameter": "id", "is": "\#(Self.id)"}"#,
          do: #"{"replace": {}}"#)))
    for alias in Self.aliases.keys {
      try ruled.calls.guardCalls(alias, .url(alias), then: .proceed)
    }
  }

  /// Returns another spelling of a URL, or a text that somebody may hope is one.
  private func spelling(of url: String, _ random: inout SeededGenerator) -> String {
    var url = url.replacing("*:", with: "app:")
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let at = url.indices.randomElement(using: &random) ?? url.startIndex
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        url = url.replacing(
          "app:",
          with: ["APP:", "other:", "http:", "web+x:", ""].randomElement(using: &random) ?? "")
      case 1:
        url = url.replacing(
          "//",
          with: ["/", "///", "//x/", "//localhost/", "//a.example/"].randomElement(using: &random)
            ?? "")
      case 2, 3, 4:
        guard let byte = url[at].utf8.first, url[at] != ":" else { continue }
        let digits = String(byte, radix: 16, uppercase: Bool.random(using: &random))
        url.replaceSubrange(at...at, with: "%\(digits)")
      case 5:
        url.insert(
          contentsOf: ["/", "/.", "%2F", "/%2e%2e/", "\\", "//"].randomElement(using: &random)
            ?? "", at: at)
      case 6: url += ["/", "?k=v", "#f", "?", "//"].randomElement(using: &random) ?? ""
      case 7: url.replaceSubrange(at...at, with: url[at].uppercased())
      case 8: url = Self.aliases.keys.sorted().randomElement(using: &random) ?? url
      default:
        url = url.replacing(
          "/", with: ["%2f", "/", "\\", "//"].randomElement(using: &random) ?? "/")
      }
    }
    return url
  }

  @Test("A rule on a URL judges the action that the URL names, and a rule on an alias who uses it")
  func refused() async throws {
    try router.calls.guardCalls("closed", .url("app://shop/nothing"), then: .refuse("closed"))
    try router.calls.guardCalls("no alias", .url("cart"), then: .refuse("use the URL"))
    for url in [
      "app://shop/nothing", "other://shop/nothing", "http://shop/nothing/", "cart", "/cart?k=v",
    ] {
      #expect(await router.failure(url) == .refused, "\(url)")
    }
    await expectError(.refused, saying: "closed") {
      try await router.mediator.perform("shop", "nothing")
    }
    #expect(await router.failure("app://book/7") == nil)
  }

  /// A route, a rule, and URLs. The rule has to judge all the URLs, because they lead to the same route.
  private static let equals: [(route: String, rule: String, urls: [String])] = [
    ("app://:section/list", "app://admin/list", ["app://admin/list", "app://%61dmin/list"]),
    ("app://*", "app://admin/list", ["app://%61dmin/list"]),
    (
      "app:/page/:name", "app://page/home",
      [
        "app:/page/home", "app://p%61ge/home", "app://localhost/page/home",
        "app://a.example/page/home",
      ]
    ),
    ("/page/:name", "app://page/home", ["/page/home", "page/home", "other://page/home"]),
    ("/caf\u{e9}/:x", "app://caf\u{e9}/7", ["/caf%C3%A9/7", "/cafe%CC%81/7"]),
    ("/caf\u{e9}/:x", "app://cafe\u{301}/7", ["/caf%C3%A9/7", "/cafe%CC%81/7"]),
    ("app://files/*rest", "app://files/:p<Path>", ["app://files/a/b", "app://files/a%2F..%2Fb"]),
    ("app://item/:id<Int>", "app://item/7", ["app://item/7", "app://item/07", "app://item/%2B7"]),
    ("/v:n<Int>", "app://v7", ["/v7", "/v007", "app://v07"]),
    (
      "*://shop:80/x", "app://shop:80/x",
      ["app://shop:80/x", "other://shop:80/x", "http://shop:80/x", "http://shop/x"]
    ),
    ("*://Shop/x", "app://Shop/x", ["app://Shop/x", "http://Shop/x", "http://SHOP:80/x"]),
    ("*://Shop/x", "http://shop/x", ["http://shop/x", "app://Shop/x", "Shop/x"]),
    ("*://Caf%65:9(/:y)", "app://Cafe:9", ["http://CAFE:9", "app://Caf%65:9"]),
    ("app://:section/list", "app://a%7cb/list", ["app://a%7cb/list", "app:/a%7Cb/list"]),
    ("//:h/x", "app://[::1]/x", ["app://[::1]/x", "other://[::1]/x", "http://[::1]/x"]),
    (
      "app://:tenant/admin/:page", "/admin/users",
      ["app://a.example/admin/users", "app:/a.example/admin/users"]
    ),
    (
      "/admin", "https://shop.example/admin",
      [
        "https://shop.example/admin", "http://shop.example/admin", "app://shop.example/admin",
        "https://SHOP.example:443/admin",
      ]
    ),
    (
      "/user/:id<UUID>", "app://user/\(id.lowercased())",
      [
        "/user/\(id)", "/user/\(id.lowercased())",
        "/user/\(id.prefix(9) + id.dropFirst(9).lowercased())",
      ]
    ),
    ("/n/:n<Double>", "/n/7", ["/n/7", "/n/7.0", "/n/07", "/n/7e0", "app://n/7"]),
    ("/n/:n<Double>", "app:/n/:n<Int>", ["app:/n/7", "/n/7.0", "/n/07", "other://n/7e0"]),
    ("/n/:n<Int>", "/n/07", ["/n/7", "/n/07", "/n/007", "app://n/%2B7"]),
    ("/n/:n<Int>", "http://a.b/n/07", ["http://a.b/n/7", "http://A.b:80/n/007"]),
    ("/n/:n<Bool>", "/n/1", ["/n/1", "/n/true"]),
    // Without // before it, a segment with a dot is not a host.
    ("/v1.2/:n<Int>", "/v1.2/07", ["/v1.2/7", "/v1.2/07", "app:/v1.2/007"]),
    ("app://:n<Int>", "app://07", ["app://7", "app://07"]),
  ]

  @Test("A rule holds for each spelling that leads to the same route", arguments: equals)
  func equal(_ pattern: String, _ rule: String, _ urls: [String]) async throws {
    let router = Router()
    try router.register(pattern, exposure: .remote) { describe($0) }
    for url in urls { #expect(await router.failure(url, origin: .remote) == nil, "\(url)") }
    try router.calls.guardCalls("closed", .url(rule), then: .refuse("closed"))
    for url in urls { #expect(await router.failure(url, origin: .remote) == .refused, "\(url)") }
  }

  @Test("The query gives no part of the path, which rules would not judge")
  func optional() async throws {
    let router = try Router().answering("app://a(/:p<Path>)?*", "app://b(/:id<Int>)?*")
    for origin in CallOrigin.all {
      #expect(
        await router.answer("app://a?p=../../etc", origin: origin)
          == (origin == .local ? "app://a(/:p<Path>)?*" : nil))
    }
    #expect(await router.answer("app://b?id=7") == "app://b(/:id<Int>)?*")
    for path in ["../b", "/etc"] {
      await expectError(.wrongParameter, key: "p") {
        try await router.open("app://a/x", with: ["p": path])
      }
    }
  }

  @Test("A rule judges what the route that answers takes, not one that may not answer")
  func exposed() async throws {
    let router = Router()
    try router.register("app://item/:id<Int>") { describe($0) }
    try router.register("app://item/:id", exposure: .remote) { describe($0) }
    try router.calls.load(
      table(
        rule(
          "r", #"{"url": "app://item/:id"}"#, when: #"{"parameter": "id", "startsWith": "0"}"#,
          do: #"{"block": "x"}"#)))
    #expect(await router.failure("app://item/07", origin: .remote) == .refused)
    #expect(await router.failure("app://item/07") == nil, "it is 7 here")
  }

  @Test("A rule of another scheme or host does not judge what its pattern cannot mean")
  func different() async throws {
    let router = Router()
    try router.register("app://page/:name", exposure: .remote) { describe($0) }
    for rule in [
      "other://page/home", "app://page/house", "app://b.example/page/home", "app://page/07",
    ] {
      try router.calls.guardCalls(rule, .url(rule), then: .refuse("closed"))
    }
    for url in ["app://page/home", "app://page/7"] {
      #expect(await router.failure(url) == nil, "7 and 07 are texts here")
    }
    router.unmatched(exposure: .remote) { _ in "nothing" }
    try router.calls.guardCalls("gone", .url("app://gone/:p<Path>"), then: .refuse("closed"))
    for url in ["app://gone/a", "app://gone/a%2Fb"] {
      #expect(await router.failure(url, origin: .remote) == .refused, "a handler takes the rest")
    }
  }

  @Test(
    "A condition tests the value that the route takes",
    arguments: [
      ("app://x/:a/:b", "app://x/:p<Path>", #""is": "a/b""#, ["app://x/a/b", "app://x/a//b"]),
      (
        "app://x/:id<Int>/:p<Path>", "app://x/:p<Path>", #""startsWith": "7/""#,
        ["app://x/7/a", "app://x/07/a"]
      ),
      (
        "/files/:p<Path>", "app://files/:p<Path>", #""contains": "//""#,
        ["app://files/a//b", "/files/a//b"]
      ),
      (
        "app://item/:p<UUID>", "app://item/:p", #""is": "\#(id)""#,
        ["app://item/\(id)", "app://item/\(id.lowercased())"]
      ),
      (
        "app://item/:p", "app://item/:p<UUID>", #""in": ["\#(id)"]"#,
        ["app://item/\(id)", "app://item/\(id.lowercased())"]
      ),
    ])
  func values(_ pattern: String, _ match: String, _ test: String, _ urls: [String]) async throws {
    let router = try Router().answering(pattern)
    try router.calls.load(
      table(
        rule(
          "r", #"{"url": "\#(match)"}"#, when: #"{"parameter": "p", \#(test)}"#,
          do: #"{"block": "x"}"#)))
    for url in urls { #expect(await router.failure(url) == .refused, "\(url)") }
  }

  @Test("What is called decides which rules judge the call", arguments: CallOrigin.all)
  func meaning(from origin: CallOrigin) async throws {
    var random = SeededGenerator(seed: 45)
    var judges: [String: [String]] = [:]
    var answered = 0
    for url in Self.canonical {
      for number in 0..<500 {
        let text = number == 0 ? url.replacing("*:", with: "app:") : spelling(of: url, &random)
        let end = router.calls.explain(text, origin: origin).end
        guard let answer = try? await router.open(text, origin: origin) else { continue }
        answered += 1
        let query = (try? URLText(text))?.items ?? []
        // An alias leads to the same route, and the rule on its name judges it as well.
        let steps = ruled.calls.explain(text, origin: origin).steps
          .filter { step in !Self.aliases.keys.contains { step == "guard \($0): proceed" } }
          .sorted()
        let meaning = "\(end) \(answer) \(query)"
        #expect(number > 0 || !steps.isEmpty, "\(text) passes every rule")
        let judged = judges[meaning, default: steps]
        #expect(steps == judged, "\(text), which is \(meaning)")
        judges[meaning] = judged
      }
    }
    #expect(answered > 500)
  }
}

extension CallOrigin {
  fileprivate static let all = [CallOrigin.local, .remote]
}
