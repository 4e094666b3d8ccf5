internal import LibC

/// A watch on directories: a thread of its own waits until the system reports changes (inotify).
///
/// The descriptor is closed when the last reference goes: the thread's, or that of the caller who may end it.
package final class DirectoryWatch: Sendable {
  private let descriptor: Int32
  private let ending: StopPipe

  /// The events that change which files there are, or what they hold.
  private static let events =
    UInt32(IN_CREATE) | UInt32(IN_DELETE) | UInt32(IN_MOVED_FROM) | UInt32(IN_MOVED_TO)
    | UInt32(IN_CLOSE_WRITE) | UInt32(IN_MODIFY) | UInt32(IN_ATTRIB) | UInt32(IN_DELETE_SELF)
    | UInt32(IN_MOVE_SELF)
  /// The milliseconds without an event before files are read: a program writes a file in several steps.
  private static let quiet: Int32 = 30
  /// The number of times that more events may come before a change is reported all the same.
  private static let mostTurns = 50

  /// Nil if the system gives no descriptor, with the reason in `errno`.
  package init?() {
    guard let ending = StopPipe() else { return nil }
    self.ending = ending
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Watches these directories too, or the folders above those that are not there. Returns the paths that are not
  /// watched, each with the number of the reason.
  package func follow(_ paths: [String]) -> [(path: String, failure: Int32)] {
    var seen: Set<[UInt8]> = []
    return paths.filter { seen.insert(Array($0.utf8)).inserted }.compactMap { path in
      var place = Array(path.utf8)
      while true {
        let watched = unsafe inotify_add_watch(
          descriptor, String(decoding: place, as: UTF8.self), Self.events | UInt32(IN_ONLYDIR))
        if watched >= 0 { return nil }
        guard errno == ENOENT, place.count > 1, let end = place.lastIndex(of: UInt8(ascii: "/"))
        else { return (path, errno) }
        place.removeSubrange(max(1, end)...)
      }
    }
  }

  /// Calls `changed` after each change, until it returns false or ``end()`` is called. Returns whether there is a
  /// thread for it.
  package func run(_ changed: @escaping @Sendable () -> Bool) -> Bool {
    POSIXThread.detach { [self] in
      var changes = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
      while ending.poll(&changes) != nil {
        // Waits until nothing more comes for a moment; if events keep coming, only for some of them.
        for _ in 0..<Self.mostTurns {
          drain()
          guard let count = ending.poll(&changes, limit: Self.quiet) else { return }
          if count == 0 { break }
        }
        if !changed() { return }
      }
    }
  }

  /// Ends the thread; a call that it is in ends first. Does not wait for that.
  package func end() { ending.stop() }

  /// Discards the events: every directory is read again anyway.
  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    // Sound: the pointer covers the array for the duration of the call.
    while unsafe bytes.withUnsafeMutableBytes({
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }) > 0 {}
  }
}
