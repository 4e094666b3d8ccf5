import Glibc
import TestSupport
import Testing
import Threads

@testable import BeeHive

/// Modules block more threads than the pool has, until the test is over. Code that waits for such a module,
/// or for its thread, hangs.
@Suite("Limits hold when code blocks", .mayHang)
struct BlockingTests {
  private let journal = Journal()
  private let gate = Gate()
  private let many = 2 * POSIXThread.processors + 2

  private func running(_ hive: Hive, limit: Duration) async throws -> Task<RunReport, any Error> {
    let options = RunOptions(signals: [], tearDownLimit: limit, memoryPressure: .none)
    let run = Task { try await hive.run(options: options) }
    #expect(try await Patience.wait { await !hive.runningModules.isEmpty })
    return run
  }

  @Test("run returns when its limit has passed although handlers block, and its report names them")
  func handlers() async throws {
    let hive = Hive()
    let count = Counter()
    try await hive.listener("shop", journal) { [gate] _, _ in
      count.next()
      gate.wait()
      return .handled
    }
    let run = try await running(hive, limit: .milliseconds(100))
    let triggers = (0..<many).map { _ in Task { await hive.trigger(Event(Broken())) } }
    #expect(try await Patience.wait { count.count == many })
    run.cancel()
    let report = try await run.value
    #expect(report.cause == .cancelled && !report.isComplete)
    let blocked = report.hanging.filter { $0.event == "Broken" }
    #expect(blocked.count == many)
    #expect(
      "\(report)".hasPrefix(
        "cancelled; not torn down within the limit\nmodule shop has been in Broken for "))
    gate.open()
    for trigger in triggers { #expect(await trigger.value.any) }
    #expect(await hive.stop().isEmpty)
  }

  @Test("a tearDown that blocks is named, beside what failed before it")
  func tearDown() async throws {
    let report = try await Patience.trying { limit in
      let hive = Hive()
      try await hive.probe("deaf", journal, in: "tearDown") { [gate] _ in gate.wait() }
      try await hive.probe("poor", journal, failing: "tearDown")
      let run = try await running(hive, limit: limit)
      run.cancel()
      return try await run.value
    } until: {
      !$0.hanging.isEmpty && !$0.failures.isEmpty
    }
    #expect(report.hanging.map { "\($0.module).\($0.event)" } == ["deaf.tearDown"])
    #expect(report.failures.map(\.module) == ["poor"])
    #expect(!report.isComplete)
    gate.open()
  }

  @Test("the limits of concurrent steps count each, however many of them block")
  func concurrentSteps() async throws {
    let (hive, report) = try await Hive.started(["quick"]) { hive, _ in
      for number in 0..<many {
        try await hive.probe("deaf\(number)", journal, isConcurrent: true, in: "initialize") {
          [gate] _ in gate.wait()
        }
      }
      try await hive.probe("quick", journal)
    }
    #expect(report.failures.count == many)
    for failure in report.failures { #expect(failure.isOverdue, "\(failure)") }
    gate.open()
    await hive.stop()
  }

  @Test("a step that waits for a requirement has its whole time after that")
  func requirement() async throws {
    let (hive, _) = try await Hive.started(["a", "b", "c"]) { hive, limit in
      for (name, requires) in [("a", []), ("b", ["a"]), ("c", ["b"])] {
        try await hive.probe(
          name, journal, requires: requires, isConcurrent: true, in: "initialize"
        ) { _ in
          // Each step is within its limit, but all together are not.
          usleep(UInt32(limit / .microseconds(2)))
        }
      }
    }
    await hive.stop()
  }

  @Test("an initialiser of a type that blocks is given up too")
  func make() async throws {
    let (hive, report) = try await Hive.started(["quick"]) { hive, _ in
      try await hive.register(module: "stuck") { [gate] hive in
        try hive.register(Int.self) { _ in 1 }
        gate.wait()
        return Probe()
      }
      try await hive.probe("quick", journal)
    }
    #expect(report.failures.map { "\($0.module) \($0.event)" } == ["stuck make"])
    #expect(throws: ServiceError.self) { try hive.service(Int.self) }
    gate.open()
  }

  @Test("a second signal while modules are torn down ends the process at once: 128 and its number")
  func secondSignal() async {
    // Each runs in its own process, because a signal reaches every Hive of a process.
    await #expect(processExitsWith: .exitCode(143)) { try await BlockingTests.beImpatient(SIGTERM) }
    await #expect(processExitsWith: .exitCode(130)) { try await BlockingTests.beImpatient(SIGINT) }
  }

  /// Runs a Hive whose module never ends, and sends two signals.
  static func beImpatient(_ signal: Int32) async throws {
    let hive = Hive()
    try await hive.probe("deaf") { step, _ in
      if step == "splash" { kill(getpid(), SIGTERM) }
      if step == "tearDown" {
        kill(getpid(), signal)
        Gate().wait()
      }
    }
    try await hive.run(options: RunOptions(tearDownLimit: nil, memoryPressure: .none))
  }
}

/// A gate that blocks threads until it opens.
final class Gate: Sendable {
  private let isOpen = Lock(false)

  func wait() { isOpen.wait { $0 ? () : nil } }
  func open() { isOpen.change { $0 = true } }
}
