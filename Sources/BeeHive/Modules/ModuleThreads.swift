internal import Threads

/// Where modules run: threads that they may block, so that those of the concurrency runtime's pool stay
/// free.
///
/// A task that prefers it, and the tasks of its groups, run here wherever nothing else is said; what
/// belongs to the main actor runs there. `Task { }` inside of it begins a task on the pool.
final class ModuleThreads: TaskExecutor {
  static let shared = ModuleThreads()
  private let threads = ThreadPool()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isTaken = threads.run { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    // Without a thread to spare, on the pool.
    if !isTaken { globalConcurrentExecutor.enqueue(job) }
  }
}
