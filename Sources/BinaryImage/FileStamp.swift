package import LibC

/// What tells the contents of a file from those it had before, and the file from all others.
///
/// A program that writes to a file can set back when it was modified, and not when it was changed.
package struct FileStamp: Hashable, Sendable {
  /// The device that holds it: `st_dev`.
  package var device: UInt64
  /// Its number there: `st_ino`.
  package var inode: UInt64
  /// In bytes.
  package var size: UInt64
  /// When its contents were written, in nanoseconds since 1970: `st_mtim`.
  package var modified: Int64
  /// When anything about it was changed: `st_ctim`.
  package var changed: Int64

  /// Takes over what the system says.
  package init(_ status: stat) {
    (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    size = UInt64(max(0, status.st_size))
    modified = Self.nanoseconds(status.st_mtim)
    changed = Self.nanoseconds(status.st_ctim)
  }

  /// What all names of one file share.
  package struct FileNumber: Hashable, Sendable {
    private let device, inode: UInt64

    fileprivate init(_ stamp: FileStamp) { (device, inode) = (stamp.device, stamp.inode) }
  }

  /// Which file it is, whatever its contents.
  package var number: FileNumber { FileNumber(self) }

  /// Whether these are names of one file.
  package func isSameFile(as other: Self) -> Bool { number == other.number }

  /// Whether a change from now on would show: the file system's clock ticks every few milliseconds, and what is
  /// written twice within a tick has one time.
  package var isSettled: Bool {
    var now = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Self.nanoseconds(now) &- changed > Self.longestTick
  }

  /// Longer than any kernel's clock takes for a tick.
  private static let longestTick: Int64 = 20_000_000

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// Whom a file belongs to, and who may do what with it.
package struct FileAccess: Hashable, Sendable {
  /// The user: `st_uid`.
  package var owner: UInt32
  /// The bits of `st_mode`, without those of its type.
  package var mode: UInt32

  /// Takes over what the system says.
  package init(_ status: stat) {
    (owner, mode) = (status.st_uid, UInt32(status.st_mode & ~S_IFMT))
  }

  /// Whether others than its owner may write to it.
  package var isWritableByOthers: Bool { mode & 0o022 != 0 }
}
