import Logging
import Synchronization

/// A log that a test reads.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  /// `notice message [request=…]`, in order.
  var all: [String] { lines.withLock { $0 } }

  /// Writes here.
  var logger: Logger { Logger(label: "test") { _ in Handler(lines: self) } }

  private struct Handler: LogHandler {
    let lines: LogLines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted()
      let line = "\(event.level) \(event.message) [\(fields.joined(separator: " "))]"
      lines.lines.withLock { $0.append(line) }
    }
  }
}

extension Logger {
  /// A log that keeps nothing, not even the number of a request.
  static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
