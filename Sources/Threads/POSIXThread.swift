package import LibC

/// A thread that the concurrency runtime does not know: for work that must go on while every task is blocked, and for
/// work that blocks.
///
/// `join` is called once.
package struct POSIXThread: @unchecked Sendable {
  // Sound: the number of a thread, which any other may wait for.
  private let thread: pthread_t

  /// The number of processors that can be used.
  package static var processors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

  /// Runs `body` on a new thread; nil if the system gives none, with the reason in `errno`.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let work = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
    unsafe work.initialize(to: body)
    var thread = pthread_t()
    // Sound: the new thread takes over the memory that was passed to it.
    let failure = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let work = unsafe argument?.assumingMemoryBound(to: (@Sendable () -> Void).self)
        else { return nil }
        let run = unsafe work.move()
        unsafe work.deallocate()
        // A cancelled thread would leave its work unfinished.
        uncancelled(run)
        return nil
      }, work)
    guard failure == 0 else {
      unsafe work.deinitialize(count: 1)
      unsafe work.deallocate()
      errno = failure
      return nil
    }
    self.thread = thread
  }

  /// Waits until the thread has ended.
  package func join() { pthread_join(thread, nil) }

  /// Runs `body` on a new thread that is never waited for; false if the system gives none.
  package static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
    guard let thread = POSIXThread(body) else { return false }
    pthread_detach(thread.thread)
    return true
  }
}

/// Runs `body` while nobody can cancel this thread: a cancelled thread would never free its locks.
package func uncancelled<Result, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  var before: Int32 = 0
  unsafe pthread_setcancelstate(Int32(PTHREAD_CANCEL_DISABLE), &before)
  defer { pthread_setcancelstate(before, nil) }
  return try body()
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

/// A pipe that stops a thread that waits for the system.
package final class StopPipe: Sendable {
  private let reading: Int32
  private let writing: Int32

  /// Nil if the system gives no pipe.
  package init?() {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit { for end in [reading, writing] { close(end) } }

  /// Stops the thread, for good.
  package func stop() {
    var byte: UInt8 = 0
    unsafe write(writing, &byte, 1)
  }

  /// Waits until one of `others` is ready, or for `limit` milliseconds. Returns how many are; nil if the thread is to
  /// stop.
  package func poll(_ others: inout [pollfd], limit: Int32 = -1) -> Int32? {
    others.append(pollfd(fd: reading, events: Int16(POLLIN), revents: 0))
    defer { others.removeLast() }
    while true {
      let count = unsafe LibC.poll(&others, nfds_t(others.count), limit)
      // A signal that somebody else handles interrupted it: wait again.
      if count < 0, errno == EINTR { continue }
      return count < 0 || others.last?.revents != 0 ? nil : count
    }
  }
}

/// Runs `begin`, then serves the queue of the main thread until somebody calls the function that `begin` got.
///
/// Everything that is isolated to the main actor runs in that queue. Nobody else serves it while `main` of a C program
/// waits in a call of ours. On other threads this only runs `begin`.
///
/// - Throws: The error of `check`, which is called again and again.
/// - Returns: False if work that nobody can run waits in the queue. Nil if a descriptor is needed, but the system gives
///   none or the program has closed it: `errno` has the reason, and nothing was begun.
package func servingMainQueue<Failure: Error>(
  while begin: (_ end: @escaping @Sendable () -> Void) -> Void, check: () throws(Failure) -> Void
) throws(Failure) -> Bool? {
  guard let queue = unsafe mainQueue() else {
    begin {}
    return true
  }
  // Dispatch ends the process if it finds no descriptor for the first use of the queue.
  if queueEvents.withLock({ $0 == nil }) {
    guard StopPipe() != nil else { return nil }
    let descriptor = unsafe queue.descriptor()
    queueEvents.withLock { $0 = (descriptor, file(of: descriptor)) }
  }
  let events = queueEvents.withLock { events in
    events.flatMap { file(of: $0.descriptor) == $0.file ? $0.descriptor : nil }
  }
  if events == nil { errno = EBADF }
  // The queue may be running the task that this thread is inside of, so it is not entered twice.
  let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }
  guard let events, let ending = StopPipe() else {
    if isInTask { return nil }
    // The program has closed the queue's descriptor, or none is left, so this looks again and again.
    let isOver = Lock(false)
    begin { isOver.change { $0 = true } }
    while isOver.wait(before: .now + .milliseconds(10), until: { $0 ? () : nil }) == nil {
      unsafe queue.run(nil)
      try check()
    }
    return true
  }
  begin { ending.stop() }
  // Work may have come before anybody asked for the descriptor.
  if !isInTask { unsafe queue.run(nil) }
  var waiting = [pollfd(fd: events, events: Int16(POLLIN), revents: 0)]
  while let ready = ending.poll(&waiting, limit: 1000) {
    guard ready > 0 else {
      try check()
      continue
    }
    var none: [pollfd] = []
    // Work that nobody can run waits at most a second.
    if isInTask { return ending.poll(&none, limit: 1000) == nil }
    var count: UInt64 = 0
    unsafe _ = read(events, &count, MemoryLayout<UInt64>.size)
    unsafe queue.run(nil)
  }
  return true
}

/// The descriptor that can be read while work waits in the queue of the main thread, once it is known, and its file. A
/// program may close all its descriptors, and open others of the same numbers.
private let queueEvents = Lock<(descriptor: Int32, file: [UInt64])?>(nil)

/// Returns the numbers that identify the file of a descriptor; none if it is not open.
private func file(of descriptor: Int32) -> [UInt64] {
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { return [] }
  return [UInt64(status.st_dev), UInt64(status.st_ino)]
}

/// Returns two functions: one gives a descriptor that can be read while work waits in the queue of the main thread, the
/// other runs that work. Nil on other threads, and if nothing has loaded Dispatch.
///
/// Dispatch has these functions for run loops: CoreFoundation serves the queue through them. Only the main thread asks
/// the loader: a constructor may have the loader's lock and wait for other threads.
private func mainQueue() -> (
  descriptor: @convention(c) () -> Int32, run: @convention(c) (UnsafeMutableRawPointer?) -> Void
)? {
  guard isMainThread, let library = unsafe dlopen("libdispatch.so", RTLD_LAZY | RTLD_NOLOAD)
  else { return nil }
  defer { unsafe _ = dlclose(library) }
  guard let descriptor = unsafe dlsym(library, "_dispatch_get_main_queue_handle_4CF"),
    let callback = unsafe dlsym(library, "_dispatch_main_queue_callback_4CF")
  else { return nil }
  // Sound: these are their types in Dispatch's private header.
  return unsafe (
    unsafeBitCast(descriptor, to: (@convention(c) () -> Int32).self),
    unsafeBitCast(callback, to: (@convention(c) (UnsafeMutableRawPointer?) -> Void).self)
  )
}

/// Whether this is the thread that the process began with.
private var isMainThread: Bool { threadNumber == getpid() }
