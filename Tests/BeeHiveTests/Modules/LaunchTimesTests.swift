import BeeHive
import Foundation
import Testing

@Suite("How long modules take, and who holds the Hive up")
struct LaunchTimesTests {
  private static let steps = ["setUp", "initialize", "splash"]

  @Test("the report has a time for each module and step, also for those that fail")
  func times() async throws {
    let hive = Hive()
    let journal = Journal()
    try await hive.probe("a", journal) { step, _ in
      if step == "initialize" { try await Task.sleep(for: .milliseconds(20)) }
    }
    try await hive.probe("b", journal, requires: ["a"]) { step, _ in
      if step == "initialize" { throw Broken() }
    }
    let report = try await hive.start(options: LaunchOptions(onFailure: .continue))
    let named = report.times.map { "\($0.module).\($0.step)" }
    #expect(named == Self.steps.flatMap { "ab".steps($0) })
    #expect(report.times.allSatisfy { !$0.isSlow })
    let slowest = try #require(report.times.max { $0.took < $1.took })
    #expect(slowest.module == "a" && slowest.step == "initialize")
    #expect(slowest.took >= .milliseconds(20))
    #expect(hive.profiler.spans.map(\.isSuccess) == [true, true, true, false, true, true])
    await hive.stop()
    #expect(hive.profiler.spans.map(\.event).suffix(2) == ["unmount", "unmount"])
  }

  @Test(
    "a module that blocks is named while it does, although it blocks the thread that ran it",
    .timeLimit(.minutes(10)))
  func blocking() async throws {
    let hive = Hive()
    let journal = Journal()
    let watchdog = Watchdog(threshold: .seconds(2))
    hive.observe { notice in
      switch notice {
      case .moduleIsSlow(let finding): journal.write("slow \(finding.module).\(finding.event)")
      case .stepEnded(let step, _, _): journal.write("\(step.module).\(step.event)")
      default: break
      }
    }
    try await hive.probe("quick", Journal())
    try await hive.probe(
      "sleepy", Journal(),
      { step, _ in
        guard step == "setUp" else { return }
        let start = ContinuousClock.now
        func hasTaken(_ time: Duration) -> Bool { start.duration(to: .now) >= time }
        while !hasTaken(
          journal.lines.contains("slow sleepy.setUp") ? watchdog.threshold : .seconds(60))
        {
          usleep(10_000)
        }
      })
    let report = try await hive.start(options: LaunchOptions(watchdog: watchdog))
    let named = journal.lines.filter { $0.hasPrefix("slow ") }
    let ended = journal.lines.filter { !$0.hasPrefix("slow ") }
    #expect(ended.prefix(2) == ["quick.setUp", "sleepy.setUp"])
    let sleepy = journal.lines.filter { $0.hasSuffix("sleepy.setUp") }
    #expect(sleepy == ["slow sleepy.setUp", "sleepy.setUp"])
    // A machine that has much to do may hold up others too; nobody is named who took less.
    for time in report.times {
      let isNamed = named.contains("slow \(time.module).\(time.step)")
      #expect(time.took >= .seconds(1) || !(isNamed || time.isSlow))
    }
    #expect(report.times.contains { $0.module == "sleepy" && $0.step == "setUp" && $0.isSlow })
    #expect(report.description.contains("slow: sleepy took "))
    await hive.stop()
  }

  @Test("an event is watched as a step is, with its name")
  func event() async throws {
    let hive = Hive()
    let journal = Journal()
    let watchdog = Watchdog(threshold: .milliseconds(20)) { finding in
      journal.write("\(finding.module).\(finding.event)")
    }
    try await hive.probe(
      "sleepy", Journal(),
      answer: { event, _ in
        for _ in 0..<6000 where !journal.lines.contains("sleepy.openURL") {
          try await Task.sleep(for: .milliseconds(10))
        }
        return .handled
      })
    try await hive.start(options: LaunchOptions(watchdog: watchdog))
    await hive.trigger(.openURL("app://x"))
    // Of its steps, one may take as long on a machine that has much to do.
    #expect(journal.lines.filter { $0.hasSuffix("openURL") } == ["sleepy.openURL"])
    #expect(hive.profiler.spans.last?.event == "openURL")
    await hive.stop()
  }
}
