internal import BinaryImage

/// A piece of what is printed, on its way from where it was found.
enum Piece: UInt8 {
  /// A file object or table begins: behind others, something is between.
  case item = 1
  /// Bytes for standard output.
  case output
  /// Lines for standard error; what came before them is printed before them.
  case errors
  /// What the reports of some files amount to; nothing that is printed.
  case sums
}

/// What was found in files, in the order in which it is to be printed.
final class PieceStream {
  /// Bytes for standard output.
  let text: ByteSink
  private let put: (Piece, [UInt8]) -> Void
  /// Whether what is written goes on by itself, in its order.
  private let isDirect: Bool

  /// A stream whose pieces `put` does something with.
  init(_ put: @escaping (Piece, [UInt8]) -> Void) {
    self.put = put
    text = ByteSink { bytes in
      put(.output, bytes)
      return 0
    }
    isDirect = false
  }

  /// A stream that is printed as it comes.
  init(_ printer: Printer) {
    (put, text, isDirect) = (printer.take, printer.output, true)
  }

  /// Hands on a piece behind all text that was written before.
  func send(_ piece: Piece, _ bytes: [UInt8] = []) {
    if !isDirect { text.flush() }
    put(piece, bytes)
  }

  /// Says why something of the file at `path` could not be read or was refused.
  func report(_ problems: [ImageError], path: String) {
    guard !problems.isEmpty else { return }
    send(
      .errors,
      ByteSink.bytes { sink in
        for problem in problems { sink.say(problem.line(path: path)) }
      })
  }
}
