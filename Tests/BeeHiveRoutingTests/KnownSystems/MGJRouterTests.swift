import BeeHiveRouting
import Testing

/// The nine cases of MGJRouter's demo, then the tests that its issues call for.
@Suite("MGJRouter")
struct MGJRouterTests {
  let router = Router()

  @Test("基本使用") func basicUse() async throws {
    try router.answering("mgj://foo/bar")
    #expect(await router.answer("mgj://foo/bar") == "mgj://foo/bar")
  }

  @Test("中文匹配") func chinese() async throws {
    try router.answering("mgj://category/家居")
    #expect(await router.answer("mgj://category/家居") == "mgj://category/家居")
    #expect(await router.answer("mgj://category/%E5%AE%B6%E5%B1%85") == "mgj://category/家居")
  }

  @Test("自定义参数") func customParameters() async throws {
    try router.answering("mgj://search/:keyword")
    #expect(
      await router.answer("mgj://search/bicycle?color=red")
        == "mgj://search/:keyword color=red keyword=bicycle")
  }

  @Test("传入字典信息") func userInfo() async throws {
    try router.register("mgj://category/travel") { call -> Int in try call.userInfo.value("user_id")
    }
    #expect(
      try await router.object(
        for: "mgj://category/travel", as: Int.self, with: ["user_id": 1900]) == 1900)
  }

  @Test("Fallback 到全局") func globalFallback() async throws {
    try router.answering("mgj://foo/bar/none/exists", "mgj://*")
    #expect(await router.answer("mgj://foo/bar") == #"mgj://* *=["foo", "bar"]"#)
    #expect(await router.answer("mgj://") == "mgj://* *=[]")
    #expect(await router.answer("mgj://foo/bar/none/exists") == "mgj://foo/bar/none/exists")
  }

  @Test("Open 结束后执行 Completion") func completion() async throws {
    let log = Log()
    try router.register("mgj://detail") { _ in await log.add("handler") }
    await router.open("mgj://detail") { _ in Task { await log.add("completion") } }.value
    while await log.lines.count < 2 { await Task.yield() }
    #expect(await log.lines == ["handler", "completion"])
  }

  @Test("GenerateURL") func generateURL() throws {
    let pattern = try RoutePattern("mgj://search/:keyword")
    #expect(try pattern.url(with: ["keyword": "bicycle"]) == "mgj://search/bicycle")
    #expect(try pattern.url(with: ["keyword": "家居"]) == "mgj://search/%E5%AE%B6%E5%B1%85")
  }

  @Test("DeregisterURL") func deregisterURL() async throws {
    try router.answering("mgj://search/top_bar", "mgj://search/top_bar/deep")
    #expect(router.deregister("mgj://search/top_bar"))
    #expect(await router.answer("mgj://search/top_bar") == nil)
    #expect(await router.answer("mgj://search/top_bar/deep") == "mgj://search/top_bar/deep")
  }

  @Test("同步获取 Object") func object() async throws {
    try router.register("mgj://search_top_bar") { _ in [1, 2] }
    #expect(try await router.object(for: "mgj://search_top_bar", as: [Int].self) == [1, 2])
  }

  @Test("A literal beats a parameter, whatever its first letter (#1)") func literal() async throws {
    try router.answering("mgj://a/:id", "mgj://a/list", "mgj://a/9")
    #expect(await router.answer("mgj://a/list") == "mgj://a/list")
    #expect(await router.answer("mgj://a/9") == "mgj://a/9")
  }

  @Test("canOpen is true for a full match alone (#20)") func canOpen() throws {
    try router.answering("mgj://foo/bar")
    #expect(!router.canOpen("mgj://foo") && !router.canOpen("mgj://foo/baz"))
    #expect(!router.canOpen("mgj://foo/bar/baz"))
  }

  @Test("The component _ is a component") func underscore() async throws {
    try router.answering("mgj://_/_")
    #expect(await router.answer("mgj://_/_") == "mgj://_/_")
  }

  @Test("Components with . and @ are deregistered like others") func specials() throws {
    try router.answering("mgj://a.b/c@d.e")
    #expect(router.deregister("mgj://a.b/c@d.e") && router.routes.isEmpty)
  }

  @Test("A URL as a value of the query (#50 #51)") func urlInQuery() async throws {
    try router.answering("mgj://web")
    #expect(
      await router.answer("mgj://web?url=http://m.mogujie.com/x")
        == "mgj://web url=http://m.mogujie.com/x")
  }

  @Test("An empty URL and an empty pattern are no crash (#53)") func empty() async throws {
    #expect(await router.failure("") == .malformedURL)
    #expect(throws: RoutingError.self) { try router.answering("") }
  }

  @Test("generateURL with too few values, and with :id beside :idx") func generateTooFew() throws {
    let pattern = try RoutePattern("mgj://:id/:idx")
    #expect(throws: RoutingError.self) { try pattern.url() }
    #expect(throws: RoutingError.self) { try pattern.url(with: ["id": "1"]) }
    #expect(try pattern.url(with: ["id": "1", "idx": "2"]) == "mgj://1/2")
  }

  @Test("An object is asked of a handler that returns none") func mismatch() async throws {
    try router.register("mgj://void") { _ in }
    let error = await #expect(throws: RoutingError.self) {
      try await router.object(for: "mgj://void", as: Int.self)
    }
    #expect(error?.code == .wrongResult)
  }
}
