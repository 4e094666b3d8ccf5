import Glibc
import TestSupport
import Testing
import Threads

@testable import BeeHive

/// Returns the handler of a signal; 0 for the default.
private func handler(of signal: Int32) -> UInt {
  var action = sigaction()
  unsafe sigaction(signal, nil, &action)
  #if canImport(Glibc)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: UInt.self)
  #else
    return unsafe unsafeBitCast(action.__sa_handler.sa_handler, to: UInt.self)
  #endif
}

/// Runs share the signal handlers of the process, so they happen one after another.
@Suite("Running a Hive until the process is to end", .serialized, .mayHang)
struct RunTests {
  private let hive = Hive()
  private let journal = Journal()

  /// Returns options that observe no memory pressure.
  private func options(
    _ signals: Set<Signal> = [.terminate, .interrupt], limit: Duration? = .seconds(600)
  ) -> RunOptions {
    RunOptions(signals: signals, tearDownLimit: limit, memoryPressure: .none)
  }

  private func raise(_ signals: Signal...) {
    for signal in signals { kill(getpid(), signal.rawValue) }
  }

  @Test(
    "SIGTERM, SIGINT and SIGQUIT end it: willTerminate, then the tearing down",
    arguments: [Signal.terminate, .interrupt, .quit])
  func terminating(signal: Signal) async throws {
    try await hive.probe("a", journal, in: "splash") { _ in raise(signal) }
    let report = try await hive.run(options: options([.terminate, .interrupt, .quit]))
    #expect(report.cause == .signal(signal))
    #expect(report.isComplete)
    #expect(journal.lines.suffix(3) == ["a.willTerminate", "a.tearDown", "a.unmount"])
    #expect(journal.lines.filter { $0 == "a.willTerminate" }.count == 1)
  }

  @Test("what handled a signal before does so again afterwards")
  func handlersRestored() async throws {
    signal(SIGINT) { _ in }
    defer { signal(SIGINT, SIG_DFL) }
    let before = [handler(of: SIGTERM), handler(of: SIGINT)]
    let during = Lock<[UInt]>([])
    try await hive.probe("a", journal, in: "splash") { _ in
      during.withLock { $0 = [handler(of: SIGTERM), handler(of: SIGINT)] }
      raise(.terminate)
    }
    try await hive.run(options: options())
    #expect(during.withLock { $0 }.allSatisfy { !before.contains($0) })
    #expect([handler(of: SIGTERM), handler(of: SIGINT)] == before)
  }

  @Test("only run observes signals; with none it ends when its task is cancelled")
  func noSignals() async throws {
    let before = handler(of: SIGTERM)
    let started = Meeting(of: 2)
    try await hive.probe("a", journal) { step, _ in
      #expect(handler(of: SIGTERM) == before)
      if step == "splash" { await started.attend() }
      // This throws in a cancelled task.
      if step == "tearDown" { try await Task.sleep(for: .milliseconds(1)) }
    }
    let run = Task { try await hive.run(options: options([])) }
    await started.attend()
    run.cancel()
    let report = try await run.value
    #expect(report.cause == .cancelled && report.failures.isEmpty)
    #expect(journal.lines.suffix(3) == ["a.willTerminate", "a.tearDown", "a.unmount"])
  }

  @Test("a signal during the start ends the start")
  func signalDuringStart() async throws {
    try await hive.probe("a", journal, in: "setUp") { _ in
      raise(.terminate)
      // The start's task is cancelled, so this returns at once.
      try? await Task.sleep(for: .seconds(3600))
    }
    try await hive.probe("b", journal)
    let report = try await hive.run(options: options())
    #expect(report.cause == .signal(.terminate) && report.launch == nil)
    #expect(journal.lines.first == "a.setUp" && journal.lines.last == "a.unmount")
    #expect(!journal.lines.contains("b.setUp"))
  }

  @Test("cancelled before it begins, it starts nothing")
  func cancelledBefore() async throws {
    for _ in 0..<100 {
      let hive = Hive()
      try await hive.probe("a", journal)
      let run = Task { try await hive.run(options: options([])) }
      run.cancel()
      #expect(try await run.value.cause == .cancelled)
      #expect(await hive.runningModules.isEmpty)
      let lines = journal.take()
      #expect(lines.filter { $0 == "a.setUp" }.count == lines.filter { $0 == "a.unmount" }.count)
    }
  }

  @Test("a stop just before it is remembered, and for that one run alone")
  func stoppedAhead() async throws {
    await hive.stop()
    try await hive.start()
    await hive.stop()
    await hive.stop()
    #expect(try await hive.run(options: options()).cause == .stopped)
    let isSetUp = Meeting(of: 2)
    try await hive.probe("a", journal, in: "setUp") { _ in await isSetUp.attend() }
    async let run = hive.run(options: options())
    await isSetUp.attend()
    await hive.stop()
    #expect(try await run.cause == .stopped)
  }

  @Test("a start that fails ends it with the reason, and handlers are restored")
  func failingStart() async throws {
    let before = handler(of: SIGTERM)
    try await hive.probe("a", journal) { _, _ in throw Broken() }
    let error = await #expect(throws: LaunchError.self) { try await hive.run(options: options()) }
    #expect(error?.description.contains("setUp: threw Broken") == true)
    #expect(handler(of: SIGTERM) == before)
  }

  @Test("tearing down is limited in time, and the report says that it was cut short")
  func tearDownLimit() async throws {
    let (hive, end) = (Hive(), Meeting(of: 2))
    try await hive.probe("a", journal) { step, _ in
      if step == "splash" { raise(.terminate) }
      // This ignores cancellation, until the test is over.
      if step == "tearDown" { await end.attend() }
    }
    let report = try await hive.run(options: options(limit: .milliseconds(100)))
    #expect(!report.isComplete)
    await end.attend()
  }

  @Test("SIGHUP and others are typed events, SIGTSTP and SIGCONT four of BeeHive, by option")
  func otherSignals() async throws {
    try await hive.probe("a", journal) { step, _ in
      if step == "splash" { raise(.hangUp) }
    } answer: { event, _ in
      switch event.value(as: Signal.self) {
      case .hangUp: raise(.user1)
      case .user1: raise(.suspend)
      default: if event.kind == .didBecomeActive { raise(.terminate) }
      }
      return .handled
    }
    var options = options([.terminate, .hangUp, .user1, .suspend, .resume])
    // This happens instead of really stopping the process, which the tests share.
    options.suspendProcess = { kill(getpid(), SIGCONT) }
    try await hive.run(options: options)
    #expect(
      journal.lines.dropFirst(3) == [
        "a.SIGHUP", "a.SIGUSR1", "a.willResignActive", "a.didEnterBackground",
        "a.willEnterForeground", "a.didBecomeActive", "a.willTerminate", "a.tearDown", "a.unmount",
      ])
  }

  @Test("two Hives that run are both told, and the handlers stay until the last is done")
  func twoHives() async throws {
    let before = handler(of: SIGTERM)
    let hives = [Hive(), Hive()]
    let started = Meeting(of: 3)
    for hive in hives {
      try await hive.probe("a", journal, in: "splash") { _ in await started.attend() }
    }
    async let first = hives[0].run(options: options())
    async let second = hives[1].run(options: options())
    await started.attend()
    raise(.terminate)
    let causes = try await [first.cause, second.cause]
    #expect(causes == [.signal(.terminate), .signal(.terminate)])
    #expect(handler(of: SIGTERM) == before)
  }

  @Test("a signal that cannot be handled is an error, and nothing is left behind")
  func impossibleSignals() async {
    for number in [0, 65, SIGKILL] {
      let error = await #expect(throws: LaunchError.self) {
        try await Hive().run(options: options([Signal(rawValue: number), .terminate]))
      }
      #expect(error?.description.hasPrefix("cannot observe ") == true)
    }
    #expect(handler(of: SIGTERM) == 0)
  }
}
