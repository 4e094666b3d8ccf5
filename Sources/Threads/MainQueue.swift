internal import LibC

/// The queue of the main thread, where everything runs that is isolated to the main actor.
///
/// Nobody serves it while `main` of a C program waits in a call of ours, so that call does. Dispatch has these functions for
/// run loops; CoreFoundation serves the queue through them.
@safe package struct MainQueue {
  private typealias Number = @convention(c) () -> Int32
  private typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// Can be read while something waits to be run.
  private let descriptor: Int32
  private let callback: Callback
  /// Whether the thread is inside of a task, which the queue may be running: it is not entered twice.
  private let isInTask = unsafe withUnsafeCurrentTask { unsafe $0 != nil }

  /// How long work that nobody can run may wait, in milliseconds.
  private static let patience: Int32 = 1000

  /// Nil on other threads than the main one, and where nothing has loaded Dispatch.
  package init?() {
    // Swift sees no declaration of it.
    guard let thread = unsafe dlsym(nil, "gettid"),
      unsafe unsafeBitCast(thread, to: Number.self)() == getpid(),
      let library = unsafe dlopen("libdispatch.so", RTLD_LAZY | RTLD_NOLOAD)
    else { return nil }
    defer { unsafe _ = dlclose(library) }
    guard let descriptor = unsafe dlsym(library, "_dispatch_get_main_queue_handle_4CF"),
      let callback = unsafe dlsym(library, "_dispatch_main_queue_callback_4CF")
    else { return nil }
    // Sound: these are their types in Dispatch's private header.
    self.descriptor = unsafe unsafeBitCast(descriptor, to: Number.self)()
    unsafe self.callback = unsafe unsafeBitCast(callback, to: Callback.self)
  }

  /// Runs `begin`, and then what comes to the queue, until the function is called that `begin` was given.
  ///
  /// - Returns: False where something waits to be run that nobody can run.
  package func run(while begin: (_ end: @escaping @Sendable () -> Void) -> Void) -> Bool {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else {
      begin {}
      return true
    }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    begin { [writing = ends[1]] in close(writing) }
    var watched = [
      pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0),
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
    ]
    // Some may have come before anybody asked for the descriptor.
    if !isInTask { serve() }
    while unsafe poll(&watched, 2, -1) > 0 || errno == EINTR {
      if watched[0].revents != 0 { return true }
      if watched[1].revents == 0 { continue }
      if isInTask { return unsafe poll(&watched, 1, Self.patience) != 0 }
      serve()
    }
    return true
  }

  private func serve() {
    var count: UInt64 = 0
    unsafe _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    callback(nil)
  }
}
