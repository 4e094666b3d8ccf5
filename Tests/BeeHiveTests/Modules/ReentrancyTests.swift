import TestSupport
import Testing
import Threads

@testable import BeeHive

@Suite("Modules that come and go while others start, stop and handle events", .mayHang)
struct ReentrancyTests {
  private let hive = Hive()
  private let journal = Journal()

  @Test(
    "register inside a step of the start: a newcomer, and its own, have three steps before start returns",
    arguments: ["setUp", "initialize", "splash"])
  func registerInside(step: String) async throws {
    try await hive.probe("a", journal, in: step) { context in
      try await context.hive.probe("late", journal, requires: ["b"], in: "setUp") { context in
        try await context.hive.probe("later", journal)
      }
    }
    try await hive.probe("b", journal)
    let report = try await hive.start()
    #expect(report.started == ["a", "b", "late", "later"])
    #expect(
      journal.lines.filter { $0.hasPrefix("late") }
        == ["late", "later"].flatMap { name in
          ["setUp", "initialize", "splash"].map { "\(name).\($0)" }
        })
    await hive.stop()
    #expect(journal.lines.filter { $0 == "late.unmount" }.count == 1)
  }

  @Test("register inside a handler: started at once, not told of the event that is under way")
  func registerInsideHandler() async throws {
    try await hive.listener("a", journal) { _, context in
      try await context.hive.probe("late", journal)
      return .handled
    }
    try await hive.probe("b", journal)
    try await hive.start()
    _ = journal.take()
    let outcome = await hive.trigger(Event(Broken()))
    #expect(outcome.answers.map(\.module) == ["a", "b"])
    #expect(
      journal.take() == ["a.Broken", "late.setUp", "late.initialize", "late.splash", "b.Broken"])
    #expect(await hive.runningModules == ["a", "b", "late"])
  }

  @Test("unregister inside a dispatch: who left is not told, nobody is skipped or told twice")
  func unregisterInsideHandler() async throws {
    for name in ["a", "b", "c", "d"] {
      try await hive.listener(name, journal) { _, context in
        if name == "b" {
          for other in ["a", "b", "c"] { await context.hive.unregister(module: other) }
        }
        return .handled
      }
    }
    try await hive.start()
    _ = journal.take()
    #expect(await hive.trigger(Event(Broken())).answers.map(\.module) == ["a", "b", "d"])
    #expect(journal.take().filter { $0.hasSuffix("Broken") } == "abd".steps("Broken"))
    #expect(await hive.trigger(Event(Broken())).answers.map(\.module) == ["d"])
  }

  @Test("unregister and register again inside a dispatch: the new one is not told, nor the old one")
  func replaceInsideHandler() async throws {
    try await hive.listener("a", journal) { _, context in
      await context.hive.unregister(module: "b")
      try await context.hive.probe("b", journal)
      return .handled
    }
    try await hive.probe("b", journal)
    try await hive.start()
    #expect(await hive.trigger(Event(Broken())).answers.map(\.module) == ["a"])
    #expect(await hive.runningModules == ["a", "b"])
  }

  @Test(
    "unregister during the start: the module goes no further, and what it did is undone",
    arguments: ["setUp", "initialize"])
  func unregisterDuringStart(step: String) async throws {
    try await hive.probe("a", journal, in: step) { context in
      await context.hive.unregister(module: "a")
      await context.hive.unregister(module: "b")
    }
    try await hive.probe("b", journal)
    try await hive.probe("c", journal)
    #expect(try await hive.start().started == ["c"])
    let lines = journal.lines
    #expect(lines.contains("a.tearDown") == (step == "initialize"))
    #expect(lines.contains("a.unmount"))
    #expect(lines.contains("b.setUp") == (step == "initialize"))
    #expect(lines.contains("b.unmount") == (step == "initialize"))
    #expect(!lines.contains("b.initialize"))
  }

  @Test(
    "stop during the start, by a module and from outside: what was started is undone",
    arguments: [true, false])
  func stopDuringStart(isInside: Bool) async throws {
    let (reached, released) = (Meeting(of: 2), Meeting(of: 2))
    try await hive.probe("a", journal)
    try await hive.probe("b", journal, in: "setUp") { context in
      if isInside {
        #expect(await context.hive.stop().isEmpty)
      } else {
        await reached.attend()
        await released.attend()
      }
    }
    try await hive.probe("c", journal)
    let start = Task { try await hive.start() }
    if !isInside {
      await reached.attend()
      let stop = Task { await hive.stop() }
      // The stop waits for the step that is under way.
      #expect(try await Patience.wait { await hive.runner.isStopRequested })
      await released.attend()
      #expect(await stop.value.isEmpty)
      #expect(journal.lines.last == "a.unmount", "stop returns when all is torn down")
    }
    let error = await #expect(throws: LaunchError.self) { try await start.value }
    #expect(error?.interruption == .stopped)
    #expect(journal.lines == ["a.setUp", "b.setUp", "b.unmount", "a.unmount"])
  }

  @Test("a module that unregisters itself in tearDown is unmounted once, after that")
  func unregisterInTearDown() async throws {
    for name in ["a", "b"] {
      try await hive.probe(name, journal) { step, context in
        guard name == "b", step == "tearDown" else { return }
        await context.hive.unregister(module: "b")
        await context.hive.unregister(module: "a")
        journal.write("b is torn down")
      }
    }
    try await hive.start()
    _ = journal.take()
    #expect(await hive.stop().isEmpty)
    #expect(
      journal.lines == ["b.tearDown", "a.tearDown", "a.unmount", "b is torn down", "b.unmount"])
  }

  @Test("a start whose task is cancelled inside a step sets no further module up")
  func cancelInside() async throws {
    for _ in 0..<200 {
      let (hive, journal) = (Hive(), Journal())
      let start = Lock<Task<LaunchReport, any Error>?>(nil)
      try await hive.probe("a", journal) { _, _ in start.withLock { $0 }?.cancel() }
      try await hive.probe("b", journal)
      let begun = start.withLock { start in
        let task = Task { try await hive.start() }
        start = task
        return task
      }
      let error = await #expect(throws: LaunchError.self) { try await begun.value }
      #expect(error?.interruption == .stopped)
      #expect(journal.lines == ["a.setUp", "a.unmount"])
    }
  }

  @Test("second context: a Hive that runs is not started again, and answers with the same report")
  func startTwice() async throws {
    try await hive.probe("a", journal, in: "tearDown") { context in
      journal.write("in \(context.environment.name)")
    }
    async let first = hive.start(Context(hive: hive, environment: .test))
    async let second = hive.start(Context(hive: hive, environment: .test))
    let report = try await first
    #expect(try await second.times.map(\.took) == report.times.map(\.took))
    let third = try await hive.start(Context(hive: hive, environment: .stage))
    #expect(third.started == ["a"] && report.times.count == 3)
    #expect(third.times.map(\.took) == report.times.map(\.took))
    #expect(journal.take() == ["a.setUp", "a.initialize", "a.splash"])
    // The later start does not change the context of the first one either.
    await hive.stop()
    #expect(journal.lines == ["a.tearDown", "in test", "a.unmount"])
  }

  @Test("a module that asks for the start it is part of is told so")
  func startInside() async throws {
    try await hive.probe("a", journal, in: "setUp") { context in
      let error = await #expect(throws: LaunchError.self) { try await context.hive.start() }
      #expect(error?.interruption == .calledInside)
    }
    #expect(try await hive.start().started == ["a"])
  }

  @Test("a module that comes to a running Hive fails alone, and says what it requires in vain")
  func latecomers() async throws {
    try await hive.probe("a", journal)
    try await hive.start()
    await #expect(throws: ModuleFailure.self) {
      try await hive.probe("b", journal, failing: "initialize")
    }
    await #expect(throws: LaunchError.self) { try await hive.probe("c", journal, requires: ["d"]) }
    #expect(await hive.runningModules == ["a"])
    #expect(journal.lines.last == "b.unmount")
    // The module starts once its requirement is there.
    try await hive.probe("d", journal)
    #expect(await hive.runningModules == ["a", "d", "c"])
  }

  @Test("two hundred modules register at once in a running Hive: each is started once")
  func registerConcurrently() async throws {
    try await hive.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 { group.addTask { try await hive.probe("m\(number)", journal) } }
      try await group.waitForAll()
    }
    #expect(await hive.runningModules.count == 200)
    #expect(Set(journal.lines).count == 600)
    #expect(journal.lines.count == 600)
  }
}
