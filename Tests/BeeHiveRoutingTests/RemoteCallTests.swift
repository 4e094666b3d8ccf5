import BeeHiveRouting
import Testing

@Suite("Calls from outside reach what is on the allow-list")
struct RemoteCallTests {
  let router = Router()

  init() throws {
    try router.mediator.register("shop") { ShopTarget() }
    try router.mediator.register("NewsDesk") { ShopTarget() }
    try router.register("app://news/:id<Int>?from", exposure: .remote) { describe($0) }
    try router.register("app://inner/:id") { describe($0) }
  }

  private func code(_ url: String) async -> RoutingError.Code? {
    await router.failure(url, origin: .remote)
  }

  @Test("scheme://target/action?parameters: texts become the declared types")
  func targetAndAction() async throws {
    let price = try await router.object(
      for: "aaa://shop/price?sku=abc&currency=yen&count=2", as: Price.self, origin: .remote)
    #expect(price == Price(cents: 600, currency: .yen))
    #expect(await code("aaa://shop/price?sku=a%3Db") == nil)
    #expect(await code("aaa://shop/price?sku=a=b") == nil)
  }

  @Test("A target is named byte by byte: case and needless %XX say another host")
  func exactNames() async throws {
    try router.mediator.register("caf\u{e9}") { ShopTarget() }
    for host in ["shop", "NewsDesk", "caf\u{e9}", "caf%C3%A9"] {
      #expect(await code("aaa://\(host)/price?sku=a") == nil, "\(host)")
    }
    for host in ["Shop", "newsdesk", "%73hop", "cafe\u{301}", "caf%c3%a9"] {
      #expect(await code("aaa://\(host)/price?sku=a") == .noRoute, "\(host)")
    }
    // The hosts of http are in lower case, however they are written.
    #expect(await code("http://SHOP/price?sku=a") == nil)
    #expect(await code("http://%73hop:80/price?sku=a") == nil)
    #expect(await code("http://NewsDesk/price?sku=a") == .noRoute)
  }

  @Test(
    "Everything else is refused with its reason",
    arguments: [
      ("aaa://shop/price", RoutingError.Code.missingParameter),
      ("aaa://shop/price?sku=a&count=x", .wrongParameter),
      ("aaa://shop/price?sku=a&sku=b", .wrongParameter),
      ("aaa://shop/price?sku=a&currency=dollar", .wrongParameter),
      ("aaa://shop/price?sku=a&kCTMediatorParamsKeySwiftTargetModuleName=M", .undeclaredParameter),
      ("aaa://shop/buy?done=x", .notRemote),
      ("aaa://shop/nothing", .notRemote),
      ("aaa://shop/absent", .noAction),
      ("aaa://shop/price/now?sku=a", .noAction),
      ("aaa://shop/a/b", .noAction),
      ("aaa://shop", .noAction),
      ("aaa://shop/", .noAction),
      ("aaa://nobody/price", .noRoute),
      ("aaa:shop/price?sku=a", .noRoute),
      ("/shop/price?sku=a", .noRoute),
      ("aaa://shop:80/price?sku=a", .noRoute),
      ("app://inner/7", .notRemote),
      ("app://news/x", .noRoute),
      ("app://news/7/8", .noRoute),
      ("aaa://shop/../inner/7", .malformedURL),
    ])
  func refusals(_ url: String, _ expected: RoutingError.Code) async {
    #expect(await code(url) == expected)
    #expect(
      !router.canOpen(url, origin: .remote) || expected == .wrongParameter
        || expected == .missingParameter || expected == .undeclaredParameter)
  }

  @Test(
    "native… is refused in every encoding and case, whether there is such a target or not",
    arguments: [
      "native", "Native", "NATIVE", "nAtIvEPrice", "%6eative", "%6Eative", "%4e%41%54%49%56%45",
      "%256eative", "%25256eative", "nativ%65_x",
    ])
  func native(_ action: String) async {
    #expect(await code("aaa://shop/\(action)") == .native)
    #expect(await code("aaa://nobody/\(action)?a=b") == .native)
  }

  @Test("A remote action has no native name, and takes what a URL can hold")
  func unmarkable() {
    struct Sneaky: Target {
      static let actions: [Action<Sneaky>] = [Action("nativeOpen", exposure: .remote) { _, _ in 1 }]
    }
    struct Priced: Target {
      static let actions: [Action<Priced>] = [
        Action("take", [Parameter("what", Price.self)], exposure: .remote) { _, _ in 1 }
      ]
    }
    expectError(.native) { try router.mediator.register("sneaky") { Sneaky() } }
    expectError(.unknownType, key: "what") { try router.mediator.register("priced") { Priced() } }
  }

  @Test("A registered route wins over a target of the same host")
  func routeWins() async throws {
    try router.register("aaa://shop/price", exposure: .remote) { _ in "the route" }
    #expect(await router.answer("aaa://shop/price?sku=a", origin: .remote) == "the route")
    try router.register("aaa://shop/url") { _ in "local" }
    #expect(await code("aaa://shop/url") == .notRemote, "and its mark counts, not the action's")
  }

  @Test("A route is given the keys that it declares, no others")
  func declaredKeys() async {
    let url = "app://news/7?from=mail&id=8&admin=1"
    #expect(await router.answer(url, origin: .remote) == "app://news/:id<Int>?from from=mail id=7")
    #expect(await router.answer(url) == "app://news/:id<Int>?from admin=1 from=mail id=7")
  }

  @Test("Whoever is refused from outside does not learn which local actions there are")
  func discreet() async {
    for (origin, list) in [
      (CallOrigin.remote, "it has broken, price, url"),
      (.local, "it has broken, buy, identity, nothing, price, url"),
    ] {
      let error = await #expect(throws: RoutingError.self) {
        try await router.open("aaa://shop/absent", origin: origin)
      }
      #expect(error?.message.hasSuffix(list) == true, "\(error?.message ?? "")")
    }
  }

  @Test("The handler can see the original URL")
  func originalURL() async throws {
    let url = "aaa://shop/url"
    #expect(await router.answer(url, origin: .remote) == url)
    let local: String = try await router.mediator.perform("shop", "url")
    #expect(local == "none")
  }

  @Test(
    "Result or error comes exactly once",
    arguments: ["aaa://shop/url", "aaa://shop/native", "aaa://shop/broken", "%"])
  func once(_ url: String) async throws {
    let log = Log()
    await router.open(url, origin: .remote) { _ in Task { await log.add(url) } }.value
    while await log.lines.isEmpty { await Task.yield() }
    for _ in 0..<20 { await Task.yield() }
    #expect(await log.lines == [url])
  }

  @Test("Raised limits hold for aliases and for a look at the routes, too")
  func raisedLimits() async throws {
    let url = "app://news/1?from=" + String(repeating: "a", count: URLLimits().bytes)
    #expect(router.route(for: url) == nil)
    #expect(throws: RoutingError.self) { try router.register(aliases: ["long": url]) }
    router.calls.limits = URLLimits(bytes: 4 * URLLimits().bytes)
    #expect(router.route(for: url) != nil)
    try router.register(aliases: ["long": url])
  }
}
