import Adapters
import BeeHive
import BeeHivePlugins
import BeeHiveRouting
import Configuration
import Crypto
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import ServiceLifecycle
import Testing
import Tracing
import UnixSignals

/// The blocks of Docs/adapters.md are written here: DocumentsTests looks for each of its blocks in this file.
@Suite("The blocks of Docs/adapters.md", .timeLimit(.minutes(1)))
struct PageTests {
  private let hive = Hive()

  /// The set-up that a program's main function does once.
  private static let backends = {
    let backends = (log: InMemoryLogHandler(), metrics: TestMetrics(), tracer: InMemoryTracer())
    LoggingSystem.bootstrap { _ in backends.log }
    MetricsSystem.bootstrap(backends.metrics)
    InstrumentationSystem.bootstrap(backends.tracer)
    return backends
  }()

  @Test("the log")
  func log() async throws {
    let log = Self.backends.log
    hive.log(to: Logger(label: "shop"))
    try await hive.register(module: "till") { _ in Acting() }
    try await hive.start()
    await hive.stop()
    #expect(
      log.entries.map { "\($0.level) \($0.message)" } == ["info started: till", "info stopped"])
  }

  @Test("metrics and traces, whose names are in the tables of the page, and no others")
  func names() async throws {
    let (_, metrics, tracer) = Self.backends
    hive.measure(to: MetricsSystem.factory)
    hive.router.measure(to: MetricsSystem.factory)

    hive.trace(to: InstrumentationSystem.tracer)
    hive.router.trace(to: InstrumentationSystem.tracer)
    try await hive.register(module: "till") { _ in
      Acting { step, hive in
        if step == "splash" { try await hive.router.open("app://price/7") }
        if step == "openURL" { throw Empty() }
      }
    }
    try hive.router.register("app://price/:id<Int>") { call in try call["id"] as Int }
    try hive.calls.guardCalls(
      "other", .url("app://price/7"), then: .redirect(to: .url("app://price/8")))

    let report = try await withSpan("start") { _ in try await hive.start() }
    #expect(report.started == ["till"])
    await hive.trigger(.openURL("app://price/7"))

    let counters = metrics.counters.flatMap { [$0.label] + $0.dimensions.map(\.0) }
    let timers = metrics.timers.flatMap { [$0.label] + $0.dimensions.map(\.0) }
    var names = Set(counters + timers)
    for span in tracer.finishedSpans {
      span.attributes.forEach { name, _ in names.insert(name) }
      for event in span.events {
        names.insert(event.name)
        event.attributes.forEach { name, _ in names.insert(name) }
      }
    }
    let page = try String(
      contentsOf: SignaturesTests.root.appending(path: "Docs/adapters.md"), encoding: .utf8)
    let documented = page.matches(of: /`((?:beehive|error)\.[a-z.]+)`/).map { String($0.output.1) }
    #expect(names == Set(documented))
  }

  @Test("settings")
  func settings() async throws {
    try await hive.register(module: "till") { _ in Reading() }
    let settings = BeeHive.Configuration(defaults: ["currency": "EUR"])
    settings.add(ConfigReader(provider: EnvironmentVariablesProvider()))
    let report = try await hive.start(Context(hive: hive, configuration: settings))
    #expect(report.started == ["till"])
    await hive.stop()
  }

  /// A module that starts only with a variable of the environment that every test process has.
  private struct Reading: Module {
    func setUp(_ context: Context) async throws {
      let path = try context.configuration.value(BeeHive.Configuration.Key<String>("path"))
      #expect(path == ProcessInfo.processInfo.environment["PATH"])
    }
  }

  @Test("signatures")
  func signatures() throws {
    let plugin = try SignaturesTests.plugin()
    defer { try? FileManager.default.removeItem(at: plugin.deletingLastPathComponent()) }
    let owner = Curve25519.Signing.PrivateKey()
    let bytes = owner.publicKey.rawRepresentation

    let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
    hive.plugins.requireSignatures(by: [key])
    try hive.plugins.add(file: plugin.path)

    #expect(try hive.plugins.admission().plugins.first?.refusals.map(\.code) == ["signature"])
    try owner.signature(for: Data(contentsOf: plugin))
      .write(to: URL(filePath: plugin.path + ".sig"))
    hive.plugins.refresh()
    #expect(try hive.plugins.admitted == [plugin.path])
  }

  @Test("flags")
  func flags() throws {
    let table = """
      {"version": 1, "rules": [{"name": "staff", "match": {"url": "flag://new-search"}, "do": {"answer": true},
        "when": [{"context": "email", "endsWith": "@shop.example"}]}]}
      """
    try hive.calls.load(JSONDecoder().decode(DecisionTable.self, from: Data(table.utf8)))
    let flags = FlagProvider(hive.calls)
    let user = FlagContext(
      targetingKey: "u7", attributes: ["email": .string("a@shop.example")])
    let isNew = flags.evaluate("new-search", default: false, context: user)
    #expect(isNew.value && isNew.variant == "staff" && isNew.reason == .targetingMatch)
  }
}

// Serialized with the other tests that signals would end.
extension HiveServiceTests {
  @Test("the block of Docs/adapters.md runs a Hive until its process is to end")
  func page() async throws {
    let hive = Hive()
    let (started, continuation) = AsyncStream.makeStream(of: Void.self)
    hive.observe { if case .started = $0 { continuation.finish() } }
    try await hive.register(module: "till") { _ in Acting() }
    let running = Task {
      let logger = Logger(label: "shop") { _ in SwiftLogNoOpLogHandler() }
      let group = ServiceGroup(
        services: [hive], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
      try await group.run()
    }
    for await _ in started {}
    #expect(await hive.runningModules == ["till"])
    running.cancel()
    _ = await running.result
    #expect(await hive.runningModules.isEmpty)
  }
}
