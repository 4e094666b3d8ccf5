#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A thread that belongs to nobody: for work that must go on while every task is blocked.
enum DetachedThread {
  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread; false if the system gives none.
  static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
    let work = unsafe Unmanaged.passRetained(Work(body))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    // Sound: the new thread takes over the reference that was passed to it.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        let work = unsafe argument.map { unsafe Unmanaged<Work>.fromOpaque($0).takeRetainedValue() }
        work?.run()
        return nil
      }, work.toOpaque())
    guard failure == 0 else {
      unsafe work.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  /// Lets the calling thread sleep.
  static func sleep(_ duration: Duration) {
    var time = timespec(
      tv_sec: Int(duration.components.seconds),
      tv_nsec: Int(duration.components.attoseconds / 1_000_000_000))
    unsafe nanosleep(&time, nil)
  }
}
