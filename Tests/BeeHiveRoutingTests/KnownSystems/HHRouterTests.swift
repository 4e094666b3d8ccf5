import BeeHiveRouting
import Testing

/// The situations that HHRouter tests, under its names.
@Suite("HHRouter")
struct HHRouterTests {
  @Test func testShared() async throws {
    let hive = Hive()
    try hive.router.answering("/a")
    #expect(await hive.router.answer("/a") == "/a", "one router for each Hive, however it is asked")
    #expect(await Hive().router.answer("/a") == nil)
  }

  @Test func testRouteBlocks() async throws {
    let router = try Router().answering("/user/add/")
    #expect(await router.answer("/user/add/?a=1&b=2") == "/user/add/ a=1 b=2")
  }

  @Test func testRoute() async throws {
    let router = try Router().answering(
      "/user/:userId/", "/story/:storyId/", "/user/:userId/story/")
    #expect(await router.answer("/story/2/") == "/story/:storyId/ storyId=2")
    #expect(await router.answer("/user/1/story/") == "/user/:userId/story/ userId=1")
    #expect(await router.answer("hhrouter://user/1/") == "/user/:userId/ userId=1")
    #expect(await router.answer("/user/1/?a=b&c=d") == "/user/:userId/ a=b c=d userId=1")
  }

  @Test("matchController: the page that a URL means, made of its parameters")
  func matchController() async throws {
    struct Page: Hashable, Sendable {
      var route: String
      var parameters: [String: String]
      init(_ call: RouteCall) throws {
        route = call.pattern.text
        parameters = try Dictionary(
          uniqueKeysWithValues: call.parameters.keys.map { ($0, try call[$0]) })
      }
    }
    let router = Router()
    try router.register("/user/:userId/", Page.init)
    let page = try await router.object(for: "hhrouter://user/1/?a=b", as: Page.self)
    #expect(page.route == "/user/:userId/" && page.parameters == ["userId": "1", "a": "b"])
    #expect(await router.failure("/users/1") == .noRoute)
  }

  @Test("canRoute: which kind of thing answers is what its type says")
  func canRoute() async throws {
    let router = Router()
    try router.register("/block") { _ in }
    try router.register("/page") { _ in 7 }
    #expect(
      router.route(for: "/block")?.result == "" && router.route(for: "/page")?.result == "Int")
    #expect(router.route(for: "/none") == nil && !router.canOpen("/none"))
  }

  /// There, the keys of a level are asked in the order of a dictionary.
  @Test("Whichever is registered first, the same route answers")
  func order() async throws {
    let patterns = ["/a/:x", "/a/:n<Int>", "/a/list", "/:y/list", "/*"]
    for shift in patterns.indices {
      let router = Router()
      for pattern in patterns[shift...] + patterns[..<shift] { try router.answering(pattern) }
      #expect(await router.answer("/a/list") == "/a/list")
      #expect(await router.answer("/a/7") == "/a/:n<Int> n=7")
      #expect(await router.answer("/a/x") == "/a/:x x=x")
      #expect(await router.answer("/b/list") == "/:y/list y=b")
    }
  }
}
