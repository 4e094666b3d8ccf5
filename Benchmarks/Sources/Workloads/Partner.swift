import Glibc
import Synchronization

/// A second thread that does its part of each round at the same time as the caller.
final class Partner: Sendable {
  private enum Phase {
    static let idle = 0
    static let ready = 1
    static let running = 2
  }

  private let phase = Atomic<Int>(Phase.idle)
  private let wanted = Atomic<Bool>(false)
  private let work: @Sendable () -> Void

  init(_ work: @escaping @Sendable () -> Void) {
    self.work = work
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let failure = unsafe pthread_create(
      &thread, nil,
      { context in
        // Sound: retained just before the thread began; it never ends.
        guard let context = unsafe context else { return nil }
        unsafe Unmanaged<Partner>.fromOpaque(context).takeRetainedValue().serve()
      }, context)
    if failure != 0 { stop("no second thread") }
  }

  private func serve() -> Never {
    while true {
      while !wanted.load(ordering: .acquiring) { sched_yield() }
      wanted.store(false, ordering: .relaxed)
      phase.store(Phase.ready, ordering: .releasing)
      while phase.load(ordering: .acquiring) != Phase.running {}
      work()
      phase.store(Phase.idle, ordering: .releasing)
    }
  }

  /// Returns when the thread waits for `start` on a processor of its own.
  func getReady() {
    wanted.store(true, ordering: .releasing)
    while phase.load(ordering: .acquiring) != Phase.ready {}
  }

  func start() { phase.store(Phase.running, ordering: .releasing) }

  func finish() { while phase.load(ordering: .acquiring) != Phase.idle {} }
}
