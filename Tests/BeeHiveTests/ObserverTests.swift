import TestSupport
import Testing
import Threads

@testable import BeeHive

@Suite("What observers are told")
struct ObserverTests {
  private let hive = Hive()
  private let notices = Journal()

  @Test("entries that come, are refused and leave")
  func entries() throws {
    hive.observe { notice in
      switch notice {
      case .entryRegistered(let entry): notices.write("registered \(entry.name)")
      case .entryRejected(let entry): notices.write("rejected \(entry.name)")
      case .entryWithdrawn(let entry): notices.write("withdrawn \(entry.name)")
      default: notices.write("\(notice)")
      }
    }
    try hive.register(Int.self, instance: 1)
    #expect(throws: Problem.self) { try hive.register(Int.self, instance: 2) }
    hive.removeServices(named: "Swift.Int")
    #expect(
      notices.lines == [
        "registered Swift.Int", "rejected Swift.Int", "withdrawn Swift.Int", "withdrawn Swift.Int",
      ])
  }

  @Test("who comes late may hear of what is there first")
  func fromStart() throws {
    try hive.register(Int.self, instance: 1)
    hive.observe { notices.write("\($0)") }
    #expect(notices.lines.isEmpty)
    hive.observe(fromStart: true) { notices.write("\($0)") }
    #expect(notices.lines.map { $0.prefix(5) } == ["bound"])
  }

  @Test("who comes while others register hears of every entry")
  func fromStartMeanwhile() async throws {
    for _ in 0..<50 {
      let hive = Hive()
      let heard = Lock<Set<String>>([])
      let registering = Task.detached {
        for number in 0..<40 { try hive.register(Int.self, name: "n\(number)", instance: number) }
      }
      hive.observe(fromStart: true) { notice in
        if case .entryRegistered(let entry) = notice {
          heard.withLock { _ = $0.insert(entry.attributes.name ?? "") }
        }
      }
      try await registering.value
      #expect(heard.withLock { $0.count } == 40)
    }
  }

  @Test("each step of each module, the failures, the start and the end")
  func steps() async throws {
    hive.observe { notice in
      switch notice {
      case .stepBegan(let step): notices.write("\(step.module) \(step.event)")
      case .stepEnded(let step, _, let failure): notices.write("\(step.module) \(failure == nil)")
      case .moduleLeftOut(let failure): notices.write("\(failure.module) left out")
      case .started(let report): notices.write("started \(report.started.joined())")
      case .stopped(let failures): notices.write("stopped \(failures.count)")
      default: break
      }
    }
    try await hive.probe("a")
    try await hive.probe("b") { _, _ in throw Broken() }
    try await hive.probe("c", requires: ["b"])
    try await hive.start(.skip)
    await hive.trigger(.openURL("app://x"))
    await hive.stop()
    #expect(
      notices.lines == [
        "a setUp", "a true", "b setUp", "b false", "c left out", "a initialize", "a true",
        "a splash", "a true", "started a", "a openURL", "a true", "a tearDown", "a true",
        "a unmount", "a true", "stopped 0",
      ])
    #expect(hive.profiler.spans.count == 7)
  }

  @TaskLocal private static var steps: [String] = []
  @TaskLocal private static var last = ""

  @Test(
    "modules have what observers set for a step, and so do their tasks", arguments: [nil, 3600])
  func settings(limit: Int?) async throws {
    let observation = hive.observe(setting: Self.$steps) { notice in
      if case .stepBegan(let step) = notice { Self.steps + [step.event] } else { nil }
    }
    hive.observe(setting: Self.$last) { notice in
      if case .stepBegan(let step) = notice, step.event == "setUp" { "setUp" } else { nil }
    }
    try await hive.probe("a") { [notices] step, context in
      async let line = "\(Self.steps)\(Self.last)"
      notices.write(await line)
      if step == "splash" { await context.hive.trigger(.openURL("app://x")) }
    } answer: { [notices] _, _ in
      notices.write("\(Self.steps)")
      return .handled
    }
    try await hive.start(.stop, within: limit.map { .seconds($0) })
    #expect(
      notices.take() == [
        #"["setUp"]setUp"#, #"["initialize"]"#, #"["splash"]"#, #"["splash", "openURL"]"#,
      ])
    #expect(Self.steps.isEmpty)
    observation.cancel()
    await hive.stop()
    #expect(notices.lines == ["[]", "[]"])
  }

  @Test("no lock is held: an observer may ask and change the Hive, and take itself off", .mayHang)
  func reentrant() throws {
    let observation = Lock<Handle?>(nil)
    let made = hive.observe { notice in
      notices.write("told")
      #expect(hive.entries.count == 1)
      #expect((try? hive.service(Int.self)) == 1)
      observation.withLock { $0?.cancel() }
      try? hive.register(String.self, instance: "x")
    }
    observation.withLock { $0 = made }
    try hive.register(Int.self, instance: 1)
    #expect(notices.lines == ["told"])
    #expect(hive.entries.count == 2)
  }
}
