import BinaryImage
import CBeeHive
import CModules
import Registration
import TestSupport
import Testing
import Threads

@testable import BeeHive

private let words = Journal()
/// The Hive that a test's listener registers a service with.
private let host = Lock<Hive?>(nil)

@Suite("Modules written in C are equals", .serialized, .mayHang)
struct CModuleTests {
  private let hive = Hive()

  init() {
    _ = words.take()
    unsafe c_module_listen { word in unsafe words.write(String(cString: word)) }
  }

  /// Registers a module as a record with `abi=c-module` does.
  private func register(
    _ name: String, _ operations: UnsafePointer<beehive_module_operations>,
    size: Int = MemoryLayout<beehive_module_operations>.size, priority: Int = 0,
    requires: [String] = [], in hive: Hive
  ) throws {
    let table = unsafe c_module_table()
    unsafe table.initialize(
      to: beehive_module_table(
        size: UInt32(MemoryLayout<beehive_module_table>.size),
        version: UInt32(BEEHIVE_MODULE_TABLE_VERSION), operations_size: size,
        operations: operations))
    var attributes = Attributes()
    attributes.abi = "c-module"
    attributes.priority = priority
    attributes.requires = requires
    try hive.register(
      RegisteredEntry(
        kind: .module, name: name, attributes: attributes,
        source: .code(file: "modules.c", line: 1),
        progress: .bound(
          .structure(.moduleTable, RuntimeAddress(rawValue: UInt(bitPattern: table))))))
  }

  @Test("the lifecycle and events, among Swift modules, in one order")
  func lifecycle() async throws {
    try await hive.probe("swift", words, requires: ["c"])
    try unsafe register("c", c_module_recorder(), requires: ["basis"], in: hive)
    try await hive.probe("basis", words)
    let context = Context(hive: hive, environment: .stage, arguments: ["shop", "--open"])
    try await hive.start(context)
    #expect(
      words.take() == [
        "basis.setUp", "set_up stage --open", "swift.setUp", "basis.initialize", "initialize",
        "swift.initialize", "basis.splash", "splash", "swift.splash",
      ])
    let told = try #require(Event(number: 1001, name: "sale", payload: "tea"))
    #expect(await hive.trigger(told).all)
    let bytes = try #require(Event(number: 1002, name: "bytes", payload: [UInt8]("raw".utf8)))
    let outcome = await hive.trigger(bytes)
    #expect(outcome.answers.map(\.response.isHandled) == [true, false, true])
    await hive.trigger(.didBecomeActive)
    #expect(
      words.take().filter { $0.hasPrefix("event") } == [
        "event 1001 sale \"tea\"", "event 1002 bytes \"raw\"", "event 8 didBecomeActive \"\"",
      ])
    await hive.stop()
    #expect(
      words.take() == [
        "swift.tearDown", "tear_down", "basis.tearDown", "swift.unmount", "unmount",
        "basis.unmount",
      ])
  }

  @Test("an operation that answers false is a failure with its reason, and what was done is undone")
  func refusal() async throws {
    try unsafe register("c", c_module_refuser(), in: hive)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(error?.description == "module c (modules.c:1) initialize: answered false: no tea left")
    #expect(words.take().suffix(2) == ["refuse", "unmount"])
  }

  @Test("null operations, and those past the end of an older table, are passed over")
  func missingOperations() async throws {
    try unsafe register("empty", c_module_empty(), in: hive)
    try unsafe register("older", c_module_recorder(), size: c_module_older_size, in: hive)
    #expect(try await hive.start().started == ["empty", "older"])
    #expect(await hive.trigger(.openURL("app://x")).any == false)
    #expect(await hive.stop().isEmpty)
    #expect(words.take().map { $0.prefix(6) } == ["set_up"])
  }

  @Test("C that blocks is given up after its time, while every other thread goes on")
  func blocking() async throws {
    // Waiting for one of them would take for ever.
    let (hive, report) = try await Hive.started(["c"]) { hive, _ in
      for number in 0..<8 { try unsafe register("sleeper\(number)", c_module_sleeper(), in: hive) }
      try unsafe register("c", c_module_recorder(), priority: -1, in: hive)
    }
    #expect(report.failures.count == 8)
    await hive.stop()
    c_module_wake()
  }

  @Test("what a C module registers is there in each of three starts, and gone after each stop")
  func belongings() async throws {
    host.withLock { $0 = hive }
    defer { host.withLock { $0 = nil } }
    unsafe c_module_listen { word in
      let word = unsafe String(cString: word)
      guard word.hasPrefix("set_up"), let hive = host.withLock({ $0 }) else { return }
      #expect(throws: Never.self) { try hive.register(String.self) { _ in word } }
    }
    try unsafe register("c", c_module_recorder(), in: hive)
    for _ in 0..<3 {
      try await hive.start()
      #expect(try hive.service(String.self).hasPrefix("set_up production"))
      await hive.stop()
      #expect(hive.entries.map(\.name) == ["c"])
    }
  }
}
