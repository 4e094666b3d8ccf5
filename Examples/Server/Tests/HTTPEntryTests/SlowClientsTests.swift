import BeeHiveRouting
import Glibc
import HTTPEntry
import NIOCore
import NIOPosix
import Testing

@Suite("Slow clients hold nothing for longer than the limits", .serialized, .mayHang)
struct SlowClientsTests {
  /// A client that stops in the middle.
  enum Slow: String, CaseIterable {
    case silent = ""
    case halfHead = "GET /done HTTP/1.1\r\nHost: x\r\n"
    case halfBody = """
      POST /books/price HTTP/1.1\r
      Host: x\r
      Content-Type: application/x-www-form-urlencoded\r
      Content-Length: 99\r
      \r
      isbn=
      """
    case unread = "GET /long HTTP/1.1\r\nHost: x\r\n\r\n"
    case unreadLast = "GET /long HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

    /// Connects, and sends what it has. It is closed when the server has closed or cut the connection.
    func connect(to port: Int) async throws -> any Channel {
      let isReading = self != .unread && self != .unreadLast
      let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .channelOption(.autoRead, value: isReading)
        // So that the system takes little of an answer that is not read: 100 kB.
        .channelOption(.socketOption(.so_rcvbuf), value: 4096)
        .channelOption(.tcpOption(.init(rawValue: TCP_MAXSEG)), value: 536)
        .connect(host: "127.0.0.1", port: port).get()
      try await channel.writeAndFlush(ByteBuffer(string: rawValue))
      return channel
    }
  }

  @Test(
    "1,000 of each are gone after a limit, and others are served meanwhile",
    arguments: Slow.allCases)
  func gone(_ slow: Slow) async throws {
    try await trying([2, 10, 60]) { seconds in
      let router = try Shop.router()
      let long = String(repeating: "x", count: 250_000)
      try router.register("app://long", exposure: .remote) { _ in long }
      var limits = ServerLimits.patient
      (limits.headSeconds, limits.bodySeconds) = (seconds, seconds)
      (limits.sendSeconds, limits.closeSeconds) = (seconds, seconds)
      var isServed = true
      try await serving(router, limits) { port in
        let clients = try await withThrowingTaskGroup(of: (any Channel).self) { group in
          for _ in 1...1000 { group.addTask { try await slow.connect(to: port) } }
          return try await group.reduce(into: [any Channel]()) { $0.append($1) }
        }
        for number in 1...10 {
          let reply = try? await Wire.reply("GET /book/\(number)", from: port)
          isServed = isServed && reply?.status == 200
        }
        // Meanwhile: all of them are still there.
        isServed = isServed && clients.allSatisfy(\.isActive)
        for client in clients { try await client.closeFuture.get() }
      }
      return isServed
    }
  }

  @Test("An answer that is taken slowly, and in time, comes whole, also where it is the last")
  func slowReader() async throws {
    let router = try Shop.router()
    let long = String(repeating: "x", count: 8_000_000)
    try router.register("app://long", exposure: .remote) { _ in long }
    try await serving(router) { port in
      for field in ["Connection: close", "Connection: keep-alive"] {
        try await Wire.to(port) { wire in
          try await wire.request("GET /long", field)
          // The client ends its side while the answer is on its way.
          wire.endSending()
          let reply = try await wire.reply()
          #expect(reply?.body.utf8.count == 8_000_002)
        }
      }
    }
  }
}
