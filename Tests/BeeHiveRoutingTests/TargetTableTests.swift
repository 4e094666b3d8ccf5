import BeeHiveRouting
import Glibc
import TestSupport
import Testing
import Threads

@Suite("A target is made once, when it is first called, however many call")
struct TargetTableTests {
  private let mediator = Mediator()

  /// Runs `body` on so many threads, once all of them are there. Returns the number of threads with each result.
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

  private let made = Counter()

  /// Registers a target. Making it fails the first `times` times.
  private func register(failing times: Int = 0) throws {
    try mediator.register("slow") { () throws -> SlowTarget in
      let target = SlowTarget(made.next())
      if target.number <= times { throw Broken() }
      return target
    }
  }

  /// Calls the target on many threads at once. Returns the number of calls that each instance answers.
  private func ask(_ threads: Int, caching: Bool = true) async -> [String: Int] {
    await together(threads) {
      do {
        return "\(try await mediator.perform("slow", "number", as: Int.self, caching: caching))"
      } catch {
        return "\(error)"
      }
    }
  }

  @Test("100 threads ask for a target that nobody has made: one is made, and everybody gets it")
  func race() async throws {
    try register()
    #expect(made.count == 0, "nobody has called it")
    for round in 1...5 {
      #expect(await ask(100) == ["\(round)": 100])
      #expect(made.count == round)
      #expect(mediator.release("slow"))
    }
  }

  @Test("Where it cannot be made, whoever made it is told; of those who waited the next makes it")
  func failure() async throws {
    try register(failing: 3)
    #expect(await ask(100) == ["4": 97, "Broken()": 3])
    #expect(made.count == 4)
  }

  @Test("Without caching everybody gets one")
  func uncached() async throws {
    try register()
    #expect(await ask(20, caching: false).count == 20)
    #expect(!mediator.release("slow"))
  }
}

/// A target that takes long to make, so that other threads ask meanwhile.
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
