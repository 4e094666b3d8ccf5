#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A value behind a mutex, held for a few instructions and never across a call to foreign code.
///
/// POSIX threads' mutex rather than `Synchronization.Mutex`: it has a condition to wait on, and
/// ThreadSanitizer understands it.
@safe package final class Lock<Value: ~Copyable>: @unchecked Sendable {
  // Sound: `value` is read and written between lock and unlock only, and both C objects keep their
  // addresses for the life of this one.
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init(_ value: consuming sending Value) {
    self.value = value
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe pthread_cond_init(condition, nil)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Runs `body` with the value while no other thread has it. `body` calls nothing that may block.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&value)
  }

  /// Runs `body` again after each `broadcast` until it returns a value; the lock is free meanwhile.
  package func wait<Result>(until body: (inout Value) -> Result?) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      unsafe pthread_cond_wait(condition, mutex)
    }
  }

  /// Wakes every thread in `wait`.
  package func broadcast() {
    unsafe pthread_cond_broadcast(condition)
  }
}
