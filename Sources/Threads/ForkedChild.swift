internal import LibC
internal import Synchronization

/// A child that was forked after a Hive had run. It has only the forking thread: the threads of Swift's pool stayed
/// with the parent, but the pool's memory says that they are here. So an `await` that needs another thread never
/// returns, and the end of the last thread would end the child with status 0.
///
/// Such a child may call `exec` or `_exit`, as before. This type reports what it cannot do.
package enum ForkedChild {
  /// The status that such a child ends with if it waits for something that never comes: EX_SOFTWARE.
  private static let status: Int32 = 70

  package static let message =
    "this process was forked once a Hive had run, and has none of its threads; call exec or _exit after "
    + "fork, or fork before anything is started"

  private static let isChild = Atomic(false)

  /// Whether this process is such a child.
  package static var isCurrent: Bool { isChild.load(ordering: .relaxed) }

  /// Notices children that are forked from now on.
  package static func watch() { _ = watching }

  private static let watching: Void = {
    // Made before any child: a child has no other thread to make it.
    _ = (key, isCurrent)
    _ = pthread_atfork(nil, nil) {
      ForkedChild.isChild.store(true, ordering: .relaxed)
      // The forking thread runs this; the child has no other.
      _ = unsafe pthread_setspecific(ForkedChild.key, UnsafeRawPointer(bitPattern: 1))
    }
  }()

  /// A key with a value only in the forking thread of a child. Its destructor runs when that thread ends by itself, but
  /// not at `exit` or `exec`.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key) { _ in ForkedChild.threadEnds() }
    return key
  }()

  /// Handles the end of the forking thread. If that is the last thread, ends the child with a message.
  private static func threadEnds() {
    guard isLastThread else { return }
    complain("ends in an await")
    exit(status)
  }

  /// Ends such a child if this thread is its only one and would wait for another thread: for a lock that a thread of
  /// the parent held at the fork.
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

  /// Whether this is the only thread. The kernel counts threads as links of their directory, besides `.` and its name.
  private static var isLastThread: Bool {
    var tasks = stat()
    return unsafe stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3
  }
}
