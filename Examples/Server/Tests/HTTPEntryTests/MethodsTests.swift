import BeeHive
import BeeHiveRouting
import HTTPEntry
import HTTPTypes
import Testing

@Suite("The method of a request is judged by the route or action that its call comes to", .mayHang)
struct MethodsTests {
  let router: Router

  init() throws { router = try Shop.router() }

  private static let all = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS"]

  private func status(
    _ line: String, methods: [String: Set<HTTPRequest.Method>] = [:]
  ) async throws -> Int? {
    var status: Int?
    try await serving(router, methods: methods) { port in
      status = try await Wire.reply(line, from: port)?.status
    }
    return status
  }

  @Test("Where the host says nothing, GET and HEAD are answered, and Allow lists no others")
  func usual() async throws {
    try await serving(router, methods: [:]) { port in
      for target in ["/book/7", "/done", "/books/price?isbn=978", "/books/price"] {
        for method in Self.all {
          let reply = try #require(await Wire.reply("\(method) \(target)", from: port))
          let allow = reply.fields["allow"]
          switch method {
          case "GET", "HEAD": #expect(allow == nil && reply.status != 405)
          case "OPTIONS": #expect(reply.status == 204 && allow == "GET, HEAD, OPTIONS")
          default:
            #expect(reply.status == 405 && allow == "GET, HEAD, OPTIONS", "\(method): \(reply)")
            #expect(reply.code == "method-not-allowed")
          }
        }
      }
    }
  }

  @Test("A route and an action answer the methods that the host lists, and no others")
  func listed() async throws {
    let methods: [String: Set<HTTPRequest.Method>] = [
      "app://order/:id<Int>": [.post], "books.price": [.get, .put],
    ]
    try router.register("app://order/:id<Int>?by", exposure: .remote) { call -> String in
      try call["by"]
    }
    // Another route answers here, though the URL has the form of the first.
    try router.register("app://order/7", exposure: .remote, priority: 1) { _ in }
    try await serving(router, methods: methods) { port in
      let form = ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 5"]
      let post = try await Wire.reply(
        "POST /order/8", form[0], form[1], body: "by=me", from: port)
      #expect(post?.status == 200 && post?.body == #""me""#)
      for (line, status, allow) in [
        ("GET /order/8", 405, "OPTIONS, POST"), ("HEAD /order/8", 405, "OPTIONS, POST"),
        ("OPTIONS /order/8", 204, "OPTIONS, POST"), ("GET /order/7", 204, nil),
        ("POST /order/7", 405, "GET, HEAD, OPTIONS"), ("PUT /books/price?isbn=978", 200, nil),
        ("DELETE /books/price", 405, "GET, HEAD, OPTIONS, PUT"),
      ] {
        let reply = try #require(await Wire.reply(line, from: port))
        #expect(reply.status == status && reply.fields["allow"] == allow, "\(line): \(reply)")
      }
    }
  }

  @Test("What is local and what is missing is the same 404 with every method")
  func lookAlike() async throws {
    // Listing a name makes nothing remote.
    let methods: [String: Set<HTTPRequest.Method>] = [
      "app://storeroom/:shelf<Int>": [.post], "books.sell": [.get, .post],
    ]
    try await serving(router, methods: methods) { port in
      for method in Self.all {
        var replies: Set<String> = []
        for target in [
          "/nothing", "/nothing/here", "/storeroom/7", "/storeroom/x", "/books/sell?isbn=978",
          "/books/nativeSell", "/books/eat", "/book/x",
        ] {
          var reply = try #require(await Wire.reply("\(method) \(target)", from: port))
          #expect(reply.status == 404, "\(method) \(target): \(reply)")
          (reply.fields["x-request-id"], reply.fields["date"]) = (nil, nil)
          replies.insert("\(reply.fields.sorted { $0.key < $1.key }) \(reply.body)")
        }
        #expect(replies.count == 1, "\(replies)")
      }
    }
  }

  @Test(
    "However a call is spelled or redirected, the method is judged where it ends",
    arguments: ["/order/7", "/%6frder/7", "/order/%37", "/old/7"])
  func spellings(_ target: String) async throws {
    try router.register("app://order/:id<Int>", exposure: .remote) { _ in }
    try router.calls.guardCalls(
      "moved", .url("app://old/:id"), then: .redirect(to: .url("app://order/:id")))
    let methods: [String: Set<HTTPRequest.Method>] = ["app://order/:id<Int>": [.post]]
    #expect(try await status("GET \(target)", methods: methods) == 405)
    #expect(try await status("POST \(target)", methods: methods) == 204)
  }

  @Test("Calls that a handler makes have no method")
  func nested() async throws {
    try router.register("app://cart", exposure: .remote) { [router] _ in
      try await router.open("app://book/7")
    }
    #expect(try await status("POST /cart", methods: ["app://cart": [.post]]) == 200)
  }

  @Test("OPTIONS calls nothing, and a guard may refuse it as any other call")
  func options() async throws {
    try router.register("app://order", exposure: .remote) { _ in
      Issue.record("OPTIONS was answered by the handler")
    }
    #expect(try await status("OPTIONS /order") == 204)
    try router.calls.guardCalls("closed", .url("app://order"), then: .refuse("closed"))
    #expect(try await status("OPTIONS /order") == 403)
  }

  @Test("A name that nothing remote has is a warning at the start, with a near name")
  func warnings() async throws {
    let lines = LogLines()
    let methods: [String: Set<HTTPRequest.Method>] = [
      "app://bok/:id<Int>": [.post], "app://book/:id<Int>": [.get], "books.prise": [.post],
      "books.price": [.post], "books.sell": [.post], "app://done?x": [.get],
    ]
    try await serving(router, methods: methods, logger: lines.logger) { _ in }
    let warnings = lines.all.filter { $0.hasPrefix("warning") }
    #expect(warnings.count == 3, "\(warnings)")
    #expect(
      warnings.contains { $0.contains("app://bok/:id<Int>; did you mean app://book/:id<Int>?") })
    #expect(warnings.contains { $0.contains("books.prise") && $0.contains("price") })
    #expect(warnings.contains { $0.contains("books.sell") })
  }

  @Test("A server that has ended judges nothing")
  func ended() async throws {
    func isJudged() -> Bool {
      "\(router.calls.explain("app://done", origin: .remote))".contains("HTTP methods")
    }
    try await serving(router, methods: ["app://done": [.post]]) { _ in #expect(isJudged()) }
    #expect(!isJudged())
  }
}
