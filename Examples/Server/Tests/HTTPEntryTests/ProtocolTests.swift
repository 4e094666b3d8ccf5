import BeeHiveRouting
import Testing

@Suite("Requests and answers are as HTTP/1.1 and HTTP/1.0 have them", .mayHang)
struct ProtocolTests {
  let router: Router

  init() throws { router = try Shop.router() }

  @Test("HEAD is answered as GET, without the body, and the connection goes on")
  func head() async throws {
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        try await wire.request("GET /book/7")
        let get = try #require(await wire.reply())
        for target in ["/book/7", "/nothing", "/book/7"] {
          try await wire.request("HEAD \(target)")
          let head = try #require(await wire.reply(hasBody: false))
          #expect(head.status == (target == "/nothing" ? 404 : 200))
          if target != "/nothing" {
            #expect(head.fields["content-length"] == get.fields["content-length"])
            #expect(head.fields["content-type"] == get.fields["content-type"])
          }
        }
        try await wire.request("GET /book/8")
        #expect(try await wire.reply()?.body == #""book 8, found by chance""#)
      }
    }
  }

  @Test("HTTP/1.0 keeps a connection that asks for it, and closes any other")
  func keepAlive() async throws {
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        for number in 1...3 {
          try await wire.request("GET /book/\(number)", "Connection: Keep-Alive", version: "1.0")
          let reply = try #require(await wire.reply())
          #expect(reply.body == "\"book \(number), found by chance\"")
          #expect(reply.fields["connection"] == "keep-alive")
        }
        try await wire.request("GET /book/4", host: nil, version: "1.0")
        let reply = try #require(await wire.reply())
        #expect(reply.status == 200 && reply.fields["connection"] == "close")
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("HTTP/1.1 keeps a connection until the client asks to close it")
  func close() async throws {
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        try await wire.request("GET /done")
        let first = try #require(await wire.reply())
        #expect(first.status == 204 && first.fields["connection"] == nil)
        #expect(first.fields["content-length"] == nil && first.fields["date"] != nil)
        try await wire.request("GET /done", "Connection: close")
        #expect(try await wire.reply()?.fields["connection"] == "close")
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("Several requests of one connection are answered in their order")
  func pipelined() async throws {
    try await serving(router) { port in
      let last = 50
      let requests = (1...last).map { number in
        let close = number == last ? "Connection: close\r\n" : ""
        return "GET /book/\(number) HTTP/1.1\r\nHost: x\r\n\(close)\r\n"
      }
      try await Wire.to(port) { wire in
        try await wire.send(requests.joined())
        for number in 1...last {
          #expect(try await wire.reply()?.body == "\"book \(number), found by chance\"")
        }
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("A client that ends its side after the request still gets its answer")
  func halfClosed() async throws {
    let gate = Gate()
    try router.register("app://wait", exposure: .remote) { _ in
      await gate.pass()
      return "here"
    }
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        try await wire.request("GET /wait")
        wire.endSending()
        await gate.arrived()
        await gate.open()
        #expect(try await wire.reply()?.body == #""here""#)
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("A client that expects it is told to go on, and only when its body will be read")
  func expectations() async throws {
    try await serving(router) { port in
      let type = "Content-Type: application/x-www-form-urlencoded"
      try await Wire.to(port) { wire in
        for _ in 1...2 {
          try await wire.request(
            "POST /books/price", type, "Content-Length: 8", "Expect: 100-continue")
          #expect(try await wire.reply()?.status == 100)
          try await wire.send("isbn=978")
          #expect(try await wire.reply()?.body == #"{"euro":3}"#)
        }
      }
      let expect = "Expect: 100-continue"
      let long = try await Wire.reply(
        "POST /books/price", type, "Content-Length: 999999", expect, from: port)
      #expect(long?.status == 413 && long?.fields["connection"] == "close")
      let text = try await Wire.reply(
        "POST /books/price", "Content-Length: 8", expect, from: port)
      #expect(text?.status == 415)
      let other = try await Wire.reply("GET /done", "Expect: miracles", from: port)
      #expect(other?.status == 417 && other?.code == "expectation-failed")
      let old = try await Wire.reply(
        "POST /books/price", type, "Content-Length: 8", expect, version: "1.0", body: "isbn=978",
        from: port)
      #expect(old?.status == 200)
    }
  }

  @Test(
    "The body of a POST is a form",
    arguments: [
      ("application/x-www-form-urlencoded", "isbn=978", 200),
      ("Application/X-WWW-Form-urlencoded; charset=utf-8", "isbn=978", 200),
      ("application/json", "{}", 415), ("text/plain", "isbn=978", 415),
      ("application/x-www-form-urlencoded", "isbn=97#8", 400),
      ("application/x-www-form-urlencoded", "isbn=%ZZ", 400),
    ])
  func forms(_ type: String, _ form: String, _ status: Int) async throws {
    try await serving(router) { port in
      let reply = try await Wire.reply(
        "POST /books/price", "Content-Type: \(type)", "Content-Length: \(form.utf8.count)",
        body: form, from: port)
      #expect(reply?.status == status, "\(String(describing: reply))")
    }
  }

  @Test("A form that ends before its length does is not opened")
  func truncatedForm() async throws {
    try router.register("app://order?book", exposure: .remote) { _ in
      Issue.record("half a form was taken for all of it")
    }
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        try await wire.request(
          "POST /order", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 99")
        try await wire.send("book=978")
        wire.endSending()
        #expect(try await wire.reply()?.status == 400)
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("Host is required once, from HTTP/1.1 on")
  func hosts() async throws {
    try await serving(router) { port in
      let none = try await Wire.reply("GET /done", host: nil, from: port)
      #expect(none?.status == 400 && none?.code == "malformed-request")
      #expect(none?.fields["connection"] == "close" && none?.fields["x-request-id"] != nil)
      let two = try await Wire.reply("GET /done", "Host: other", from: port)
      #expect(two?.status == 400)
      let old = try await Wire.reply("GET /done", host: nil, version: "1.0", from: port)
      #expect(old?.status == 204)
    }
  }

  @Test(
    "No other path leads to a book",
    arguments: [
      "/x@book/7", "/book:99/7", "//book/7", "///book/7", "/x:y@book/7", "/book@/7", "/:@book/7",
      "/%2fbook/7", "/x%40book/7", "/[book]/7", #"/x\@book/7"#, "/app:/book/7", "/app://book/7",
      "/book%2F7", "/?/book/7", "/./book/7", "/x/../book/7", "/book/7#x", "/book/7%00",
    ])
  func paths(_ target: String) async throws {
    try await serving(router) { port in
      let reply = try #require(await Wire.reply("GET \(target)", from: port))
      #expect([400, 404].contains(reply.status), "\(reply)")
      #expect(!reply.body.contains("found by"))
    }
  }

  @Test(
    "Malformed: targets that are no path, and what is no HTTP at all",
    arguments: [
      ("GET /book/%ZZ", 400, "malformed-url"), ("GET /book/%FF", 400, "malformed-url"),
      ("GET /a/%2e%2e/storeroom", 400, "malformed-url"),
      ("GET http://elsewhere/book/7", 400, "malformed-url"),
      ("OPTIONS *", 400, "malformed-url"), ("GET *", 400, "malformed-url"),
      ("CONNECT book:7", 400, "malformed-url"), ("GET app://book/7", 400, "malformed-url"),
      ("NONSENSE /book/7", 400, "malformed-request"),
      ("\u{1}\u{2}\u{3}", 400, "malformed-request"),
    ])
  func malformed(_ line: String, _ status: Int, _ code: String) async throws {
    try await serving(router) { port in
      let reply = try #require(await Wire.reply(line, from: port))
      #expect(reply.status == status && reply.code == code, "\(reply)")
      #expect(reply.fields["content-type"] == "application/problem+json")
      #expect(try await Wire.reply("GET /done", from: port)?.status == 204, "it serves on")
    }
  }

  @Test("Oversized: a URL, a path, a query, a head, and a body that says its length or does not")
  func oversized() async throws {
    let long = String(repeating: "a", count: 9000)
    try await serving(router) { port in
      for target in [
        "/book/7?from=\(long)", "/" + String(repeating: "a/", count: 65),
        "/book/7?" + String(repeating: "a&", count: 257),
      ] {
        let reply = try await Wire.reply("GET \(target)", from: port)
        #expect(reply?.status == 414 && reply?.code == "limit-exceeded")
      }
      let form = "Content-Type: application/x-www-form-urlencoded"
      let said = try await Wire.reply(
        "POST /books/price", form, "Content-Length: 5000", body: "isbn=", from: port)
      #expect(said?.status == 413 && said?.code == "body-too-long")
      #expect(said?.fields["connection"] == "close", "the rest of the body is no request")
      let unsaid = try await Wire.reply(
        "POST /books/price", form, "Transfer-Encoding: chunked",
        body: "2328\r\n\(long)\r\n0\r\n\r\n", from: port)
      #expect(unsaid?.status == 413)
      let head = try await Wire.reply(
        "GET /done", "X: " + String(repeating: long, count: 2), from: port)
      #expect(head?.status == 431 && head?.code == "head-too-long")
      #expect(try await Wire.reply("GET /done", from: port)?.status == 204, "it serves on")
    }
  }
}
