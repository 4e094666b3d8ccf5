import BeeHive
import Synchronization
import TestSupport
import Testing

@Suite("Starting and stopping modules")
struct LaunchTests {
  private let hive = Hive()
  private let journal = Journal()

  @Test("setUp of all, then initialize, then splash; tearDown and unmount reversed")
  func steps() async throws {
    try await hive.probe("c", journal, requires: ["b"])
    try await hive.probe("b", journal, requires: ["a"])
    try await hive.probe("a", journal)
    let report = try await hive.start()
    #expect(report.started == ["a", "b", "c"])
    #expect(await hive.runningModules == ["a", "b", "c"])
    #expect(
      journal.take() == "abc".steps("setUp") + "abc".steps("initialize") + "abc".steps("splash"))
    #expect(await hive.stop().isEmpty)
    #expect(journal.take() == "cba".steps("tearDown") + "cba".steps("unmount"))
    #expect(await hive.runningModules.isEmpty)
  }

  @Test("async initialisers run beside each other; splash, and who requires them, await them")
  func concurrentInitialize() async throws {
    let meeting = Meeting(of: 2)
    for name in ["a", "b"] {
      try await hive.probe(name, journal, priority: 9, isConcurrent: true, in: "initialize") { _ in
        // Each waits for the other, so only two that run at the same time go on.
        await meeting.attend()
      }
    }
    // Long enough for a start that does not wait to go on, also on a busy machine.
    let sleeps: Probe.Action = { step, _ in
      if step == "initialize" { try await Task.sleep(for: .milliseconds(500)) }
    }
    try await hive.probe("c", journal, isConcurrent: true, sleeps)
    try await hive.probe("d", journal, requires: ["c"])
    try await hive.probe("e", journal, requires: ["a"], isConcurrent: true, sleeps)
    try await hive.start()
    let lines = journal.lines
    func place(_ line: String) throws -> Int { try #require(lines.firstIndex(of: line)) }
    #expect(try place("c.initialized") < place("d.initialize"))
    #expect(try place("a.initialized") < place("e.initialize"))
    for name in ["a", "b", "c", "e"] {
      #expect(try place("\(name).initialized") < place("a.splash"), "async init before splash")
    }
    #expect(lines.suffix(5) == "abcde".steps("splash")[...])
  }

  @Test("after a start that was given up, the report says of each module why it does not run")
  func givenUp() async throws {
    let fails = Mutex(true)
    try await hive.probe("a", journal)
    try await hive.probe("b", journal, requires: ["a"]) { step, _ in
      if step == "setUp", fails.withLock({ $0 }) { throw Broken() }
    }
    func reasons() -> [String] {
      hive.report().entries.map { "\($0.name) \($0.launch ?? "–"): \($0.reason ?? "–")" }
    }
    #expect(reasons() == ["a –: –", "b –: –"])
    await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(reasons()[1] == "b failed: setUp: threw Broken()")
    #expect(reasons()[0].hasPrefix("a not started: the start was given up: module b ("))
    fails.withLock { $0 = false }
    try await hive.start()
    #expect(reasons() == ["a started: –", "b started: –"])
    await hive.stop()
    #expect(reasons() == ["a –: –", "b –: –"])

    _ = journal.take()
    try await hive.probe("c", journal, requires: ["nothing"])
    await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(journal.lines.isEmpty)
    #expect(reasons().allSatisfy { $0.contains("not started: ") && $0.contains("nothing") })
    #expect(
      reasons()[2].hasPrefix("c not started: requires nothing, which nothing in this process"))
  }

  @Test(
    "policy stop: what was done is undone, nothing else, and the start throws",
    arguments: [
      ("setUp", "a.unmount"), ("initialize", "a.tearDown c.unmount b.unmount a.unmount"),
      ("splash", "c.tearDown b.tearDown a.tearDown c.unmount b.unmount a.unmount"),
    ])
  func policyStop(step: String, undone: String) async throws {
    try await hive.probe("a", journal, failing: "unmount")
    try await hive.probe("b", journal, failing: step)
    try await hive.probe("c", journal)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    // A failure while the others are torn down is reported too.
    #expect(error?.failures.map { "\($0.module) \($0.event)" } == ["b \(step)", "a unmount"])
    let lines = journal.lines
    let end = try #require(lines.firstIndex(of: "b.\(step)"))
    #expect(lines[(end + 1)...].joined(separator: " ") == undone)
    #expect(await hive.runningModules.isEmpty)
  }

  @Test(
    "policy skip: the module and whatever requires it fall; the others live",
    arguments: ["setUp", "initialize", "splash"])
  func policySkip(step: String) async throws {
    try await hive.probe("a", journal, failing: step)
    try await hive.probe("b", journal, requires: ["a"])
    try await hive.probe("c", journal, requires: ["b"])
    try await hive.probe("d", journal, after: ["a"])
    let report = try await hive.start(.skip)
    // After splash nothing is left to skip: modules that require it have been initialized.
    #expect(report.started == (step == "splash" ? ["b", "c", "d"] : ["d"]))
    #expect(report.failures.map(\.module) == (step == "splash" ? ["a"] : ["a", "b", "c"]))
    let lines = journal.take()
    #expect(lines.contains("a.unmount") == (step != "setUp"))
    #expect(lines.contains("a.tearDown") == (step == "splash"))
    #expect(lines.contains("b.initialize") == (step == "splash"))
    await hive.stop()
    #expect(!journal.lines.contains { $0.hasPrefix("a.") }, "what fell is not torn down again")
  }

  @Test("policy continue: the failure is reported and the module counts as started and stopped")
  func policyContinue() async throws {
    try await hive.probe("a", journal, failing: "setUp")
    try await hive.probe("b", journal, requires: ["a"], failing: "tearDown")
    let report = try await hive.start(.continue)
    #expect(report.started == ["a", "b"])
    #expect(report.failures.map(\.description).first?.contains("setUp: threw Broken") == true)
    #expect(await hive.stop().map(\.module) == ["b"])
    #expect(journal.lines.suffix(4) == ["b.tearDown", "a.tearDown", "b.unmount", "a.unmount"])
  }

  @Test(
    "a module that exceeds its time is reported, not waited for and not called again",
    .mayHang,
    arguments: [
      (FailurePolicy.skip, ["c"], ["a", "b"]),
      // The module that requires it starts, because the failure is only reported.
      (.continue, ["b", "c"], ["a"]),
    ])
  func timeLimit(policy: FailurePolicy, started: [String], failed: [String]) async throws {
    let (hive, journal, end, report, limit) = try await Patience.trying { limit in
      let (hive, journal, end) = (Hive(), Journal(), Meeting(of: 2))
      try await hive.probe("a", journal, in: "initialize") { _ in
        // This ignores cancellation.
        await end.attend()
      }
      try await hive.probe("b", journal, requires: ["a"])
      try await hive.probe("c", journal)
      return (hive, journal, end, try await hive.start(policy, within: limit), limit)
    } until: {
      $0.3.failures.filter(\.isOverdue).map(\.module) == ["a"]
    }
    #expect(report.started == started)
    #expect(report.failures.first?.description.contains("did not finish within \(limit)") == true)
    #expect(report.failures.map(\.module) == failed)
    #expect(await hive.trigger(Event("anything")).answers.map(\.module) == started)
    await hive.stop()
    #expect(journal.lines.filter { $0.hasPrefix("a.") } == ["a.setUp", "a.initialize"])
    await end.attend()
  }

  @Test("policy continue: whoever requires an overdue module starts, also when it comes later")
  func latecomerOfOverdue() async throws {
    let (hive, journal, end) = try await Patience.trying { limit in
      let (hive, journal, end) = (Hive(), Journal(), Meeting(of: 2))
      try await hive.probe("a", journal, in: "setUp") { _ in await end.attend() }
      #expect(try await hive.start(.continue, within: limit).started == [])
      // This has to end within the limit too.
      try? await hive.probe("b", journal, requires: ["a"])
      return (hive, journal, end)
    } until: {
      $0.1.lines.contains("b.splash") && !$0.1.lines.contains("b.unmount")
    }
    #expect(await hive.runningModules == ["b"])
    #expect(await hive.unregister(module: "a"))
    let error = await #expect(throws: (any Error).self) {
      try await hive.probe("c", journal, requires: ["a"])
    }
    #expect("\(error as Any)".contains("requires a"))
    await end.attend()
  }

  @Test("a module that cannot be made takes those with it that require it")
  func notMade() async throws {
    try await hive.register(module: "a") { _ in throw Broken() }
    try await hive.probe("b", requires: ["a"])
    try await hive.probe("c")
    let report = try await hive.start(.skip)
    #expect(report.started == ["c"])
    #expect(report.failures.map { "\($0.module) \($0.event)" } == ["a make", "b setUp"])
  }

  @Test("a start whose task is cancelled ends, and what was done is undone undisturbed")
  func cancelled() async throws {
    try await hive.probe("a", journal, in: "unmount") { _ in
      // This would throw in a cancelled task.
      try await Task.sleep(for: .milliseconds(1))
      journal.write("in peace")
    }
    let reached = Meeting(of: 2)
    try await hive.probe("b", journal, in: "setUp") { _ in
      await reached.attend()
      try await Task.sleep(for: .seconds(86_400))
    }
    let start = Task { try await hive.start() }
    await reached.attend()
    start.cancel()
    await #expect(throws: LaunchError.self) { try await start.value }
    #expect(journal.lines == ["a.setUp", "b.setUp", "a.unmount", "in peace"])
  }
}
