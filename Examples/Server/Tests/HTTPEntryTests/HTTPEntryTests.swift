import BeeHiveRouting
import Testing

/// A target with an action for the outside, and one that is not.
private struct BookTarget: Target {
  static let actions: [Action<BookTarget>] = [
    Action("price", [Parameter("isbn", String.self)], isRemote: true) { _, arguments in
      let isbn: String = try arguments["isbn"]
      return ["euro": isbn.utf8.count]
    },
    Action("sell", [Parameter("isbn", String.self)]) { _, _ in true },
    Action("nativeSell") { _, _ in true },
    Action("burn", isRemote: true) { _, _ in throw Secret() },
  ]
}

/// Whose words nobody outside is to read.
private struct Secret: Error, CustomStringConvertible {
  let description = "the password is swordfish"
}

@Suite("HTTP clients reach what is on the allow-list")
struct HTTPEntryTests {
  let router = Router()

  init() throws {
    try router.mediator.register("books") { BookTarget() }
    try router.register("app://book/:id<Int>?from", isRemote: true) { call in
      let (id, from): (Int, String?) = (try call["id"], try call["from"])
      return "book \(id), found by \(from ?? "chance")"
    }
    try router.register("app://done", isRemote: true) { _ in }
    try router.register("app://storeroom") { _ in Issue.record("somebody got in") }
  }

  @Test(
    "Allowed: a route or an action answers, and its value comes as JSON",
    arguments: [
      ("/book/7?from=mail", nil, Reply(status: 200, body: #""book 7, found by mail""#)),
      ("/book/7", nil, Reply(status: 200, body: #""book 7, found by chance""#)),
      ("/book/7", "from=a+form", Reply(status: 200, body: #""book 7, found by a form""#)),
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

  @Test(
    "Refused, with the reason",
    arguments: [
      ("/books/sell?isbn=978", 403, "not-remote"), ("/storeroom", 403, "not-remote"),
      ("/books/nativeSell", 403, "native"), ("/books/%6eAtiveSell", 403, "native"),
      ("/nobody", 404, "no-route"), ("/", 404, "no-route"), ("/book/x", 404, "no-route"),
      ("/books/eat", 404, "no-action"), ("/books/price/now?isbn=978", 404, "no-action"),
      ("/books/price", 400, "missing-parameter"),
      ("/books/price?isbn=1&isbn=2", 400, "wrong-parameter"),
      ("/books/price?isbn=1&module=Secret", 400, "undeclared-parameter"),
    ])
  func refused(_ target: String, _ status: Int, _ code: String) async throws {
    try await serving(router) { port in
      let reply = try await Browser(port: port).ask(target)
      #expect(reply.status == status && reply.error == code, "\(reply)")
    }
  }

  @Test("A handler's own error is not told outside")
  func discreet() async throws {
    try await serving(router) { port in
      let reply = try await Browser(port: port).ask("/books/burn")
      #expect(reply.status == 500 && !reply.body.contains("swordfish"), "\(reply)")
    }
  }

  @Test(
    "Malformed: targets that are no URL, and what is no HTTP at all",
    arguments: [
      ("GET /book/%ZZ", 400, "malformed-url"), ("GET /book/%FF", 400, "malformed-url"),
      ("GET /a/%2e%2e/storeroom", 400, "malformed-url"),
      ("GET /../storeroom", 400, "malformed-url"), ("GET /book/%00", 400, "malformed-url"),
      ("GET http://elsewhere/book/7", 400, "400"), ("OPTIONS *", 400, "400"),
      ("DELETE /book/7", 405, "405"), ("NONSENSE /book/7", 400, nil), ("\u{1}\u{2}\u{3}", 400, nil),
    ] as [(String, Int, String?)])
  func malformed(_ line: String, _ status: Int, _ code: String?) async throws {
    try await serving(router) { port in
      let text = "\(line) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
      let replies = try await Telnet.say(text, to: port)
      #expect(replies.map(\.status) == [status], "\(replies)")
      #expect(replies.first?.error == code)
      #expect(try await Browser(port: port).ask("/done").status == 204, "it serves on")
    }
  }

  @Test("Oversized: a URL, a path, a query, a head, and a body that says its length or does not")
  func oversized() async throws {
    let long = String(repeating: "a", count: 9000)
    try await serving(router) { port in
      for target in [
        "/book/7?from=\(long)", String(repeating: "/a", count: 65),
        "/book/7?" + String(repeating: "a&", count: 257),
      ] {
        let reply = try await Browser(port: port).ask(target)
        #expect(reply.status == 414 && reply.error == "limit-exceeded", "\(reply)")
      }
      let post = "POST /books/price HTTP/1.1\r\nHost: x\r\n"
      for (request, status) in [
        (post + "Content-Length: 5000\r\n\r\nisbn=", 413),
        (post + "Transfer-Encoding: chunked\r\n\r\n2328\r\n\(long)\r\n0\r\n\r\n", 413),
        ("GET /done HTTP/1.1\r\nX: " + String(repeating: long, count: 20) + "\r\n\r\n", 400),
      ] {
        let replies = try await Telnet.say(request, to: port)
        #expect(replies.map(\.status) == [status], "\(replies)")
      }
      #expect(try await Browser(port: port).ask("/done").status == 204, "it serves on")
    }
  }

  @Test("Several requests of one connection are answered in their order")
  func pipelined() async throws {
    try await serving(router) { port in
      let requests = (1...5).map { number in
        "GET /book/\(number) HTTP/1.1\r\nHost: x\r\n\(number == 5 ? "Connection: close\r\n" : "")\r\n"
      }
      let replies = try await Telnet.say(requests.joined(), to: port)
      #expect(replies.map(\.body) == (1...5).map { "\"book \($0), found by chance\"" })
    }
  }

  @Test("1,000 clients at once: none is answered before all have asked, and each gets its own")
  func concurrent() async throws {
    let gate = Gate(1000)
    try router.register("app://meet/:number<Int>", isRemote: true) { call -> Int in
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
        try await group.waitForAll()
      }
    }
  }
}

/// Lets nobody pass until everybody is there.
private actor Gate {
  private var missing: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { missing = count }

  func pass() async {
    missing -= 1
    guard missing > 0 else {
      for one in waiting { one.resume() }
      waiting = []
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }
}
