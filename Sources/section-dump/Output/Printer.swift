internal import LibC

/// A piece of what is printed, on its way from where it was found.
struct Piece: Sendable {
  enum Kind: UInt8 {
    /// Bytes for standard output; the first ones of all begin with what separates two items.
    case output = 1
    /// Lines for standard error; what came before them is printed before them.
    case errors
    /// What the reports of some files amount to; nothing that is printed.
    case sums
  }

  var kind: Kind
  var bytes: [UInt8]
}

/// Standard output and standard error, with what is before and behind all items.
final class Printer {
  let output: ByteSink
  let errors: ByteSink
  /// How far a long scan is.
  let progress: Progress
  private let format: Presentation.Format
  private var isFirst = true

  init(_ format: Presentation.Format) {
    self.format = format
    let progress = Progress()
    self.progress = progress
    output = ByteSink(descriptor: STDOUT_FILENO, after: progress.makeWay)
    errors = ByteSink(descriptor: STDERR_FILENO, after: progress.makeWay)
  }

  func take(_ piece: Piece) {
    switch piece.kind {
    case .output:
      output.write(piece.bytes[(isFirst ? format.separator.utf8CodeUnitCount : 0)...])
      isFirst = false
    case .errors:
      output.flush()
      errors.write(piece.bytes)
      errors.flush()
    case .sums: break
    }
  }

  /// Prints what is before all items; `head` are keys of a JSON document.
  func begin(_ head: String = "", columns: (inout CSVWriter) -> Void) {
    switch format {
    case .json: output.write("{\"schema\":1,\(head)\"files\":[\n")
    case .csv:
      var csv = CSVWriter(output)
      csv.header(columns)
    case .table, .ndjson: break
    }
  }

  /// Prints the rest; false, once told, where some of standard output was lost.
  func finish() -> Bool {
    if format == .json { output.write(word: isFirst ? "]}\n" : "\n]}\n") }
    progress.clear()
    return output.finish(errors)
  }
}

extension Presentation.Format {
  /// What is before each item but the first.
  var separator: StaticString {
    switch self {
    case .json: ",\n"
    case .table: "\n"
    case .ndjson, .csv: ""
    }
  }
}
