import BeeHiveRouting
import Testing

@Suite("The end of a body is certain, as RFC 9112 has it", .mayHang)
struct FramingTests {
  let router: Router

  init() throws { router = try Shop.router() }

  private static let form = "Content-Type: application/x-www-form-urlencoded"
  private static let chunks = "8\r\nisbn=978\r\n0\r\n\r\n"

  @Test(
    "Transfer-Encoding: chunked and nothing else, from HTTP/1.1 on, and without Content-Length",
    arguments: [
      (["Transfer-Encoding: chunked"], "1.1", 200),
      (["Transfer-Encoding: Chunked"], "1.1", 200),
      (["Transfer-Encoding: chunked"], "1.0", 400),
      (["Transfer-Encoding: chunked", "Content-Length: 8"], "1.0", 400),
      (["Transfer-Encoding: chunked", "Content-Length: 8"], "1.1", 400),
      (["Content-Length: 8", "Transfer-Encoding: chunked"], "1.1", 400),
      (["Transfer-Encoding: gzip, chunked"], "1.1", 501),
      (["Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], "1.1", 501),
      (["Transfer-Encoding: gzip"], "1.1", 400),
      (["Transfer-Encoding: identity"], "1.1", 400),
      (["Transfer-Encoding: chunked, gzip"], "1.1", 400),
      (["Transfer-Encoding: chunked, chunked"], "1.1", 400),
      (["Transfer-Encoding: chunked;x=1"], "1.1", 400),
      (["Transfer-Encoding:"], "1.1", 400),
      (["Transfer-Encoding : chunked"], "1.1", 400),
      (["Transfer-Encoding: xchunked"], "1.1", 400),
    ])
  func codings(_ fields: [String], _ version: String, _ status: Int) async throws {
    try await refusesOrAnswers(fields, version, Self.chunks, status)
  }

  @Test(
    "Content-Length is one number of 63 bits",
    arguments: [
      (["Content-Length: 8"], 200), (["Content-Length: 008"], 200),
      (["Content-Length: 9223372036854775807"], 413),
      (["Content-Length: 9223372036854775808"], 400),
      (["Content-Length: 18446744073709551615"], 400),
      (["Content-Length: 18446744073709551624"], 400),
      (["Content-Length: 8", "Content-Length: 9"], 400),
      (["Content-Length: 8", "Content-Length: 8"], 400), (["Content-Length: 8, 9"], 400),
      (["Content-Length: +8"], 400), (["Content-Length: -8"], 400), (["Content-Length: 0x8"], 400),
      (["Content-Length: 8 8"], 400), (["Content-Length:"], 400),
    ])
  func lengths(_ fields: [String], _ status: Int) async throws {
    try await refusesOrAnswers(fields, "1.1", "isbn=978", status)
  }

  private func refusesOrAnswers(
    _ fields: [String], _ version: String, _ body: String, _ status: Int
  ) async throws {
    try await serving(router) { port in
      try await Wire.to(port) { wire in
        let head = ["POST /books/price HTTP/\(version)", "Host: x", Self.form] + fields
        try await wire.send(head.map { "\($0)\r\n" }.joined() + "\r\n" + body)
        let reply = try #require(await wire.reply())
        #expect(reply.status == status, "\(fields): \(reply)")
        guard status != 200 else { return }
        // The rest of the connection is not read as a request.
        #expect(reply.fields["connection"] == "close")
        #expect(reply.fields["content-type"] == "application/problem+json")
        #expect(try await wire.rest() == "")
      }
    }
  }

  @Test("Extensions of chunks are skipped, up to a limit, and so are chunks of one byte")
  func extensions() async throws {
    try await serving(router) { port in
      let chunked = "Transfer-Encoding: chunked"
      let single = "isbn=978".map { "1;x=\"y\"\r\n\($0)\r\n" }.joined() + "0\r\nX: y\r\n\r\n"
      let few = try await Wire.reply(
        "POST /books/price", Self.form, chunked, body: single, from: port)
      #expect(few?.body == #"{"euro":3}"#)
      let most = String(repeating: "a", count: 4091)
      let bytes = "isbn=" + most
      let tiny = bytes.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
      let all = try await Wire.reply(
        "POST /books/price", Self.form, chunked, body: tiny, from: port)
      #expect(all?.body == #"{"euro":4091}"#)
      try await Wire.to(port) { wire in
        try await wire.request("POST /books/price", Self.form, chunked)
        // Sends for as long as the server takes it.
        do {
          try await wire.send("8;")
          for _ in 1...100 { try await wire.send(String(repeating: "x", count: 16_384)) }
        } catch {}
        let reply = try await wire.reply()
        #expect(
          reply?.status == 413 && reply?.code == "body-too-long", "\(String(describing: reply))")
      }
    }
  }
}
