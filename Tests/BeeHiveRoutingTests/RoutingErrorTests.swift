import BeeHiveRouting
import Testing

@Suite("Errors of calls say what is wrong, in one line, and what is meant")
struct RoutingErrorTests {
  let router = Router()

  init() throws {
    try router.mediator.register("shop") { ShopTarget() }
    try router.register("app://shop/:id<Int>", exposure: .remote) { describe($0) }
    try router.register("app://hidden/:id<Int>") { describe($0) }
  }

  @Test(
    "What a URL brings is escaped",
    arguments: [
      "app://x/1%0D%0AX-Injected:%20yes", "app://shop/1%0D%0AX-Injected:%20yes",
      "aaa://shop/price?sku=1&count=1%0D%0AX:%20yes", "aaa://shop/price?sku=1&%0D%0A=1",
      "aaa://shop/%0D%0A", "aaa://shop/price?currency=%1B%5B31m&sku=1", "app://shop/%E2%80%AE7",
    ])
  func escaped(_ url: String) async throws {
    let error = try #require(await router.error(url))
    #expect(error.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    #expect(!error.message.contains("\u{202e}"))
    #expect(
      error.message.contains("\\x") || error.message.contains("\\u{") || error.message.contains("%")
    )
  }

  @Test func `A log of calls has a line for each`() async throws {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    router.calls.observe { continuation.yield("\($0)") }
    for url in ["app://shop/x%0AFAKE", "app://a\nFAKE", "aaa://shop/price?a%0Ab=1"] {
      let error = await router.error(url, origin: .remote)
      #expect(error?.key?.contains("\n") != true)
    }
    try router.calls.guardCalls("no", try .url("app://shop/9"), then: .refuse("a\nb"))
    #expect(!"\(router.calls.explain("app://shop/9"))".contains("a\nb"))
    continuation.finish()
    for await line in lines { #expect(!line.contains("\n"), "\(line)") }
  }

  @Test func `A value of another type is not reported as a missing action`() async {
    let error = await router.error("app://shop/x42")
    #expect(error?.code == .noRoute)
    #expect(error?.message.contains("app://shop/:id<Int> would, were \"x42\" of type Int") == true)
    #expect(error?.key == "id")
    #expect(router.calls.explain("app://shop/x42").error == error)
  }

  @Test func `Callers from outside are told of such routes if they are remote`() async {
    let shown = await router.error("app://shop/x42", origin: .remote)
    #expect(shown?.message.contains("app://shop/:id<Int>") == true)
    let hidden = await router.error("app://hidden/x42", origin: .remote)
    #expect(hidden?.code == .noRoute && hidden?.message.contains(":id") == false)
  }

  @Test func `A name that is nearly right is told`() async {
    #expect(await router.error("aaa://shop/pric")?.message.hasSuffix("did you mean price?") == true)
    #expect(
      await router.error("aaa://shop/price?sku=1&curency=yen")?.message.hasSuffix(
        "did you mean currency?") == true)
    let error = await #expect(throws: RoutingError.self) {
      try await router.mediator.perform("psho", "price")
    }
    #expect(error?.message.hasSuffix("there are shop") == true, "two letters of four differ")
    let near = await #expect(throws: RoutingError.self) {
      try await router.mediator.perform("shops", "price")
    }
    #expect(near?.message.hasSuffix("did you mean shop?") == true)
    let outside = await router.error("aaa://shop/bu", origin: .remote)
    #expect(outside?.message.contains("buy") == false, "buy is local")
  }

  @Test(
    "No message quotes all of a long URL",
    arguments: [
      "app://x/L", "app://shop/L", "aaa://L/price", "aaa://shop/price?sku=1&count=L",
      "aaa://shop/price?sku=1&L=1", "app://gone/L", "app://shop/L/L",
    ])
  func long(_ url: String) async throws {
    try router.calls.guardCalls("gone", .url("app://gone/:id"), then: .refuse("gone"))
    let text = url.replacing("L", with: String(repeating: "%41b", count: 900))
    let error = try #require(await router.error(text))
    #expect(error.message.utf8.count < 1_000, "\(error.message)")
  }

  @Test("No message quotes all of a long alias")
  func longAlias() throws {
    let name = String(repeating: "x/", count: 1 << 20)
    for aliases in [[name: "app://a"], ["home": name]] {
      let error = #expect(throws: RoutingError.self) { try router.register(aliases: aliases) }
      #expect((error?.message.utf8.count ?? 0) < 1_000)
    }
  }

  @Test func `What a rule makes of a URL counts for whether it can be opened`() throws {
    #expect(!router.canOpen("app://old/7"))
    try router.calls.guardCalls(
      "moved", try .url("app://old/:id"), then: .redirect(to: .url("app://shop/:id")))
    #expect(router.canOpen("app://old/7") && !router.canOpen("app://old/x"))
    try router.calls.guardCalls("closed", try .url("app://shop/8"), then: .refuse("closed"))
    #expect(!router.canOpen("app://shop/8"))
    router.unmatched { _ in "an error page" }
    #expect(!router.canOpen("app://none"), "a handler of what is missing is no page")
  }
}
