internal import LibC

/// The source of notices that memory is short: the kernel's pressure stall information, of the control group if there
/// is one, else of the whole system.
public struct MemoryPressure: Hashable, Sendable {
  /// The files to try, in order; nil to look for them.
  var paths: [String]?
  /// A descriptor that becomes readable with priority, and is open already.
  var descriptor: Int32?

  /// The control group's file, else the system's.
  public static let automatic = Self()
  /// No source: modules get no warnings.
  public static let none = Self(paths: [])

  /// Observes a given file, which is written and polled as `memory.pressure` is.
  ///
  /// - Parameter path: The file, such as the `memory.pressure` of another control group.
  /// - Returns: A source that tries only this file.
  public static func file(_ path: String) -> Self { Self(paths: [path]) }

  /// The threshold of a warning: tasks wait for memory for an eighth of two seconds.
  ///
  /// The kernel lets processes without privileges watch windows of whole multiples of two seconds only.
  static let trigger = "some 250000 2000000"

  /// Opens the source. Returns the descriptor to poll for POLLPRI, which the caller closes, and its description; or -1
  /// and the reason.
  func open() -> (descriptor: Int32, outcome: String) {
    if let descriptor {
      return (
        fcntl(descriptor, F_DUPFD_CLOEXEC, 0), "memory pressure: descriptor \(descriptor)"
      )
    }
    let paths = self.paths ?? Self.standardPaths
    let trigger = Array(Self.trigger.utf8CString)
    var reasons: [String] = []
    for path in paths {
      let descriptor = unsafe LibC.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      let isArmed = unsafe trigger.withUnsafeBytes { bytes in
        unsafe descriptor >= 0 && write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
      }
      if isArmed { return (descriptor, "memory pressure: \(path)") }
      reasons.append("\(path): \(systemMessage(errno))")
      if descriptor >= 0 { close(descriptor) }
    }
    let reason = reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))"
    return (-1, "memory pressure: not observed\(reason)")
  }

  /// The file of this process's control group, and the file of the system.
  static var standardPaths: [String] {
    let system = "/proc/pressure/memory"
    let groups = String(decoding: systemFile("/proc/self/cgroup").bytes, as: UTF8.self)
    guard let group = controlGroup(in: groups) else { return [system] }
    return ["/sys/fs/cgroup\(group)/memory.pressure", system]
  }

  /// Returns the path of the version 2 group in the text of `/proc/self/cgroup`; nil for the root group, which is the
  /// whole system.
  static func controlGroup(in text: String) -> String? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("0::/") }
    guard let path = line?.dropFirst(3), path != "/" else { return nil }
    return String(path)
  }
}
