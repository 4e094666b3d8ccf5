internal import BinaryImage
internal import LibC
internal import Threads

/// Runs work that may block or not finish, and stops waiting for its result after a limit.
///
/// The limit counts from the beginning of the work, whatever else blocks. At the limit the work is cancelled. Code that
/// ignores cancellation goes on, and its result is dropped.
enum TimeLimit {
  /// Returns the result of `work`, or nil once `limit` has passed; without a limit, always the result.
  nonisolated(nonsending) static func run<Value: Sendable>(
    _ limit: Duration?, _ work: @escaping @Sendable () async throws -> Value
  ) async -> Result<Value, any Error>? {
    guard let limit else {
      return await withTaskExecutorPreference(ModuleThreads.shared) { await result(of: work) }
    }
    let race = Race<Result<Value, any Error>?>()
    let worker = Task(executorPreference: ModuleThreads.shared) {
      // Not a task that sleeps: it would need a thread of the pool to wake up on.
      let alarm = Alarms.shared.set(after: limit) { race.finish(nil) }
      race.finish(await result(of: work))
      Alarms.shared.cancel(alarm)
    }
    let winner = await withTaskCancellationHandler {
      await race.value
    } onCancel: {
      worker.cancel()
    }
    worker.cancel()
    return winner
  }

  /// Returns the value or the error of some work.
  static func result<Value>(
    of work: @Sendable () async throws -> Value
  ) async -> Result<Value, any Error> {
    do { return .success(try await work()) } catch { return .failure(error) }
  }
}

/// Takes the first of several results; the later ones are dropped.
final class Race<Value: Sendable>: Sendable {
  private let state = Lock<(value: Value?, waiting: CheckedContinuation<Value, Never>?)>((nil, nil))

  func finish(_ value: Value) {
    // If this is a later result, the waiter has got the first one already.
    let waiting = state.withLock { state in
      if state.value == nil { state.value = value }
      return state.waiting.take()
    }
    waiting?.resume(returning: value)
  }

  /// The first result. Ask for it once.
  var value: Value {
    get async {
      await withCheckedContinuation { continuation in
        let early = state.withLock { state in
          if state.value == nil { state.waiting = continuation }
          return state.value
        }
        if let early { continuation.resume(returning: early) }
      }
    }
  }
}

/// The threads of modules. Modules may block them, so the threads of the concurrency runtime's pool stay free.
///
/// Tasks that prefer this executor, and the tasks of their groups, run here, except code of the main actor. A
/// `Task { }` inside of one begins on the pool.
package final class ModuleThreads: TaskExecutor {
  package static let shared = ModuleThreads()
  private let threads = ThreadPool()
  /// The job that each thread runs, by the thread's number; jobs are counted.
  private let jobs = Lock<(last: UInt64, running: [Int32: UInt64])>((0, [:]))

  /// Makes sure that a thread is there. Returns false, with the reason in `errno`, if the system gives none: then a
  /// wait for a task would never end.
  func prepare() -> Bool { threads.prepare() }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = threads.run { [self] in
      jobs.withLock { jobs in
        jobs.last += 1
        jobs.running[threadNumber] = jobs.last
      }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
      jobs.withLock { $0.running[threadNumber] = nil }
    }
    // Without a thread to spare, on the pool.
    if !isTaken { globalConcurrentExecutor.enqueue(job) }
  }

  /// A job on one of these threads.
  typealias Place = (thread: Int32, job: UInt64)

  /// The job that this code runs in; nil if it runs elsewhere.
  var place: Place? {
    let thread = threadNumber
    return jobs.withLock { jobs in jobs.running[thread].map { (thread, $0) } }
  }

  /// Returns the thread of a place, if it waits inside the same job.
  func waiting(at place: Place) -> WaitingThread? {
    guard let thread = WaitingThread(place.thread) else { return nil }
    return jobs.withLock { $0.running[place.thread] == place.job } ? thread : nil
  }
}
