package import LibC

/// A value behind a mutex, which is held for a few instructions and never across a call to foreign code. A thread can
/// wait until another thread has changed the value.
///
/// POSIX threads' mutex rather than `Synchronization.Mutex`: it has a condition to wait on, and
/// ThreadSanitizer understands it. Inlinable, so that it is specialised where it is used.
@safe package final class Lock<Value: ~Copyable>: @unchecked Sendable {
  // Sound: `value` is read and written between lock and unlock only, and both C objects keep their
  // addresses for the life of this one.
  @usableFromInline var value: Value
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>

  @inlinable package init(_ value: consuming sending Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    // A timed wait does not depend on the clock on the wall.
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Acquires the mutex. A child that was forked while another thread had the mutex never gets it.
  @inlinable func acquire() {
    if unsafe pthread_mutex_trylock(mutex) == 0 { return }
    ForkedChild.endIfAlone()
    unsafe pthread_mutex_lock(mutex)
  }

  /// Runs `body` with the value while no other thread has it. `body` calls nothing that may block.
  ///
  /// `body` returns what it takes out of the value if that may end in code of the user, whose `deinit` may take this
  /// lock again. Then it ends when the lock is free.
  @inlinable package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    acquire()
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs `body` as `withLock` does, then wakes waiting threads: all of them, or one if any would do.
  @inlinable package func change<Result>(
    forAll: Bool = true, _ body: (inout Value) -> Result
  ) -> Result {
    defer {
      _ = unsafe forAll ? pthread_cond_broadcast(condition) : pthread_cond_signal(condition)
    }
    return withLock(body)
  }

  /// Runs `body`, and again after each `change`, until it returns a value; the lock is free meanwhile.
  @inlinable package func wait<Result>(until body: (inout Value) -> Result?) -> Result {
    acquire()
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      ForkedChild.endIfAlone()
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Waits in the same way, but no longer than until `deadline`; returns nil then.
  package func wait<Result>(
    before deadline: ContinuousClock.Instant, until body: (inout Value) -> Result?
  ) -> Result? {
    acquire()
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      // At most a day at once, which every clock can count.
      let left = min(ContinuousClock.now.duration(to: deadline), .seconds(86_400))
      guard left > .zero else { return nil }
      var time = timespec(
        tv_sec: Int(left.components.seconds),
        tv_nsec: Int(left.components.attoseconds / 1_000_000_000))
      var now = timespec()
      unsafe clock_gettime(CLOCK_MONOTONIC, &now)
      time.tv_nsec += now.tv_nsec
      time.tv_sec += now.tv_sec + time.tv_nsec / 1_000_000_000
      time.tv_nsec %= 1_000_000_000
      unsafe pthread_cond_timedwait(condition, mutex, &time)
    }
  }
}

/// A sender of values to any number of tasks, each of them from its start on. The streams end with the sender.
package final class Broadcast<Value: Sendable>: Sendable {
  private let listeners = Lock<[Int: AsyncStream<Value>.Continuation]>([:])
  private let count = Lock(0)

  /// A sender without listeners.
  package init() {}

  deinit { for listener in listeners.withLock({ $0.values }) { listener.finish() } }

  /// Whether anybody listens.
  package var isHeard: Bool { listeners.withLock { !$0.isEmpty } }

  /// Returns the values from now on. A reader who does not keep up gets the last `most`.
  package func stream(most: Int) -> AsyncStream<Value> {
    let (stream, listener) = AsyncStream.makeStream(
      of: Value.self, bufferingPolicy: .bufferingNewest(most))
    let number = count.withLock { count in
      count += 1
      return count
    }
    listeners.withLock { $0[number] = listener }
    listener.onTermination = { [weak self] _ in
      _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
    }
    return stream
  }

  /// Sends a value to all listeners.
  package func send(_ value: Value) {
    for listener in listeners.withLock({ $0.values }) { listener.yield(value) }
  }
}
