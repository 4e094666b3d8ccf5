internal import BinaryImage
internal import LibC

/// A line on the terminal that says how far a long scan is, and goes before anything is printed.
final class Progress {
  /// How long it is no matter that nothing happens.
  static let patience: Duration = .milliseconds(500)
  /// How often the number changes.
  private static let pace: Duration = .milliseconds(100)

  private let isWanted = isatty(STDERR_FILENO) == 1 && !Presentation.isDumbTerminal
  private let sharesTerminal = isatty(STDOUT_FILENO) == 1
  private var files = 0
  private var next = ContinuousClock.now + patience
  private var isShown = false
  /// Whether what was printed last ended in the midst of a line.
  private var isAmidLine = false

  /// Counts files that were read.
  func advance(by count: Int) {
    guard isWanted else { return }
    files += count
    let now = ContinuousClock.now
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
}
