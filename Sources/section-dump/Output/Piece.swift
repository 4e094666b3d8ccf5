/// A piece of what is printed, on its way from where it was found.
enum Piece: UInt8 {
  /// A file object or table begins: behind others, something stands between.
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

  /// A stream whose pieces `put` does something with.
  init(_ put: @escaping (Piece, [UInt8]) -> Void) {
    self.put = put
    text = ByteSink { bytes in
      put(.output, bytes)
      return 0
    }
  }

  /// Hands on a piece behind all text that was written before.
  func send(_ piece: Piece, _ bytes: [UInt8] = []) {
    text.flush()
    put(piece, bytes)
  }

  /// Says why something of the file at `path` could not be read or was refused.
  func report(_ problems: [Problem], path: String) {
    guard !problems.isEmpty else { return }
    var lines: [UInt8] = []
    let sink = ByteSink { bytes in
      lines += bytes
      return 0
    }
    for problem in problems { sink.say(problem.line(path: path)) }
    sink.flush()
    send(.errors, lines)
  }
}

/// Pieces one after the other, as a thread hands them to another or a child to its parent: a byte
/// that says what it is, the size in four bytes, and as many bytes.
struct PackedPieces: Sendable {
  static let headSize = 5

  private(set) var bytes: [UInt8] = []

  mutating func add(_ piece: Piece, _ contents: [UInt8]) {
    bytes += Self.head(piece, size: contents.count)
    bytes += contents
  }

  /// Each piece in turn; ends where the next is none.
  func forEach(_ body: (Piece, [UInt8]) -> Void) {
    var position = 0
    while position + Self.headSize <= bytes.count {
      let head = bytes[position..<position + Self.headSize]
      position += Self.headSize
      guard let (piece, size) = Self.head(head), size <= bytes.count - position else { return }
      body(piece, Array(bytes[position..<position + size]))
      position += size
    }
  }

  /// The five bytes before a piece.
  static func head(_ piece: Piece, size: Int) -> [UInt8] {
    [piece.rawValue] + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: size >> $0) }
  }

  /// What five bytes say of the piece behind them.
  static func head(_ bytes: ArraySlice<UInt8>) -> (piece: Piece, size: Int)? {
    guard bytes.count == headSize, let piece = bytes.first.flatMap(Piece.init) else { return nil }
    return (piece, bytes.dropFirst().reversed().reduce(0) { $0 << 8 | Int($1) })
  }
}
