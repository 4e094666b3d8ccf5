import BeeHiveRouting
import Glibc
import Synchronization
import Testing
import Threads

@Suite("A target is made once, when it is first called, however many call")
struct TargetTableTests {
  /// What `threads` calls at once get: each on a thread of its own, none before all are there.
  private func together(
    _ threads: Int, _ body: @escaping @Sendable () async -> String
  ) async -> [String: Int] {
    let present = Lock(0)
    return await withTaskGroup(of: String.self) { group in
      for _ in 0..<threads {
        group.addTask(executorPreference: ThreadForEach()) {
          present.change { $0 += 1 }
          present.wait { $0 == threads ? () : nil }
          return await body()
        }
      }
      return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
  }

  /// Which instance answers, by its number.
  private static func ask(_ mediator: Mediator) async -> String {
    do {
      return "\(try await mediator.perform("slow", "number", as: Int.self))"
    } catch {
      return "\(error)"
    }
  }

  @Test("100 threads ask for a target that nobody has made: one is made, and everybody gets it")
  func race() async throws {
    let mediator = Mediator()
    let made = Atomic<Int>(0)
    try mediator.register("slow") { SlowTarget(made.wrappingAdd(1, ordering: .relaxed).newValue) }
    #expect(made.load(ordering: .relaxed) == 0, "nobody has called it")
    for round in 1...5 {
      #expect(await together(100) { await Self.ask(mediator) } == ["\(round)": 100])
      #expect(made.load(ordering: .relaxed) == round)
      #expect(mediator.release("slow"))
    }
  }

  @Test("Where it cannot be made, whoever made it is told; of those who waited the next makes it")
  func failure() async throws {
    let mediator = Mediator()
    let made = Atomic<Int>(0)
    try mediator.register("slow") { () throws -> SlowTarget in
      let target = SlowTarget(made.wrappingAdd(1, ordering: .relaxed).newValue)
      if target.number <= 3 { throw Broken() }
      return target
    }
    #expect(await together(100) { await Self.ask(mediator) } == ["4": 97, "Broken()": 3])
    #expect(made.load(ordering: .relaxed) == 4)
  }

  @Test("Without caching everybody gets one")
  func uncached() async throws {
    let mediator = Mediator()
    let made = Atomic<Int>(0)
    try mediator.register("slow") { SlowTarget(made.wrappingAdd(1, ordering: .relaxed).newValue) }
    let numbers = await together(20) {
      let number = try? await mediator.perform("slow", "number", as: Int.self, caching: false)
      return "\(number ?? 0)"
    }
    #expect(numbers.count == 20 && !mediator.release("slow"))
  }
}

/// A target that takes its time, so that others ask meanwhile.
private final class SlowTarget: Target {
  static let actions: [Action<SlowTarget>] = [Action("number") { slow, _ in slow.number }]
  let number: Int

  init(_ number: Int) {
    self.number = number
    usleep(5000)
  }
}

/// Gives every job a thread, so that as many run at once as there are tasks.
private final class ThreadForEach: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    // Sound: the job runs once, and the thread holds this executor.
    let job = UnownedJob(job)
    let started = POSIXThread.detach {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
    precondition(started, "the system gives no thread")
  }
}
