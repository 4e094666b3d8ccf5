import BeeHiveRouting
import Testing

/// The situations that JLRoutes tests, under its names, with this router's rules.
@Suite("JLRoutes")
struct JLRoutesTests {
  let router = Router()

  @Test func testRoutesArray() throws {
    try router.answering("s1:/a", "s1:/b", "s2:/c")
    let ofOne = router.routes.filter { $0.pattern.scheme == "s1" }
    #expect(ofOne.map(\.pattern.text) == ["s1:/a", "s1:/b"])
  }

  @Test func testAllRoutes() throws {
    try router.answering("/a", "s1://b", "s2:/c")
    #expect(router.routes.map(\.pattern.text) == ["/a", "s1://b", "s2:/c"])
  }

  @Test(arguments: [
    ("tests://", "/"), ("tests:/", "/"), ("tests://test?", "/test"), ("tests://test/", "/test"),
    ("tests://?key=value", "/ key=value"), ("tests://test", "/test"),
    ("tests://user/view/joeldev", "/user/view/:userID userID=joeldev"),
    ("tests://user/view/joeldev/", "/user/view/:userID userID=joeldev"),
    (
      "tests://user/view/joeldev?foo=bar&thing=stuff",
      "/user/view/:userID foo=bar thing=stuff userID=joeldev"
    ),
    ("tests://user/view/joeldev?userID=evilPerson", "/user/view/:userID userID=joeldev"),
    (
      "tests://post/edit/123", "/:object/:action/:primaryKey action=edit object=post primaryKey=123"
    ),
    (
      "tests://interleaving/paramvalue1/foo/paramvalue2",
      "/interleaving/:param1/foo/:param2 param1=paramvalue1 param2=paramvalue2"
    ),
    ("tests://test/wildcard/the/rest", #"/test/wildcard/* *=["the", "rest"]"#),
  ])
  func testRouting(_ url: String, _ answer: String) async throws {
    try router.answering(
      "/test", "/", "/user/view/:userID", "/:object/:action/:primaryKey",
      "/interleaving/:param1/foo/:param2", "/test/wildcard/*")
    #expect(await router.answer(url) == answer)
    #expect(await router.answer("tests://doesnt/exist/and/wont/match") == nil)
    #expect(await router.failure("tests:// ") == .malformedURL)
  }

  @Test func testRoutingWithParameters() async throws {
    try router.answering("/user/view/:userID")
    let answer = try await router.object(
      for: "tests://user/view/joeldev?foo=bar", as: String.self,
      with: ["foo": "overridden", "userID": "alsoOverridden", "more": 1])
    #expect(answer == "/user/view/:userID foo=overridden more=1 userID=alsoOverridden")
  }

  @Test func testFragmentRouting() async throws {
    try router.register("/user/view/:userID") { call in
      "\(call.url.fragment ?? "") \(call.url.fragmentItems.map { "\($0.name):\($0.value ?? "")" })"
    }
    #expect(
      await router.answer("tests://user/view/joel#key=value&k2")
        == #"key=value&k2 ["key:value", "k2:"]"#)
    #expect(await router.answer("tests://user/view/joel#top") == "top []")
  }

  @Test func testMultipleRoutePatterns() async throws {
    for pattern in ["/multiple1", "/multiple2"] { try router.answering(pattern) }
    #expect(await router.answer("tests://multiple1") == "/multiple1")
    #expect(await router.answer("tests://multiple2") == "/multiple2")
  }

  @Test func testPriority() async throws {
    try router.answering("/test/priority/:level")
    try router.register("/test/priority/high", priority: 20) { _ in "high" }
    try router.register("/test/priority/:other", priority: 30) { call -> String in
      guard call.parameters[raw: "other"] as? String == "highest" else {
        throw call.refusal("not mine")
      }
      return "highest"
    }
    #expect(await router.answer("tests://test/priority/high") == "high")
    #expect(await router.answer("tests://test/priority/highest") == "highest")
    #expect(await router.answer("tests://test/priority/low") == "/test/priority/:level level=low")
  }

  @Test func testBlockReturnValue() async throws {
    try router.register("/return/:value") { call in
      guard call.parameters[raw: "value"] as? String == "yes" else { throw call.refusal("no") }
    }
    #expect(await router.failure("tests://return/no") == .refused)
    #expect(await router.failure("tests://return/yes") == nil)
  }

  @Test func testSchemes() async throws {
    for scheme in ["namespaceTest1", "namespaceTest2"] {
      try router.register("\(scheme):/test") { _ in scheme }
    }
    try router.answering("/global")
    #expect(await router.answer("namespaceTest1://test") == "namespaceTest1")
    #expect(await router.answer("namespacetest2://test") == "namespaceTest2")
    #expect(await router.answer("other://test") == nil)
  }

  @Test func testFallbackToGlobal() async throws {
    try router.answering("/user/view/:userID", "namespaceTest:/test")
    let closed = try router.register("namespaceTest:/*") { _ in "closed" }
    #expect(await router.answer("namespaceTest://user/view/joeldev") == "closed")
    #expect(closed.cancel())
    #expect(
      await router.answer("namespaceTest://user/view/joeldev")
        == "/user/view/:userID userID=joeldev")
  }

  @Test func testForRouteExistence() throws {
    try router.answering("/user/view/:userID")
    #expect(router.canOpen("tests://user/view/joeldev"))
    #expect(!router.canOpen("tests://user/view"))
  }

  @Test func testSubscripting() async throws {
    try router.register("/subscripting/:value") { call -> String in try call["value"] }
    #expect(await router.answer("subscripting/test") == "test")
  }

  @Test func testNonSingletonUsage() async throws {
    let other = try Router().answering("/test")
    #expect(await other.answer("tests://test") == "/test")
    #expect(await router.answer("tests://test") == nil)
  }

  @Test func testRouteRemoval() async throws {
    try router.answering("/user/view/:userID", "/a(/:b)", "n3:/test1", "n3:/test2")
    #expect(router.deregister("/user/view/:userID") && router.deregister("/a(/:b)"))
    #expect(router.deregister("n3:/test1"))
    #expect(await router.answer("n3://test1") == nil)
    #expect(await router.answer("n3://test2") == "n3:/test2")
    router.deregisterAll()
    #expect(router.routes.isEmpty)
  }

  @Test func testPercentEncoding() async throws {
    try router.answering("/user/view/:userID")
    for (encoded, decoded) in [
      ("joel%2Flevin", "joel/levin"), ("joel%20levin", "joel levin"),
      ("joel%25levin", "joel%levin"),
      ("joel%3Flevin", "joel?levin"), ("joel%23levin", "joel#levin"),
      ("joel%26levin", "joel&levin"),
    ] {
      #expect(
        await router.answer("tests://user/view/\(encoded)")
          == "/user/view/:userID userID=\(decoded)")
    }
  }

  @Test func testDecodePlusSymbols() async throws {
    try router.answering("/user/view/:userID")
    #expect(
      await router.answer("tests://user/view/joel+levin?n=a+b&m=a%2Bb")
        == "/user/view/:userID m=a+b n=a b userID=joel+levin")
  }

  @Test func testVariableEmptyFollowedByWildcard() async throws {
    // A trailing slash does not count, so what may be empty is written as optional.
    try router.answering("/list/:variable/detail(/:variable2)/*")
    #expect(
      await router.answer("tests://list/variable/detail/")
        == "/list/:variable/detail(/:variable2)/* *=[] variable=variable")
    #expect(
      await router.answer("tests://list/variable/detail/x/y")
        == #"/list/:variable/detail(/:variable2)/* *=["y"] variable=variable variable2=x"#)
  }

  @Test(arguments: [
    ("tests://path/alpha", "thing=alpha"), ("tests://path/alpha/new", "thing=alpha"),
    ("tests://path/alpha/new/place", "place=place thing=alpha"),
    ("tests://path/alpha/new/place/other", nil),
  ])
  func testOptionalRoutesAtEnd(_ url: String, _ answer: String?) async throws {
    let pattern = "/path/:thing(/new)(/:place)"
    try router.answering(pattern)
    #expect(await router.answer(url) == answer.map { "\(pattern) \($0)" })
  }

  @Test(arguments: [
    ("tests://path/alpha", "thing=alpha"), ("tests://rest/path/alpha", "thing=alpha"),
    ("tests://app/path/alpha", "thing=alpha"), ("tests://rest/app/path/alpha", "thing=alpha"),
    ("tests://app/rest/path/alpha", nil),
  ])
  func testOptionalRoutesAtStart(_ url: String, _ answer: String?) async throws {
    let pattern = "(/rest)(/app)/path/:thing"
    try router.answering(pattern)
    #expect(await router.answer(url) == answer.map { "\(pattern) \($0)" })
  }

  @Test(arguments: [
    ("tests://beginning/end", ""), ("tests://beginning/a/end", ""),
    ("tests://beginning/a/x/end", " b=x"), ("tests://beginning/x/end", " b=x"),
  ])
  func testOptionalRoutesInterleaved(_ url: String, _ answer: String) async throws {
    let pattern = "/beginning(/a)(/:b)/end"
    try router.answering(pattern)
    #expect(await router.answer(url) == pattern + answer)
  }

  @Test func testPassingURLStringsAsParams() async throws {
    try router.answering("/web/:url")
    #expect(
      await router.answer("tests://web/http%3A%2F%2Fgoogle.com%2F?q=http://a/b?c=d")
        == "/web/:url q=http://a/b?c=d url=http://google.com/")
  }

  @Test func testArrayQueryParams() async throws {
    try router.answering("/multiple")
    #expect(
      await router.answer("tests://multiple?key=1&key=2&other=3")
        == #"/multiple key=["1", "2"] other=3"#)
  }

  @Test func testAddingCustomRouteDefinition() async throws {
    // What a subclass of the definition does there, a type of the pattern does here.
    try router.define("Even") { text in Int(text).flatMap { $0 % 2 == 0 ? $0 : nil } }
    try router.answering("/n/:n<Even>")
    #expect(await router.answer("tests://n/4") == "/n/:n<Even> n=4")
    #expect(await router.answer("tests://n/5") == nil)
  }

  @Test func testChangeDefaultRouteDefinitionClass() async throws {
    // What holds for every call is an interceptor's business.
    try router.answering("/a")
    router.calls.intercept("shout") { _ in .answer("INTERCEPTED") }
    #expect(await router.answer("/a") == "INTERCEPTED")
  }

  @Test func testTreatsHostAsPathComponent() async throws {
    try router.answering("/sign_in", "//www.mydomain.com/sign_out")
    #expect(await router.answer("https://www.mydomain.com/sign_in") == "/sign_in")
    #expect(await router.answer("myapp://sign_in") == "/sign_in")
    #expect(
      await router.answer("https://www.mydomain.com/sign_out") == "//www.mydomain.com/sign_out")
    #expect(await router.answer("https://other.com/sign_out") == nil)
  }

  @Test func testRouteDefinitionEquality() throws {
    #expect(try RoutePattern("/a/:b") == RoutePattern("/a/:b"))
    #expect(try RoutePattern("/a/:b") != RoutePattern("/a/:c"))
    #expect(try RoutePattern("x://a/:b") != RoutePattern("/a/:b"))
  }

  @Test func testHandlerBlockForWeakTarget() async throws {
    final class Screen: Sendable {}
    var screen: Screen? = Screen()
    try router.register("/weak") { [weak screen] call in
      guard screen != nil else { throw call.refusal("gone") }
    }
    #expect(await router.failure("tests://weak") == nil)
    screen = nil
    #expect(await router.failure("tests://weak") == .refused)
  }

  @Test func testHandlerBlockForTargetClass() async throws {
    struct Screen: Sendable {
      let title: String
      init(_ call: RouteCall) throws { title = try call["title"] }
    }
    try router.register("/class/:title", Screen.init)
    let screen = try await router.object(for: "tests://class/x", as: Screen.self)
    #expect(screen.title == "x")
  }
}
