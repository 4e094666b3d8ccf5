internal import LibC

/// Standard output and standard error, with what is between the parts of a report.
final class Printer {
  let output: ByteSink
  let errors: ByteSink
  /// How far a long scan is.
  let progress: Progress
  private let format: Presentation.Format
  private var items = 0

  init(_ format: Presentation.Format) {
    self.format = format
    let progress = Progress()
    self.progress = progress
    output = ByteSink(descriptor: STDOUT_FILENO, after: progress.makeWay)
    errors = ByteSink(descriptor: STDERR_FILENO, after: progress.makeWay)
  }

  func take(_ piece: Piece, _ bytes: [UInt8]) {
    switch piece {
    case .item:
      output.write(separator)
      items += 1
    case .output: output.write(bytes)
    case .errors:
      output.flush()
      errors.write(bytes)
      errors.flush()
    case .sums: break
    }
  }

  /// Prints what is before all items; `head` are keys of a JSON document.
  func begin(_ columns: [String], _ head: String = "") {
    switch format {
    case .json: output.write("{\"schema\":1,\(head)\"files\":[")
    case .csv:
      var csv = CSVWriter(output)
      csv.row(columns)
    case .table, .ndjson: break
    }
  }

  /// Prints the rest; false, once told, where some of standard output was lost.
  func finish() -> Bool {
    if format == .json { output.write(word: "\n]}\n") }
    progress.clear()
    return output.finish(errors)
  }

  private var separator: String {
    switch format {
    case .json: items > 0 ? ",\n" : "\n"
    case .table: items > 0 ? "\n" : ""
    case .ndjson, .csv: ""
    }
  }
}
