internal import LibC
internal import Synchronization

/// A child that was forked once a Hive had run. It has the forking thread alone: Swift's pool of threads
/// stayed with the parent, though the pool's memory says that they are here. So an `await` that needs
/// another thread never comes back, and the last thread's end would end the child with status 0.
///
/// What such a child may do is call `exec` or `_exit`, as before. What it cannot do is said here.
package enum ForkedChild {
  /// What such a child ends with where it waits for what never comes: EX_SOFTWARE.
  private static let status: Int32 = 70

  package static let message =
    "this process was forked once a Hive had run, and has none of its threads; call exec or _exit after "
    + "fork, or fork before anything is started"

  private static let isChild = Atomic(false)

  /// True in such a child.
  package static var isCurrent: Bool { isChild.load(ordering: .relaxed) }

  /// Has children that are forked from now on noticed.
  package static func watch() { _ = watching }

  private static let watching: Void = {
    // Made before any child is: it has no other thread to make it.
    _ = (key, isCurrent)
    _ = pthread_atfork(nil, nil) {
      ForkedChild.isChild.store(true, ordering: .relaxed)
      // Of the forking thread, which is the only one.
      _ = unsafe pthread_setspecific(ForkedChild.key, UnsafeRawPointer(bitPattern: 1))
    }
  }()

  /// Has a value in the forking thread of a child alone. What it frees is called when that thread ends by
  /// itself, and neither at `exit` nor at `exec`.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { _ in ForkedChild.threadEnds() }
    return key
  }()

  /// The forking thread ends. If it is the last one, the child ends: not without a word.
  private static func threadEnds() {
    guard isLastThread else { return }
    complain("ends in an await")
    exit(status)
  }

  /// Ends such a child if this thread is its only one and would wait for another: for a lock that a thread of the parent
  /// held when it was forked.
  @usableFromInline static func endIfAlone() {
    guard isCurrent, isLastThread else { return }
    complain("would wait for a thread of its parent")
    _exit(status)
  }

  private static func complain(_ fault: String) {
    let text = "libBeeHive: process \(getpid()) \(fault): \(message)\n"
    var bytes = Array(text.utf8)
    // Sound: the bytes live as long as the call.
    _ = unsafe bytes.withUnsafeMutableBytes { unsafe write(2, $0.baseAddress, $0.count) }
  }

  /// The kernel counts a process's threads as links of their directory, besides `.` and its name.
  private static var isLastThread: Bool {
    var tasks = stat()
    return unsafe stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3
  }
}
