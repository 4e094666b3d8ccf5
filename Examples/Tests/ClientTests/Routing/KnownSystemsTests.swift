import BeeHiveRouting
import Foundation
import Testing

/// A situation of another router: the registrations for it here, and the outcome of each URL.
struct Situation: CustomTestStringConvertible, Sendable {
  let testDescription: String
  private let register: @Sendable (Router) throws -> Void
  /// URLs, each with the answer or the code of the error.
  private let outcomes: [(url: String, outcome: String)]

  /// Makes a situation. The handler of each pattern answers with the pattern and the call's parameters.
  init(
    _ name: String, _ patterns: [String], _ outcomes: KeyValuePairs<String, String>,
    and register: @escaping @Sendable (Router) throws -> Void = { _ in }
  ) {
    testDescription = name
    self.outcomes = outcomes.map { ($0.key, $0.value) }
    self.register = { router in
      for pattern in patterns {
        try router.register(pattern) { call in
          let parameters = call.parameters.keys.sorted().map { key in
            "\(key)=\(call.parameters[raw: key].map { "\($0)" } ?? "nil")"
          }
          return ([call.pattern.text] + parameters).joined(separator: " ")
        }
      }
      try register(router)
    }
  }

  func check() async throws {
    let router = Router()
    try register(router)
    for (url, outcome) in outcomes {
      do {
        #expect("\(try await router.open(url))" == outcome, "\(url)")
      } catch let error as RoutingError {
        #expect(error.code.rawValue == outcome, "\(url): \(error)")
      }
    }
  }
}

/// The situations that other routers test or that their users ran into, in this router's notation.
@Suite("What other routers do")
struct KnownSystemsTests {
  @Test(
    "CTMediator",
    arguments: [
      Situation(
        "actions by name", [],
        [
          "app://A/page?key=value": "value", "app://A/rect": "Rect(x: 1.0, y: 2.0)",
          "app://A/void": "()", "app://A/nothing": "nil", "app://A/none": "no-action",
          "app://B/page": "no-route", "app://A/page?key=1&other=1": "undeclared-parameter",
        ]
      ) { try $0.mediator.register("A") { TargetA() } },
      Situation(
        "notFound:, and a target of no name", [],
        ["app://A/none": "no none", "app://B/page": "no-route"]
      ) { router in
        try router.mediator.register("A") { TargetA() }
        router.mediator.fallback { "no \($0.action?.action ?? "")" }
      },
    ])
  func ctMediator(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "MGJRouter",
    arguments: [
      Situation(
        "基本使用, 中文匹配, 自定义参数", ["mgj://foo/bar", "mgj://category/家居", "mgj://search/:keyword"],
        [
          "mgj://foo/bar": "mgj://foo/bar", "mgj://category/家居": "mgj://category/家居",
          "mgj://category/%E5%AE%B6%E5%B1%85": "mgj://category/家居",
          "mgj://search/bicycle?color=red": "mgj://search/:keyword color=red keyword=bicycle",
        ]),
      Situation(
        "Fallback 到全局", ["mgj://foo/bar/none/exists", "mgj://*"],
        [
          "mgj://foo/bar": #"mgj://* *=["foo", "bar"]"#, "mgj://": "mgj://* *=[]",
          "mgj://foo/bar/none/exists": "mgj://foo/bar/none/exists",
        ]),
      Situation(
        "literals of any letter (#1), full matches (#20)",
        ["mgj://a/:id", "mgj://a/list", "mgj://a/9", "mgj://_/_", "mgj://a.b/c@d.e"],
        [
          "mgj://a/list": "mgj://a/list", "mgj://a/9": "mgj://a/9", "mgj://a": "no-route",
          "mgj://a/9/b": "no-route", "mgj://_/_": "mgj://_/_", "mgj://a.b/c@d.e": "mgj://a.b/c@d.e",
        ]),
      Situation(
        "a URL in the query (#50 #51), no URL (#53)", ["mgj://web"],
        ["mgj://web?url=http://m.com/x": "mgj://web url=http://m.com/x", "": "malformed-url"]),
    ])
  func mgjRouter(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "HHRouter",
    arguments: [
      Situation("testRouteBlocks", ["/user/add/"], ["/user/add/?a=1&b=2": "/user/add/ a=1 b=2"]),
      Situation(
        "testRoute", ["/user/:userId/", "/story/:storyId/", "/user/:userId/story/"],
        [
          "/story/2/": "/story/:storyId/ storyId=2",
          "/user/1/story/": "/user/:userId/story/ userId=1",
          "hhrouter://user/1/": "/user/:userId/ userId=1",
          "/user/1/?a=b&c=d": "/user/:userId/ a=b c=d userId=1", "/users/1": "no-route",
        ]),
    ])
  func hhRouter(_ situation: Situation) async throws { try await situation.check() }

  /// HHRouter tries the keys of a level in the order of a dictionary.
  @Test("HHRouter: whichever is registered first, the same route answers", arguments: 0..<5)
  func hhRouterOrder(shift: Int) async throws {
    let patterns = ["/a/:x", "/a/:n<Int>", "/a/list", "/:y/list", "/*"]
    try await Situation(
      "order", Array(patterns[shift...] + patterns[..<shift]),
      [
        "/a/list": "/a/list", "/a/7": "/a/:n<Int> n=7", "/a/x": "/a/:x x=x",
        "/b/list": "/:y/list y=b", "/b": #"/* *=["b"]"#,
      ]
    ).check()
  }

  @Test(
    "JLRoutes",
    arguments: [
      Situation(
        "testSchemes, testAllRoutes", ["/a", "s1://b", "s2:/c"],
        ["S1://b": "s1://b", "s2://c": "s2:/c", "s2://a": "/a", "s1://c": "no-route"]),
      Situation(
        "testFallbackToGlobal", ["/user/:id", "s:/test", "s:/*"],
        [
          "s://test": "s:/test", "s://user/joel": #"s:/* *=["user", "joel"]"#,
          "t://user/joel": "/user/:id id=joel",
        ]),
      Situation(
        "testRouting",
        [
          "/test", "/", "/user/view/:userID", "/:object/:action/:primaryKey",
          "/interleaving/:param1/foo/:param2", "/test/wildcard/*",
        ],
        [
          "test": "/test", "tests://": "/", "tests:/": "/", "tests://?key=value": "/ key=value",
          "tests://test?": "/test", "tests://test/": "/test",
          "tests://user/view/joeldev/": "/user/view/:userID userID=joeldev",
          "tests://user/view/joeldev?foo=bar&thing=stuff":
            "/user/view/:userID foo=bar thing=stuff userID=joeldev",
          "tests://user/view/joeldev?userID=evil": "/user/view/:userID userID=joeldev",
          "tests://post/edit/123":
            "/:object/:action/:primaryKey action=edit object=post primaryKey=123",
          "tests://interleaving/a/foo/b": "/interleaving/:param1/foo/:param2 param1=a param2=b",
          "tests://test/wildcard/the/rest": #"/test/wildcard/* *=["the", "rest"]"#,
          "tests://doesnt/exist/and/wont/match": "no-route", "tests:// ": "malformed-url",
        ]),
      Situation(
        "testPriority, testBlockReturnValue", ["/level/:level"],
        ["/level/high": "high", "/level/low": "/level/:level level=low", "/no/low": "refused"]
      ) { router in
        try router.register("/level/high", priority: 20) { _ in "high" }
        try router.register("/level/:other", priority: 30) {
          throw $0.refusal("not mine") as any Error
        }
        try router.register("/no/:value") { throw $0.refusal("no") as any Error }
      },
      Situation(
        "testPercentEncoding, testDecodePlusSymbols", ["/user/view/:id"],
        [
          "t://user/view/joel%2Flevin": "/user/view/:id id=joel/levin",
          "t://user/view/joel%20levin": "/user/view/:id id=joel levin",
          "t://user/view/joel%25levin": "/user/view/:id id=joel%levin",
          "t://user/view/joel%3F%23%26": "/user/view/:id id=joel?#&",
          "t://user/view/joel+levin?n=a+b&m=a%2Bb": "/user/view/:id id=joel+levin m=a+b n=a b",
          "t://user/view/x?k=1&k=2": #"/user/view/:id id=x k=["1", "2"]"#,
          "t://user/view/http%3A%2F%2Fg.com%2F?q=http://a/b?c=d":
            "/user/view/:id id=http://g.com/ q=http://a/b?c=d",
        ]),
      // A trailing slash does not count, so a part that may be empty is written as optional.
      Situation(
        "testVariableEmptyFollowedByWildcard", ["/list/:a/detail(/:b)/*"],
        [
          "t://list/x/detail/": "/list/:a/detail(/:b)/* *=[] a=x",
          "t://list/x/detail/y/z": #"/list/:a/detail(/:b)/* *=["z"] a=x b=y"#,
        ]),
      Situation(
        "testOptionalRoutesAtEnd", ["/path/:thing(/new)(/:place)"],
        [
          "t://path/alpha": "/path/:thing(/new)(/:place) thing=alpha",
          "t://path/alpha/new": "/path/:thing(/new)(/:place) thing=alpha",
          "t://path/alpha/new/p": "/path/:thing(/new)(/:place) place=p thing=alpha",
          "t://path/alpha/new/p/q": "no-route",
        ]),
      Situation(
        "testOptionalRoutesAtStart", ["(/rest)(/app)/path/:thing"],
        [
          "t://path/a": "(/rest)(/app)/path/:thing thing=a",
          "t://rest/path/a": "(/rest)(/app)/path/:thing thing=a",
          "t://rest/app/path/a": "(/rest)(/app)/path/:thing thing=a",
          "t://app/rest/path/a": "no-route",
        ]),
      Situation(
        "testOptionalRoutesInterleaved", ["/beginning(/a)(/:b)/end"],
        [
          "t://beginning/end": "/beginning(/a)(/:b)/end",
          "t://beginning/a/end": "/beginning(/a)(/:b)/end",
          "t://beginning/a/x/end": "/beginning(/a)(/:b)/end b=x",
          "t://beginning/x/end": "/beginning(/a)(/:b)/end b=x",
        ]),
      Situation(
        "testTreatsHostAsPathComponent", ["/sign_in", "//www.mydomain.com/sign_out"],
        [
          "https://www.mydomain.com/sign_in": "/sign_in", "myapp://sign_in": "/sign_in",
          "https://www.mydomain.com/sign_out": "//www.mydomain.com/sign_out",
          "https://other.com/sign_out": "no-route",
        ]),
      Situation(
        "testAddingCustomRouteDefinition", [],
        ["t://n/4": "4", "t://n/5": "no-route", "t://any": "INTERCEPTED"]
      ) { router in
        try router.define("Even") { text in Int(text).flatMap { $0 % 2 == 0 ? $0 : nil } }
        try router.register("/n/:n<Even>") { try $0["n"] as Int }
        router.calls.intercept("shout", try .url("t://any")) { _ in .answer("INTERCEPTED") }
      },
    ])
  func jlRoutes(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "URLNavigator",
    arguments: [
      Situation("no candidates", [], ["myapp://user/1": "no-route"]),
      Situation(
        "unmatched", ["yourapp://user/:id", "myapp://user/:id/hello", "myapp://user/:id<Int>"],
        ["myapp://user/devxoul": "no-route", "/user/1": "no-route"]),
      Situation(
        "matched", ["myapp://user/:id", "myapp://user/hello", "myapp://user/:id/:object", "/a/b"],
        [
          "myapp://user/1": "myapp://user/:id id=1", "myapp://user/hello": "myapp://user/hello",
          "myapp://user/1/posts": "myapp://user/:id/:object id=1 object=posts",
          "myapp:////user///hello//": "myapp://user/hello", "myapp://a/b#f": "/a/b",
        ]),
      Situation(
        "longest match", ["myapp://:p<Path>", "myapp://user/:p<Path>", "myapp://user/:id/posts"],
        [
          "myapp://user/1/posts": "myapp://user/:id/posts id=1",
          "myapp://user/1/x": "myapp://user/:p<Path> p=1/x",
          "myapp://x/1": "myapp://:p<Path> p=x/1",
        ]),
      Situation(
        "types",
        ["app://s/:v<String>", "app://i/:v<Int>", "app://f/:v<Float>", "app://u/:v<UUID>"],
        [
          "app://s/123": "app://s/:v<String> v=123", "app://i/123": "app://i/:v<Int> v=123",
          "app://f/123.456": "app://f/:v<Float> v=123.456", "app://u/621425B8": "no-route",
          "app://u/621425b8-42D1-4AB4-9A58-1E69D708A84B":
            "app://u/:v<UUID> v=621425B8-42D1-4AB4-9A58-1E69D708A84B",
        ]),
      Situation(
        "path values (#109)", ["https://:url<Path>", "http://host/any/:path<Path>"],
        [
          "https://google.com/search/": "https://:url<Path> url=google.com/search",
          "http://host/any/Search": "http://host/any/:path<Path> path=Search",
          "http://host/any": "no-route",
          "https://browser/http://g.fr/a": "https://:url<Path> url=browser/http://g.fr/a",
        ]),
      Situation(
        "a context, a veto, a custom type", [],
        ["myapp://hello/you": "Hello, you!", "myapp://a": "refused"]
      ) { router in
        try router.define("Greeting") { "Hello, \($0)!" }
        try router.register("myapp://hello/:name<Greeting>") { try $0["name"] as String }
        try router.register("myapp://a") { _ in Issue.record("called") }
        router.calls.intercept("shouldPush", try .url("myapp://a")) { _ in .refuse("not now") }
      },
    ])
  func urlNavigator(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "MTRouter",
    arguments: [
      Situation(
        "names that a file gives", ["app://shop/:id", "app://shop/home"],
        [
          "home": "app://shop/home", "start?from=x": "app://shop/home from=x",
          "first": "app://shop/:id from=alias id=1", "VC4": "no-route",
        ]
      ) {
        try $0.register(aliases: [
          "home": "app://shop/home", "first": "app://shop/1?from=alias", "start": "home",
        ])
      },
      Situation(
        "an error page", ["app://one"],
        ["VC1": "app://one", "VC2": "VC2 is missing at app://two", "VC4": "VC4 is missing at VC4"]
      ) { router in
        try router.register(aliases: ["VC1": "app://one", "VC2": "app://two"])
        router.unmatched { "\($0.originalURL?.text ?? "") is missing at \($0.url)" }
      },
    ])
  func mtRouter(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "ZIKRouter",
    arguments: [
      Situation(
        "making, by URL and by name", ["app://editor/:id<Int>"],
        [
          "app://editor/7": "app://editor/:id<Int> id=7", "app://editor/seven": "no-route",
          "app://pages/editor?id=7": "7", "app://pages/editor?id=seven": "wrong-parameter",
          "app://pages/reader?id=7": "no-action", "app://reader/7": "no-route",
        ]
      ) { try $0.mediator.register("pages") { Pages() } },
      Situation(
        "adapters, and two in a circle", ["app://editor/:id<Int>"],
        [
          "required-editor": "app://editor/:id<Int> id=7", "app://required?id=7": "7",
          "app://A": "redirect-loop",
        ]
      ) { router in
        try router.register(aliases: ["required-editor": "app://editor/7"])
        try router.mediator.register("pages") { Pages() }
        try router.calls.guardCalls(
          "adapter", try .url("app://required"),
          then: .redirect(to: .action(target: "pages", action: "editor")))
        for (from, to) in [("app://A", "app://B"), ("app://B", "app://A")] {
          try router.calls.guardCalls(from, try .url(from), then: .redirect(to: .url(to)))
        }
      },
      Situation(
        "levels", ["app:/:a/:b/:c/:d/:e/:f/:g/:h/:i/:j/:k/:l"],
        [
          "app:/0/1/2/3/4/5/6/7/8/9/10/11":
            "app:/:a/:b/:c/:d/:e/:f/:g/:h/:i/:j/:k/:l a=0 b=1 c=2 d=3 e=4 f=5 g=6 h=7 i=8 j=9 k=10 l=11"
        ]),
    ])
  func zikRouter(_ situation: Situation) async throws { try await situation.check() }

  @Test(
    "TheRouter",
    arguments: [
      Situation(
        "relocation: every rule holds, for whole URLs",
        ["app://new", "app://old", "app://older", "app://newer"],
        ["app://old": "app://new", "app://older": "app://newer", "app://newer": "app://newer"]
      ) {
        let table = """
          {"version": 1, "rules": [
            {"name": "first", "match": {"url": "app://old"}, "do": {"redirect": "app://new"}},
            {"name": "second", "match": {"url": "app://olde"}, "do": {"redirect": "app://new"}},
            {"name": "third", "match": {"url": "app://older"}, "do": {"redirect": "app://newer"}}
          ]}
          """
        try $0.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(table.utf8)))
      },
      Situation(
        "an interceptor with exceptions", ["app://login", "app://cart", "app://orders"],
        ["app://orders": "app://login", "app://cart": "app://cart"]
      ) {
        $0.calls.intercept("login", priority: 1) { call in
          let isOpen = call.url?.host == "login" || call.url?.host == "cart"
          return isOpen ? .proceed : .redirect(to: .url("app://login"))
        }
      },
      Situation(
        "removeRouter takes one route", ["app://demo", "app://demo/:id"],
        ["app://demo": "no-route", "app://demo/7": "app://demo/:id id=7"]
      ) { #expect($0.deregister("app://demo")) },
    ])
  func theRouter(_ situation: Situation) async throws { try await situation.check() }
}

private struct Rect: Sendable { var x, y: Double }

private struct TargetA: Target {
  static let actions: [Action<TargetA>] = [
    Action("page", [Parameter("key", String.self)]) { _, arguments in
      try arguments["key"] as String
    },
    Action("rect") { _, _ in Rect(x: 1, y: 2) },
    Action("void") { _, _ in },
    Action("nothing") { _, _ -> Rect? in nil },
  ]
}

private struct Pages: Target {
  static let actions: [Action<Pages>] = [
    Action("editor", [Parameter("id", Int.self)]) { _, values in try values["id"] as Int }
  ]
}
