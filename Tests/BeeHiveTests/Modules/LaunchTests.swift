import BeeHive
import Synchronization
import TestSupport
import Testing

@Suite("Starting and stopping modules")
struct LaunchTests {
  @Test(
    "setUp of all, initialize of all, splash of all; tearDown and unmount reversed, really fired")
  func steps() async throws {
    let (hive, journal) = (Hive(), Journal())
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

  @Test(
    "async initialisers run beside each other, are awaited before splash, and by who requires them")
  func concurrentInitialize() async throws {
    let (hive, journal) = (Hive(), Journal())
    let meeting = Meeting(of: 2)
    for name in ["a", "b"] {
      try await hive.probe(name, journal, priority: 9, isConcurrent: true) { step, _ in
        // Each waits for the other: only two that run at the same time get past it.
        if step == "initialize" { await meeting.attend() }
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
    let (hive, journal) = (Hive(), Journal())
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

    try await hive.probe("c", journal, requires: ["nothing"])
    await #expect(throws: LaunchError.self) { try await hive.start() }
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
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal) { now, _ in if now == "unmount" { throw Broken() } }
    try await hive.probe("b", journal) { now, _ in if now == step { throw Broken() } }
    try await hive.probe("c", journal)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    // What fails while the others are torn down is reported, too.
    #expect(error?.failures.map { "\($0.module) \($0.event)" } == ["b \(step)", "a unmount"])
    let lines = journal.lines
    let end = try #require(lines.firstIndex(of: "b.\(step)"))
    #expect(lines[(end + 1)...].joined(separator: " ") == undone)
    #expect(await hive.runningModules.isEmpty)
  }

  @Test(
    "policy skip: the module and whatever requires it fall; the others live",
    arguments: [
      "setUp", "initialize", "splash",
    ])
  func policySkip(step: String) async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal) { now, _ in if now == step { throw Broken() } }
    try await hive.probe("b", journal, requires: ["a"])
    try await hive.probe("c", journal, requires: ["b"])
    try await hive.probe("d", journal, after: ["a"])
    let report = try await hive.start(options: LaunchOptions(onFailure: .skip))
    // After splash nothing is left to skip: whoever requires it is through its own initialize.
    #expect(report.started == (step == "splash" ? ["b", "c", "d"] : ["d"]))
    #expect(report.failures.map(\.module) == (step == "splash" ? ["a"] : ["a", "b", "c"]))
    let lines = journal.take()
    #expect(lines.contains("a.unmount") == (step != "setUp"))
    #expect(lines.contains("a.tearDown") == (step == "splash"))
    #expect(lines.contains("b.initialize") == (step == "splash"))
    await hive.stop()
    #expect(!journal.lines.contains { $0.hasPrefix("a.") }, "what fell is not torn down again")
  }

  @Test("policy continue: the failure is reported and the module counts as started")
  func policyContinue() async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal) { step, _ in if step == "setUp" { throw Broken() } }
    try await hive.probe("b", journal, requires: ["a"])
    let report = try await hive.start(options: LaunchOptions(onFailure: .continue))
    #expect(report.started == ["a", "b"])
    #expect(report.failures.map(\.description).first?.contains("setUp: threw Broken") == true)
    await hive.stop()
    #expect(journal.lines.suffix(4) == ["b.tearDown", "a.tearDown", "b.unmount", "a.unmount"])
  }

  @Test(
    "a module that exceeds its time is reported, not waited for and not called again",
    .mayHang,
    arguments: [
      (FailurePolicy.skip, ["c"], ["a", "b"]),
      // Whoever requires it starts, since nothing but the report is to come of the failure.
      (.continue, ["b", "c"], ["a"]),
    ])
  func timeLimit(policy: FailurePolicy, started: [String], failed: [String]) async throws {
    let (hive, journal, end, report, limit) = try await Patience.trying { limit in
      let (hive, journal, end) = (Hive(), Journal(), Meeting(of: 2))
      try await hive.probe("a", journal) { step, _ in
        guard step == "initialize" else { return }
        // Deaf to cancellation.
        await end.attend()
        journal.write("a woke")
      }
      try await hive.probe("b", journal, requires: ["a"])
      try await hive.probe("c", journal)
      let options = LaunchOptions(onFailure: policy, timeLimit: limit)
      return (hive, journal, end, try await hive.start(options: options), limit)
    } until: {
      $0.3.failures.filter(\.isOverdue).map(\.module) == ["a"]
    }
    #expect(report.started == started)
    #expect(report.failures.first?.description.contains("did not finish within \(limit)") == true)
    #expect(report.failures.map(\.module) == failed)
    let event = Event("anything")
    #expect(await hive.trigger(event).answers.map(\.module) == started)
    await hive.stop()
    let calls = journal.lines.filter { $0.hasPrefix("a") }
    #expect(calls == ["a.setUp", "a.initialize"])
    await end.attend()
  }

  @Test("policy continue: whoever requires an overdue module starts, also when it comes later")
  func latecomerOfOverdue() async throws {
    let (hive, journal, end) = try await Patience.trying { limit in
      let (hive, journal, end) = (Hive(), Journal(), Meeting(of: 2))
      try await hive.probe("a", journal) { step, _ in if step == "setUp" { await end.attend() } }
      let options = LaunchOptions(onFailure: .continue, timeLimit: limit)
      #expect(try await hive.start(options: options).started == [])
      // Within the limit too.
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

  @Test("a module that fails to be torn down is reported, and the others still are")
  func failingTearDown() async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal)
    try await hive.probe("b", journal) { step, _ in if step == "tearDown" { throw Broken() } }
    try await hive.start()
    #expect(await hive.stop().map(\.module) == ["b"])
    #expect(journal.lines.suffix(4) == ["b.tearDown", "a.tearDown", "b.unmount", "a.unmount"])
  }

  @Test("a module that cannot be made takes those with it that require it")
  func notMade() async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.register(module: "a") { _ in throw Broken() }
    try await hive.probe("b", journal, requires: ["a"])
    try await hive.probe("c", journal)
    let report = try await hive.start(options: LaunchOptions(onFailure: .skip))
    #expect(report.started == ["c"])
    #expect(report.failures.map(\.event) == ["make", "setUp"])
  }

  @Test("what cannot be ordered: by default nothing is made, with skip the rest lives")
  func orderProblems() async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal, requires: ["nobody"])
    try await hive.probe("b", journal, requires: ["c"])
    try await hive.probe("c", journal, requires: ["b"])
    try await hive.probe("d", journal)
    let error = await #expect(throws: LaunchError.self) { try await hive.start() }
    #expect(error?.order.missing.map(\.requirement) == ["nobody"])
    #expect(error?.order.cycles.map { $0.map(\.name) } == [["b", "c", "b"]])
    #expect(journal.lines.isEmpty)
    let report = try await hive.start(options: LaunchOptions(onFailure: .skip))
    #expect(report.started == ["d"])
    #expect(report.description.contains("modules b → c → b wait for each other"))
  }

  @Test("a start whose task is cancelled ends, and what was done is undone undisturbed")
  func cancelled() async throws {
    let (hive, journal) = (Hive(), Journal())
    try await hive.probe("a", journal) { step, _ in
      if step == "unmount" {
        // Would throw in a task that is cancelled.
        try await Task.sleep(for: .milliseconds(1))
        journal.write("in peace")
      }
    }
    let reached = Meeting(of: 2)
    try await hive.probe("b", journal) { step, _ in
      guard step == "setUp" else { return }
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

/// Lets everybody who attends go on as soon as enough do.
actor Meeting {
  private let size: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var count = 0

  init(of size: Int) { self.size = size }

  func attend() async {
    count += 1
    if count >= size {
      for continuation in waiting { continuation.resume() }
      waiting = []
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }
}
