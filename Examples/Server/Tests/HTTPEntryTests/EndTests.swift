import BeeHive
import BeeHiveRouting
import Glibc
import HTTPEntry
import Logging
import ServiceLifecycle
import Testing

/// A module that logs when it is started and when it is torn down.
private struct Till: Module {
  var lines = LogLines()

  init() {}
  init(_ lines: LogLines) { self.lines = lines }

  func splash(_ context: Context) async throws { lines.logger.info("till is open") }
  func tearDown(_ context: Context) async throws { lines.logger.info("till is closed") }
}

@Suite("A server that is told to end finishes what runs", .serialized, .mayHang)
struct EndTests {
  @Test("SIGTERM: running requests are answered, then the modules are torn down, then it ends")
  func sigterm() async throws {
    let (hive, gate, lines) = (Hive(), Gate(), LogLines())
    try await hive.register(module: "till") { _ in Till(lines) }
    try hive.router.register("app://wait", exposure: .remote) { _ in
      await gate.pass()
      lines.logger.info("answered")
      return "here"
    }
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let group = ServiceGroup(
      serving: hive, scheme: "app", port: 0, limits: .patient,
      logger: .silent,
      onListening: {
        lines.logger.info("listening")
        continuation.yield($0)
      })
    async let run: Void = group.run()
    for await port in ports {
      try await Wire.to(port) { idle in
        try await idle.request("GET /nothing")
        _ = try await idle.reply()
        try await Wire.to(port) { running in
          try await running.request("GET /wait")
          await gate.arrived()
          kill(getpid(), SIGTERM)
          // A connection without a request is closed at once: so the signal has arrived.
          #expect(try await idle.rest() == "")
          await #expect(throws: (any Error).self, "no new client is accepted") {
            try await Wire.to(port) { _ in }
          }
          await gate.open()
          let reply = try await running.reply()
          #expect(reply?.body == #""here""# && reply?.fields["connection"] == "close")
          #expect(try await running.rest() == "")
        }
      }
      break
    }
    try await run
    let order = lines.all.map { $0.dropFirst(5).dropLast(3) }
    #expect(order == ["till is open", "listening", "answered", "till is closed"])
  }

  @Test("A request of which a part has arrived is read to its end and answered")
  func partOfARequest() async throws {
    let hive = Hive()
    try hive.router.register("app://order?book", exposure: .remote) { call -> String in
      try call["book"]
    }
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let group = ServiceGroup(
      serving: hive, scheme: "app", port: 0, limits: .patient, methods: Shop.methods,
      logger: .silent, onListening: { continuation.yield($0) })
    async let run: Void = group.run()
    for await port in ports {
      try await Wire.to(port) { idle in
        try await idle.request("GET /nothing")
        _ = try await idle.reply()
        try await Wire.to(port) { wire in
          try await wire.request(
            "POST /order", "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: 8", "Expect: 100-continue")
          #expect(try await wire.reply()?.status == 100)
          await group.triggerGracefulShutdown()
          #expect(try await idle.rest() == "")
          try await wire.send("book=978")
          let reply = try await wire.reply()
          #expect(reply?.body == #""978""# && reply?.fields["connection"] == "close")
        }
      }
      break
    }
    try await run
  }

  @Test("Where a module does not start, the server does not listen, and the reason is told")
  func failedStart() async throws {
    let hive = Hive()
    try await hive.register(module: "shop", requires: ["till"]) { _ in Till(LogLines()) }
    let group = ServiceGroup(
      serving: hive, scheme: "app", port: 0, limits: .patient, logger: .silent,
      onListening: { _ in Issue.record("it listens") })
    let error = await #expect(throws: LaunchError.self) { try await group.run() }
    #expect(error?.description.contains("till") == true)
  }

  @Test("A handler that does not end is not waited for longer than the limit")
  func endless() async throws {
    let hive = Hive()
    let gate = Gate()
    try hive.router.register("app://endless", exposure: .remote) { _ in
      await gate.pass()
      try await Task.sleep(for: .seconds(3600))
    }
    var limits = ServerLimits.patient
    limits.endSeconds = 1
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let group = ServiceGroup(
      serving: hive, scheme: "app", port: 0, limits: limits,
      logger: .silent,
      onListening: { continuation.yield($0) })
    async let run: Void = group.run()
    await gate.open()
    for await port in ports {
      try await Wire.to(port) { wire in
        try await wire.request("GET /endless")
        await gate.arrived()
        await group.triggerGracefulShutdown()
        let reply = try await wire.reply()
        #expect(reply == nil || reply?.status == 500)
      }
      break
    }
    try? await run
  }
}
