internal import Glibc

/// What the kernel says of this process.
enum ProcessFacts {
  /// Whether a file of this name is mapped: nobody's reference is asked.
  static func isMapped(_ name: String) throws -> Bool {
    try text(of: "/proc/self/maps").split(separator: "\n").contains { $0.hasSuffix(name) }
  }

  /// What the process has in memory.
  static func residentKilobytes() throws -> Int {
    let fields = try text(of: "/proc/self/statm").split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { throw StepFailure("no statm") }
    return pages * sysconf(CInt(_SC_PAGESIZE)) / 1024
  }

  private static func text(of path: String) throws -> String {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { throw StepFailure("cannot read \(path)") }
    defer { close(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = unsafe read(file, &part, part.count), count > 0 {
      text += part[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }
}
