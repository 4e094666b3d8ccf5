import BeeHiveRouting
import TestSupport
import Testing

@Suite("Hostile URLs")
struct HostileURLTests {
  private static let remote = [
    "app://news/7?from=mail", "app://docs/en/a/b", "http://shop.example/item/7", "/page/about",
    "aaa://shop/price?sku=abc&currency=yen", "aaa://shop/url",
  ]
  private static let local = [
    "app://inner/7", "app://news/7/delete", "http://admin.example:8080/users", "/admin/users/7",
    "https://shop.example/item/7", "aaa://shop/buy?done=x", "aaa://shop/nothing",
    "aaa://vault/open",
  ]

  private let local = Counter()
  private let remote = Counter()

  private struct Vault: Target {
    static let actions: [Action<Vault>] = ["open", "nativeOpen"].map { name in
      Action(name) { vault, _ in vault.local.next() }
    }
    let local: Counter
  }

  private func router() throws -> Router {
    let router = Router()
    for pattern in [
      "app://news/:id<Int>?from", "app://docs/*", "http://shop.example/item/:id", "/page/:name",
    ] {
      try router.register(pattern, exposure: .remote) { _ in remote.next() }
    }
    for pattern in [
      "app://inner/:id", "app://news/:id/delete", "http://admin.example:8080/users",
      "/admin/:p<Path>", "https://shop.example/item/:id", "//localhost/*",
    ] {
      try router.register(pattern) { _ in local.next() }
    }
    try router.mediator.register("shop") { ShopTarget() }
    try router.mediator.register("vault") { Vault(local: local) }
    return router
  }

  /// Returns the same router with all that leads on: handlers that open other URLs, aliases, redirections.
  private func leadingOn() throws -> Router {
    let router = try router()
    try router.register("app://go?to<String>", exposure: .remote) { call in
      let to: String = try call["to"]
      _ = try await router.open(to)
    }
    try router.register("mgj://*", exposure: .remote) { call in
      _ = try await router.open("app:" + call.url.text.dropFirst(4))
    }
    router.unmatched(exposure: .remote) { call in
      _ = try await router.open("app://inner/\(call.url.path.last ?? "")", origin: .local)
    }
    router.mediator.fallback(exposure: .remote) { _ in
      _ = try await router.mediator.perform("vault", "open")
    }
    try router.register(aliases: [
      "vault": "aaa://vault/open", "inner": "app://inner/1", "news": "app://news/7",
    ])
    try router.calls.load(
      table(
        rule(
          "in", #"{"url": "app://news/:id"}"#, when: #"{"parameter": "in", "given": true}"#,
          do: #"{"redirect": "app://inner/:id"}"#),
        rule(
          "to", #"{"url": "app://docs/*"}"#, when: #"{"parameter": "open", "given": true}"#,
          do: #"{"redirect": {"target": "vault", "action": "open"}}"#),
        rule("give", #"{"url": "app://news/*"}"#, do: #"{"replace": {"from": "rule"}}"#)))
    return router
  }

  @Test("None reaches what is local through handlers, aliases, redirections and rules")
  func led() async throws {
    let router = try leadingOn()
    let leading = [
      "app://go?to=app://inner/7", "app://go?to=aaa://vault/open", "mgj://inner/7", "vault",
      "inner",
      "news", "app://news/7?in=1", "app://docs/a?open=1", "app://none/7", "aaa://vault/none",
    ]
    for url in leading { _ = await router.failure(url, origin: .remote) }
    #expect(local.count == 0)
    for url in leading { _ = await router.failure(url) }
    let fromInside = local.count
    #expect(fromInside >= 8, "from inside all of them lead there")
    var urls = HostileURLs(Self.remote + Self.local + leading, seed: 0xfeed)
    for _ in 0..<Effort.times(1_000, full: 43_000) {
      let url = urls.next()
      _ = await router.failure(url, origin: .remote)
      guard local.count == fromInside else {
        Issue.record("\(url.debugDescription)")
        break
      }
    }
    #expect(remote.count > 10)
  }

  @Test("None reaches what is local, and what cannot be opened is refused for the given reason")
  func sweep() async throws {
    let router = try router()
    var urls = HostileURLs(Self.remote + Self.local)
    var ends: [RoutingError.Code?: Int] = [:]
    for _ in 0..<HostileURLs.count {
      let url = urls.next()
      let canOpen = router.canOpen(url, origin: .remote)
      let expected = router.calls.explain(url, origin: .remote).error
      var error: RoutingError?
      do { try await router.open(url, origin: .remote) } catch let refusal as RoutingError {
        error = refusal
      }
      ends[error?.code, default: 0] += 1
      guard local.count == 0, canOpen || error != nil, error == expected
      else {
        Issue.record(
          "\(url.debugDescription): \(canOpen), \(error.debugDescription), \(expected.debugDescription)"
        )
        break
      }
    }
    // Each outcome occurs often enough to mean something.
    for code in [nil, .malformedURL, .notRemote, .noRoute, .noAction, .limitExceeded]
      as [RoutingError.Code?]
    {
      #expect(ends[code, default: 0] > HostileURLs.count / 200, "\(code?.rawValue ?? "answered")")
    }
    #expect(remote.count > HostileURLs.count / 100)
  }

  @Test("What is read of one has no delimiter in its host, and no way up in its path")
  func parts() {
    var urls = HostileURLs(Self.remote + Self.local, seed: 0xbee)
    var count = 0
    for _ in 0..<HostileURLs.count {
      let text = urls.next()
      guard let url = try? URLText(text) else { continue }
      count += 1
      let host = url.host ?? ""
      let isIPv6 = host.contains(":")
      #expect(
        !host.contains { (isIPv6 ? "/\\?#@[]" : "/\\?#@:[]").contains($0) },
        "\(text.debugDescription)")
      #expect(!(url.path + [host]).contains { $0 == "." || $0 == ".." }, "\(text.debugDescription)")
      if ["http", "https"].contains(url.scheme) {
        #expect(
          !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f },
          "\(text.debugDescription)")
      }
      #expect(!text.isEmpty && url.text == text)
    }
    #expect(count > HostileURLs.count / 4)
  }
}
