internal import Glibc
internal import Synchronization

/// POSIX threads: each may sit in the loader or in a factory without holding up anything else.
enum Threads {
  /// Runs `body` on a thread of its own while this one does `other`; returns when both are done.
  static func run(
    _ body: @escaping @Sendable () -> Void, while other: () throws -> Void
  ) rethrows {
    var thread = pthread_t()
    let box = unsafe Unmanaged.passRetained(Body(body))
    unsafe pthread_create(
      &thread, nil,
      { box in
        // Sound: the thread takes over the reference that was passed.
        if let box = unsafe box { unsafe Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
        return nil
      }, box.toOpaque())
    defer { pthread_join(thread, nil) }
    try other()
  }

  /// What `count` threads answer that begin at the same moment.
  static func together<Answer: Sendable>(
    _ count: Int, _ body: @escaping @Sendable () -> Answer
  ) -> [Answer] {
    let crowd = Crowd<Answer>(count)
    crowd.start(count, body)
    return crowd.answers.withLock { $0 }
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private final class Crowd<Answer: Sendable>: Sendable {
    let answers = Guarded<[Answer]>([])
    private let missing: Atomic<Int>

    init(_ count: Int) { missing = Atomic(count) }

    /// Starts one thread from the other, so that each joins the next.
    func start(_ count: Int, _ body: @escaping @Sendable () -> Answer) {
      guard count > 0 else { return }
      Threads.run({ self.answer(body) }) { start(count - 1, body) }
    }

    private func answer(_ body: @Sendable () -> Answer) {
      missing.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      while missing.load(ordering: .sequentiallyConsistent) > 0 { sched_yield() }
      let answer = body()
      answers.withLock { $0.append(answer) }
    }
  }
}
