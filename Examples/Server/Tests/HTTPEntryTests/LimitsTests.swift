import BeeHive
import BeeHiveRouting
import HTTPEntry
import Testing

@Suite("No client takes more of the server than its limits say", .mayHang)
struct LimitsTests {
  let router: Router

  init() throws { router = try Shop.router() }

  @Test("200 slow clients do not keep others from being served, and are closed")
  func slowClients() async throws {
    try await trying { seconds in
      var limits = ServerLimits.patient
      limits.headSeconds = seconds
      var isServed = true
      try await serving(router, limits) { port in
        try await withThrowingTaskGroup(of: String.self) { group in
          let connected = Gate()
          for number in 0..<200 {
            group.addTask {
              try await Wire.to(port) { wire in
                await connected.pass()
                // Sends a byte each time, so that the connection is never without one for long.
                do {
                  try await wire.send("GET /book/\(number) HTTP/1.1\r\nHost: x\r\n")
                  while true {
                    try await wire.send("X")
                    try await Task.sleep(for: .milliseconds(50))
                  }
                } catch {}
                return try await wire.rest()
              }
            }
          }
          await connected.arrived(200)
          await connected.open()
          for number in 1...20 {
            let reply = try? await Wire.reply("GET /book/\(number)", from: port)
            isServed = isServed && reply?.status == 200
          }
          for try await rest in group { #expect(rest == "") }
        }
      }
      return isServed
    }
  }

  @Test("A body that comes too slowly is answered with 408, and is not opened")
  func slowBody() async throws {
    try router.register("app://order?book", exposure: .remote) { _ in
      Issue.record("half a form was taken for all of it")
    }
    var limits = ServerLimits.patient
    limits.bodySeconds = 1
    try await serving(router, limits) { port in
      let reply = try await Wire.reply(
        "POST /order", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 99",
        body: "book=978", from: port)
      #expect(reply?.status == 408 && reply?.code == "timeout")
      #expect(reply?.fields["connection"] == "close")
    }
  }

  @Test("A connection without a request is closed, one whose handler takes its time is not")
  func idle() async throws {
    try await trying { seconds in
      var limits = ServerLimits.patient
      (limits.headSeconds, limits.bodySeconds, limits.idleSeconds) = (seconds, seconds, seconds)
      let (router, gate) = (try Shop.router(), Gate())
      try router.register("app://wait", exposure: .remote) { _ in
        await gate.pass()
        return "here"
      }
      var isServed = true
      try await serving(router, limits) { port in
        try await Wire.to(port) { waiting in
          try? await waiting.request("GET /wait")
          // Closed later than the others would be, if it were.
          for _ in 1...2 {
            let silence = try await Wire.to(port) { try await $0.rest() }
            #expect(silence == "")
            try await Wire.to(port) { idle in
              try? await idle.request("GET /done")
              let status = try await idle.reply()?.status
              isServed = isServed && status == 204
              #expect(try await idle.rest() == "")
            }
          }
          await gate.open()
          let reply = try await waiting.reply()
          isServed = isServed && reply?.body == #""here""#
        }
      }
      return isServed
    }
  }

  @Test("A client that does not close a connection that has ended is cut off")
  func unclosed() async throws {
    var limits = ServerLimits.patient
    limits.closeSeconds = 1
    try await serving(router, limits) { port in
      try await Wire.to(port, staysOpen: true) { wire in
        try await wire.request("GET /done", "Connection: close")
        #expect(try await wire.reply()?.status == 204)
        #expect(try await wire.rest() == "")
        // The server reads this until it has cut the connection.
        do {
          while true {
            try await wire.send("x")
            try await Task.sleep(for: .milliseconds(50))
          }
        } catch {}
      }
    }
  }

  @Test("A connection beyond the limit is refused with 503, while the others are served")
  func connections() async throws {
    let gate = Gate()
    try router.register("app://wait", exposure: .remote) { _ in
      await gate.pass()
      return "here"
    }
    var limits = ServerLimits.patient
    limits.connections = 5
    try await serving(router, limits) { port in
      try await withThrowingTaskGroup(of: Reply?.self) { group in
        for _ in 0..<5 { group.addTask { try await Wire.reply("GET /wait", from: port) } }
        await gate.arrived(5)
        for _ in 0..<20 {
          // The answer comes before the client asks anything.
          try await Wire.to(port) { wire in
            let reply = try #require(await wire.reply())
            #expect(reply.status == 503 && reply.code == "too-many-connections", "\(reply)")
            #expect(reply.fields["connection"] == "close")
            #expect(reply.fields["retry-after"].flatMap { Int($0) } == limits.headSeconds)
            #expect(reply.fields["content-type"] == "application/problem+json")
            #expect(reply.fields["x-request-id"] != nil)
            #expect(try await wire.rest() == "")
          }
        }
        await gate.open()
        for try await reply in group { #expect(reply?.body == #""here""#) }
      }
      // There is room again once the server has seen that they are closed.
      var status: Int?
      while status != 204 { status = try? await Wire.reply("GET /done", from: port)?.status }
    }
  }

  @Test("Of refused clients that do not close few are open at a time, and each is cut off")
  func refusedConnections() async throws {
    var limits = ServerLimits.patient
    (limits.connections, limits.closeSeconds) = (1, 1)
    try await serving(router, limits) { port in
      try await Wire.to(port) { served in
        try await served.request("GET /done")
        #expect(try await served.reply()?.status == 204)
        try await withThrowingTaskGroup(of: Int?.self) { group in
          for _ in 0..<150 {
            group.addTask {
              try await Wire.to(port, staysOpen: true) { wire in
                let status = try await wire.reply()?.status
                // The server reads this until it has cut the connection.
                do {
                  while true {
                    try await wire.send("x")
                    try await Task.sleep(for: .milliseconds(50))
                  }
                } catch {}
                return status
              }
            }
          }
          for try await status in group { #expect(status == 503) }
        }
        try await served.request("GET /done")
        #expect(try await served.reply()?.status == 204)
      }
    }
  }

  @Test("Limits are settings; one that is no limit is refused by name")
  func settings() throws {
    let configuration = Configuration()
    #expect(try ServerLimits(configuration) == ServerLimits())
    configuration.add(file: "server.json", ["http": .object(["idle-seconds": .int(7)])])
    configuration.set(.string("9"), for: "http.connections")
    let limits = try ServerLimits(configuration)
    #expect(limits.idleSeconds == 7 && limits.connections == 9 && limits.sendSeconds == 10)
    for value in [ConfigurationValue.int(0), .int(-1), .int(.max), .string("many")] {
      configuration.set(value, for: "http.body-bytes")
      let error = #expect(throws: BeeHive.Problem.self) { try ServerLimits(configuration) }
      #expect(error?.message.contains("http.body-bytes") == true)
    }
  }
}
