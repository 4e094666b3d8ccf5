import BeeHiveRouting
import Testing

@Suite("HTTP clients reach what is on the allow-list", .mayHang)
struct HTTPEntryTests {
  let router: Router

  init() throws { router = try Shop.router() }

  @Test(
    "Allowed: a route or an action answers, and its value comes as JSON",
    arguments: [
      ("/book/7?from=mail", nil, Reply(status: 200, body: #""book 7, found by mail""#)),
      ("/book/7", nil, Reply(status: 200, body: #""book 7, found by chance""#)),
      ("/book/7", "from=a+form", Reply(status: 200, body: #""book 7, found by a form""#)),
      ("/book/7?from=%26%3d%23", nil, Reply(status: 200, body: #""book 7, found by &=#""#)),
      ("/books/price?isbn=978", nil, Reply(status: 200, body: #"{"euro":3}"#)),
      ("/books/price", "isbn=97%38", Reply(status: 200, body: #"{"euro":3}"#)),
      ("/done", nil, Reply(status: 204, body: "")),
    ])
  func allowed(_ target: String, _ form: String?, _ reply: Reply) async throws {
    try await serving(router) { port in
      let heard = try await Browser(port: port).ask(target, posting: form)
      #expect(heard == reply)
    }
  }

  @Test("What is local and what is missing look alike")
  func lookAlike() async throws {
    try await serving(router) { port in
      var replies: Set<String> = []
      for target in [
        "/nothing/here", "/", "/book/x", "/storeroom/7", "/storeroom/x", "/books/sell?isbn=978",
        "/books/sell", "/books/sell?x=1", "/books/nativeSell", "/books/%6eAtiveSell", "/books/eat",
        "/books/price/now?isbn=978", "/nothing/nativeSell",
      ] {
        var reply = try #require(await Wire.reply("GET \(target)", from: port))
        #expect(reply.status == 404, "\(target): \(reply)")
        #expect(reply.fields["content-type"] == "application/problem+json")
        #expect(reply.fields.removeValue(forKey: "x-request-id") != nil)
        reply.fields["date"] = nil
        replies.insert("\(reply.status) \(reply.fields.sorted { $0.key < $1.key }) \(reply.body)")
      }
      #expect(replies.count == 1, "\(replies)")
    }
  }

  @Test(
    "A wrong parameter is named",
    arguments: [
      ("/books/price", "missing-parameter", "isbn"),
      ("/books/price?isbn=1&isbn=2", "wrong-parameter", "isbn"),
      ("/books/price?isbn=1&module=Secret", "undeclared-parameter", "module"),
    ])
  func parameters(_ target: String, _ code: String, _ key: String) async throws {
    try await serving(router) { port in
      let reply = try #require(await Wire.reply("GET \(target)", from: port))
      #expect(reply.status == 400 && reply.code == code && reply.member("key") == key, "\(reply)")
      #expect(reply.member("type") == "about:blank" && reply.member("title") == "Bad Request")
      #expect(reply.member("status") == "400", "\(reply)")
    }
  }

  @Test("No refusal has a name, a file or a line of the server's")
  func discreet() async throws {
    try await serving(router) { port in
      for target in [
        "/books/price", "/books/price?isbn=1&x=2", "/books/sell?isbn=1", "/storeroom/7", "/opaque",
        "/books/burn", "/clumsy", "/lost", "/book/7?from=1&from=2",
      ] {
        let reply = try #require(await Wire.reply("GET \(target)", from: port))
        #expect(reply.status >= 400)
        for word in [
          "swift", "Shop", "books", "sell", "ledger", "vault", "app:", "Opaque", "password",
        ] {
          #expect(!reply.body.contains(word), "\(target): \(reply)")
        }
      }
    }
  }

  @Test(
    "What a handler throws is the server's failure, a refusal of its own calls too",
    arguments: ["/books/burn", "/clumsy", "/lost", "/opaque"])
  func handlerErrors(_ target: String) async throws {
    try await serving(router) { port in
      let reply = try #require(await Wire.reply("GET \(target)", from: port))
      #expect(reply.status == 500 && reply.code == "internal-error", "\(reply)")
      #expect(reply.member("key") == nil)
    }
  }

  @Test("The operator's log has the whole reason, under the number that the client has")
  func log() async throws {
    let lines = LogLines()
    // A handler's error may quote the client.
    try router.register("app://echo/:text", exposure: .remote) { call -> Int in
      throw Echo(text: try call["text"])
    }
    try await serving(router, logger: lines.logger) { port in
      for (target, reason) in [
        ("/books/sell?isbn=978", "books.sell"), ("/books/burn", "swordfish"),
        ("/clumsy", "isbn"), ("/storeroom/7", "not-remote"),
      ] {
        let reply = try #require(await Wire.reply("GET \(target)", from: port))
        let id = try #require(reply.fields["x-request-id"])
        let found = lines.all.filter { $0.contains(reason) && $0.contains(id) }
        #expect(found.count == 1, "\(lines.all)")
      }
      _ = try await Wire.reply("GET /echo/%0aforged", from: port)
      _ = try await Wire.reply("GET /book/7?from=%0aforged&from=2", from: port)
      _ = try await Wire.reply("GET /books/price?isbn=1&%0aforged=2", from: port)
    }
    #expect(lines.all.allSatisfy { !$0.contains("\n") }, "\(lines.all)")
    #expect(lines.all.contains { $0.contains("Echo") && $0.contains("forged") })
  }

  @Test("1,000 clients at once: none is answered before all have asked, and each gets its own")
  func concurrent() async throws {
    let gate = Gate()
    try router.register("app://meet/:number<Int>", exposure: .remote) { call -> Int in
      await gate.pass()
      return try call["number"]
    }
    try await serving(router) { port in
      let browser = Browser(port: port, connections: 1000)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<1000 {
          group.addTask {
            let reply = try await browser.ask("/meet/\(number)")
            #expect(reply == Reply(status: 200, body: "\(number)"))
          }
        }
        await gate.arrived(1000)
        await gate.open()
        try await group.waitForAll()
      }
    }
  }
}

/// An error with words of a client.
private struct Echo: Error, CustomStringConvertible {
  let text: String
  var description: String { "Echo of \(text)" }
}
