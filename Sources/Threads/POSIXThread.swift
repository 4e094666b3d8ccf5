internal import LibC

/// A thread that the concurrency runtime knows nothing of: for work that must go on while every task is
/// blocked, and for work that blocks.
///
/// Either `join` or `detach` is called, once.
package struct POSIXThread: @unchecked Sendable {
  // Sound: the number of a thread, which any other may wait for.
  private let thread: pthread_t

  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// The number of processors that are there to be used.
  package static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// Runs `body` on a new thread; nil where the system gives none.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let work = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    // Sound: the new thread takes over the reference that was passed to it.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        if let argument = unsafe argument {
          unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
        }
        return nil
      }, work.toOpaque())
    guard failure == 0 else {
      unsafe work.release()
      return nil
    }
    self.thread = thread
  }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }

  /// Leaves the thread to itself.
  package func detach() { pthread_detach(thread) }

  /// Runs `body` on a new thread that is never waited for; false where the system gives none.
  package static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = POSIXThread(body) else { return false }
    thread.detach()
    return true
  }

  /// Lets the calling thread sleep.
  package static func sleep(_ duration: Duration) {
    var time = timespec(
      tv_sec: Int(duration.components.seconds),
      tv_nsec: Int(duration.components.attoseconds / 1_000_000_000))
    unsafe nanosleep(&time, nil)
  }
}

extension Array where Element: Sendable {
  /// Returns the results of `body` for each element, in their order. As many threads as there are processors take part if
  /// there are many elements; this one is among them.
  package func mapConcurrently<Made: Sendable>(
    _ body: @escaping @Sendable (Element) -> Made
  ) -> [Made] {
    let batch = 32
    let batches = (count + batch - 1) / batch
    guard batches > 1 else { return map(body) }
    let progress = Lock((next: 0, made: [[Made]](repeating: [], count: batches)))
    let work: @Sendable () -> Void = {
      while true {
        let number = progress.change { progress in
          progress.next += 1
          return progress.next - 1
        }
        guard number < batches else { return }
        let made = self[number * batch..<Swift.min(count, (number + 1) * batch)].map(body)
        progress.change { $0.made[number] = made }
      }
    }
    let helpers = (1..<Swift.min(POSIXThread.processors, batches)).compactMap { _ in
      POSIXThread(work)
    }
    work()
    for helper in helpers { helper.join() }
    return progress.withLock { $0.made.flatMap { $0 } }
  }
}
