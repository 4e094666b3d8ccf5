import BeeHive
import TestSupport
import Testing
import Threads

@Suite("How long modules take, and who holds the Hive up")
struct LaunchTimesTests {
  private let hive = Hive()
  private let journal = Journal()

  private static let steps = ["setUp", "initialize", "splash"]

  @Test("the report has a time for each module and step, also for those that fail")
  func times() async throws {
    let slept = Lock(Duration.zero)
    try await hive.probe("a", journal, in: "initialize") { _ in
      let start = ContinuousClock.now
      try await Task.sleep(for: .milliseconds(20))
      slept.withLock { $0 = start.duration(to: .now) }
    }
    try await hive.probe("b", journal, requires: ["a"], failing: "initialize")
    let report = try await hive.start(.continue)
    let named = report.times.map { "\($0.module).\($0.step)" }
    #expect(named == Self.steps.flatMap { "ab".steps($0) })
    #expect(report.times.allSatisfy { !$0.isSlow })
    let slow = try #require(report.times.first { $0.module == "a" && $0.step == "initialize" })
    #expect(slow.took >= slept.withLock { $0 })
    #expect(report.times.allSatisfy { $0.took >= .zero })
    #expect(hive.profiler.spans.map(\.isSuccess) == [true, true, true, false, true, true])
    await hive.stop()
    #expect(hive.profiler.spans.map(\.event).suffix(2) == ["unmount", "unmount"])
  }

  @Test(
    "a module that blocks is named while it does, although it blocks the thread that ran it",
    .mayHang)
  func blocking() async throws {
    let threshold = Duration.milliseconds(100)
    hive.observe { notice in
      switch notice {
      case .moduleIsSlow(let module, let event, _): journal.write("slow \(module).\(event)")
      case .stepEnded(let step, _, _): journal.write("\(step.module).\(step.event)")
      default: break
      }
    }
    try await hive.probe("quick")
    try await hive.probe("sleepy", in: "setUp") { _ in
      let start = ContinuousClock.now
      Patience.block {
        journal.lines.contains("slow sleepy.setUp") && start.duration(to: .now) >= threshold
      }
    }
    let report = try await hive.start(options: LaunchOptions(watchdog: threshold))
    let ended = journal.lines.filter { !$0.hasPrefix("slow ") }
    #expect(ended.prefix(2) == ["quick.setUp", "sleepy.setUp"])
    let sleepy = journal.lines.filter { $0.hasSuffix("sleepy.setUp") }
    #expect(sleepy == ["slow sleepy.setUp", "sleepy.setUp"])
    #expect(report.times.allSatisfy { $0.isSlow == ($0.took >= threshold) })
    // A busy machine may hold up other modules too. No module is named that took less.
    let slow = Set(report.times.filter(\.isSlow).map { "slow \($0.module).\($0.step)" })
    #expect(slow.isSuperset(of: journal.lines.filter { $0.hasPrefix("slow ") }))
    #expect(report.times.contains { $0.module == "sleepy" && $0.step == "setUp" && $0.isSlow })
    #expect(report.description.contains("slow: sleepy took "))
  }

  @Test("an event is watched as a step is, with its name")
  func event() async throws {
    hive.observe { notice in
      if case .moduleIsSlow(let module, let event, _) = notice {
        journal.write("\(module).\(event)")
      }
    }
    try await hive.listener("sleepy") { event, _ in
      let isNamed = try await Patience.wait { journal.lines.contains("sleepy.openURL") }
      return isNamed ? .handled : .ignored
    }
    try await hive.start(options: LaunchOptions(watchdog: .milliseconds(20)))
    await hive.trigger(.openURL("app://x"))
    // On a busy machine, one of the module's steps may take as long.
    #expect(journal.lines.filter { $0.hasSuffix("openURL") } == ["sleepy.openURL"])
    #expect(hive.profiler.spans.last?.event == "openURL")
  }
}
