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
}
