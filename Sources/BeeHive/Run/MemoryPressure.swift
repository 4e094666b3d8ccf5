internal import BinaryImage
internal import LibC

/// Where the kernel tells that memory is short: its pressure stall information, of the control group
/// if there is one, of the whole system otherwise.
public struct MemoryPressure: Hashable, Sendable {
  /// What came of looking for it.
  package enum Availability: Hashable, Sendable {
    /// Modules are told when the kernel writes to this file.
    case observed(path: String)
    /// Modules are not told, for this reason.
    case unavailable(reason: String)
    /// It was not asked for.
    case unwanted
  }

  /// The files to try, in order; nil to look for them.
  var paths: [String]?
  /// An open descriptor that becomes readable with priority; the owner closes it.
  var descriptor: Int32?

  /// The control group's file, else the system's.
  public static let automatic = Self()
  /// None: modules are not told.
  public static let none = Self(paths: [])

  /// Observes a given file, which is written and polled as `memory.pressure` is.
  ///
  /// - Parameter path: The file, such as the `memory.pressure` of another control group.
  /// - Returns: A source that tries this file alone.
  public static func file(_ path: String) -> Self { Self(paths: [path]) }

  /// The time within two seconds that tasks may wait for memory before modules are told: an eighth.
  ///
  /// The kernel lets processes without privileges watch windows of whole multiples of two seconds only.
  static let trigger = "some 250000 2000000"

  /// Opens the source; the descriptor to poll for POLLPRI, and whether to close it.
  func open() -> (descriptor: Int32, isOwned: Bool, availability: Availability) {
    if let descriptor { return (descriptor, false, .observed(path: "descriptor \(descriptor)")) }
    let paths = self.paths ?? Self.standardPaths
    guard !paths.isEmpty else { return (-1, false, .unwanted) }
    var reasons: [String] = []
    for path in paths {
      let (descriptor, failure) = Self.arm(path)
      if descriptor >= 0 { return (descriptor, true, .observed(path: path)) }
      reasons.append("\(path): \(systemMessage(failure))")
    }
    return (-1, false, .unavailable(reason: reasons.joined(separator: "; ")))
  }

  /// Opens a file and says when it is to tell; the number of the error where it does not.
  private static func arm(_ path: String) -> (descriptor: Int32, failure: Int32) {
    let descriptor = unsafe LibC.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return (-1, errno) }
    let trigger = Array(trigger.utf8CString)
    let count = unsafe trigger.withUnsafeBytes { bytes in
      unsafe write(descriptor, bytes.baseAddress, bytes.count)
    }
    if count == trigger.count { return (descriptor, 0) }
    defer { close(descriptor) }
    return (-1, errno)
  }

  /// The file of this process's control group, and that of the system.
  static var standardPaths: [String] {
    let system = "/proc/pressure/memory"
    let groups = String(decoding: systemFile("/proc/self/cgroup").bytes, as: UTF8.self)
    guard let group = controlGroup(in: groups) else { return [system] }
    return ["/sys/fs/cgroup\(group)/memory.pressure", system]
  }

  /// The path of the version 2 group in the text of `/proc/self/cgroup`; nil for the root's, which is
  /// the whole system.
  static func controlGroup(in text: String) -> String? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("0::/") }
    guard let path = line?.dropFirst(3), path != "/" else { return nil }
    return String(path)
  }
}

extension MemoryPressure.Availability: CustomStringConvertible {
  /// `memory pressure: /proc/pressure/memory`
  package var description: String {
    switch self {
    case .observed(let path): "memory pressure: \(path)"
    case .unavailable(let reason): "memory pressure: not observed (\(reason))"
    case .unwanted: "memory pressure: not observed"
    }
  }
}
