internal import LibC

/// A line on the terminal that says how far a long scan is, and goes before anything is printed.
final class Progress {
  /// How long nobody minds that nothing happens, in nanoseconds.
  static let patience: UInt64 = 500_000_000
  /// How often the number changes, likewise.
  private static let pace: UInt64 = 100_000_000

  private let isWanted: Bool
  private let sharesTerminal = isatty(STDOUT_FILENO) == 1
  private var files = 0
  private var next: UInt64 = 0
  private var isShown = false
  /// Whether what was printed last ended in the midst of a line.
  private var isAmidLine = false

  init() {
    isWanted = isatty(STDERR_FILENO) == 1 && !Presentation.isDumbTerminal
    if isWanted { next = Self.now + Self.patience }
  }

  /// Counts files that were read.
  func advance(by count: Int) {
    guard isWanted else { return }
    files += count
    let now = Self.now
    guard now >= next, !isAmidLine else { return }
    next = now + Self.pace
    isShown = true
    write("\r\(files.counted("file")) read")
  }

  /// Makes way for bytes that are going to be printed.
  func makeWay(for bytes: [UInt8]) {
    clear()
    isAmidLine = sharesTerminal && bytes.last != UInt8(ascii: "\n")
  }

  /// Takes the line away.
  func clear() {
    guard isShown else { return }
    isShown = false
    write("\r\u{1b}[K")
  }

  private func write(_ text: String) {
    let sink = ByteSink(descriptor: STDERR_FILENO)
    sink.write(text)
    sink.flush()
  }

  private static var now: UInt64 {
    var time = timespec()
    // Sound: the structure lives for the duration of the call.
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
