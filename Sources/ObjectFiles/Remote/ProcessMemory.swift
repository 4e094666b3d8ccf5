internal import BinaryImage
internal import LibC

/// The memory of a process that runs, and which files it has mapped.
///
/// Linux: `/proc/PID/mem`, which stays that of the process it was opened for, and `/proc/PID/maps`.
final class ProcessMemory: RemoteMemory {
  /// What is mapped from files, ascending.
  let ranges: [MappedRange]
  private let descriptor: Int32
  private let pid: Int

  /// Throws `unreadable` where there is no such process, or it may not be read.
  init(pid: Int) throws(ImageError) {
    let (text, failure) = systemFile("/proc/\(pid)/maps")
    guard failure == 0 else { throw Self.refusal(failure, pid) }
    let descriptor = unsafe open("/proc/\(pid)/mem", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.refusal(errno, pid) }
    (self.pid, self.descriptor) = (pid, descriptor)
    ranges = text.split(separator: UInt8(ascii: "\n")).compactMap { line in
      var range = MappedRange(line)
      range?.path.unescapeLineBreaks()
      return range?.path.hasPrefix("/") == true ? range : nil
    }
    guard !ranges.isEmpty else { throw Self.noMemory(pid) }
  }

  deinit { close(descriptor) }

  func read(at address: UInt64, count: Int) throws(ImageError) -> [UInt8] {
    guard let offset = Int(exactly: address) else { return [] }
    let (bytes, failure) = readBytes(of: descriptor, at: offset, count: count)
    // Nothing is mapped there: the caller knows what that means.
    guard failure == 0 || failure == EIO || failure == EFAULT else {
      throw Self.refusal(failure, pid)
    }
    return bytes
  }

  private static func error(_ pid: Int, _ message: String) -> ImageError {
    ImageError(.unreadable, image: "process \(pid)", message: message)
  }

  private static func noMemory(_ pid: Int) -> ImageError {
    error(pid, "It has no memory: it has ended, or belongs to the kernel.")
  }

  /// Why the system refuses, and what to do about it.
  private static func refusal(_ number: Int32, _ pid: Int) -> ImageError {
    switch number {
    case ENOENT, ESRCH:
      fileStatus(of: "/proc/\(pid)".utf8, followingLinks: false) == nil
        ? error(pid, "There is no such process.") : noMemory(pid)
    case EACCES, EPERM:
      error(
        pid,
        "It may not be read: be its user, or root with CAP_SYS_PTRACE, which containers often lack; so does a user "
          + "need it where kernel.yama.ptrace_scope is above 0.")
    default: error(pid, "\(systemMessage(number)).")
    }
  }
}

extension String {
  /// Puts line breaks where the kernel wrote `\012`.
  fileprivate mutating func unescapeLineBreaks() {
    guard contains("\\") else { return }
    self = split(separator: "\\012", omittingEmptySubsequences: false).joined(separator: "\n")
  }
}
