import Adapters
import BeeHive
import Glibc
import Logging
import ServiceLifecycle
import Synchronization
import Testing
import UnixSignals

/// Lines that several threads write.
private final class Lines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A module that says when it is running, and takes a moment to end.
private struct Shop: Module {
  var name = ""
  var lines = Lines()
  var opened: AsyncStream<Void>.Continuation?

  init() {}

  func splash(_ context: Context) async throws {
    lines.add("\(name) open")
    opened?.yield()
  }

  func tearDown(_ context: Context) async throws {
    // Task.sleep throws in a cancelled task: modules must end undisturbed.
    try await Task.sleep(for: .milliseconds(5))
    lines.add("\(name) closed")
  }

  func handle(_ event: Event, _ context: Context) async throws -> EventResponse {
    lines.add("\(name) \(event.name)")
    return .handled
  }
}

@Suite("A Hive among the services of a group", .serialized, .timeLimit(.minutes(1)))
struct HiveServiceTests {
  /// Returns a Hive of two modules, one requiring the other, and a stream to wait for their start.
  private func shop(_ lines: Lines) async throws -> (hive: Hive, opened: AsyncStream<Void>) {
    let hive = Hive()
    let (stream, opened) = AsyncStream.makeStream(of: Void.self)
    for (name, requires) in [("till", []), ("shop", ["till"])] {
      try await hive.register(module: name, requires: requires) { _ in
        var shop = Shop()
        (shop.name, shop.lines) = (name, lines)
        shop.opened = name == "shop" ? opened : nil
        return shop
      }
    }
    return (hive, stream)
  }

  private func quiet() -> Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

  private static let wholeLife = [
    "till open", "shop open", "till willTerminate", "shop willTerminate", "shop closed",
    "till closed",
  ]

  @Test("graceful shutdown tears the modules down in order, and the group ends well")
  func gracefulShutdown() async throws {
    let lines = Lines()
    let (hive, opened) = try await shop(lines)
    let group = ServiceGroup(services: [hive], logger: quiet())
    async let run: Void = group.run()
    for await _ in opened { break }
    await group.triggerGracefulShutdown()
    try await run
    #expect(lines.all == Self.wholeLife)
    #expect(await hive.runningModules.isEmpty)
  }

  @Test("the group's signal is the group's: it comes as graceful shutdown")
  func signal() async throws {
    let lines = Lines()
    let (hive, opened) = try await shop(lines)
    let group = ServiceGroup(
      services: [hive], gracefulShutdownSignals: [.sigterm], logger: quiet())
    async let run: Void = group.run()
    for await _ in opened { break }
    kill(getpid(), SIGTERM)
    try await run
    #expect(lines.all == Self.wholeLife)
  }

  @Test("a module that does not start ends the group with the reason")
  func failingStart() async throws {
    let hive = Hive()
    try await hive.register(module: "shop", requires: ["till"]) { _ in Shop() }
    let group = ServiceGroup(services: [hive], logger: quiet())
    let error = await #expect(throws: LaunchError.self) { try await group.run() }
    #expect(error?.description.contains("shop") == true)
  }

  @Test("notices go to the log, with levels and with metadata to search for")
  func logging() async throws {
    let lines = Lines()
    let hive = Hive()
    try hive.register(Int.self, instance: 1)
    var logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
    logger.logLevel = .debug
    let observation = hive.log(to: logger)
    try? hive.register(Int.self, instance: 2)
    try await hive.register(module: "till") { _ in Shop() }
    try await hive.start()
    observation.cancel()
    await hive.stop()
    let levels = lines.all.map { $0.prefix { $0 != " " } }
    #expect(levels == ["debug", "error", "debug", "debug", "debug", "debug", "info"])
    #expect(lines.all.dropFirst().first?.contains("already provides it") == true)
    #expect(lines.all.filter { $0.contains("[module=till event=setUp]") }.count == 1)
    #expect(lines.all.last == "info started: till []")
  }
}

/// Writes `level message [module=… event=…]`.
private struct LineHandler: LogHandler {
  let lines: Lines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.trace

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let given = event.metadata ?? [:]
    let fields = ["module", "event"].compactMap { key in given[key].map { "\(key)=\($0)" } }
    lines.add("\(event.level) \(event.message) [\(fields.joined(separator: " "))]")
  }
}
