/// Aligned columns for a person; the last one is not padded, and no cell makes others wider than a
/// screen.
///
/// Rows are held until there are many bytes of them: those of a large table are not all aligned with
/// each other.
struct Table {
  private static let widestPadded = 80
  private static let mostBytes = 1 << 18

  private let titles: [String]
  private let sink: ByteSink
  private let style: Style
  /// The cells of the rows that were not written yet, one after another.
  private let cells = ByteSink()
  /// Where each of these cells ends, and how wide it is.
  private var ends: [(position: Int, width: Int)] = []
  private var widths: [Int]
  private var hasTitles = false

  init(_ titles: [String], to sink: ByteSink, _ style: Style) {
    (self.titles, self.sink, self.style) = (titles, sink, style)
    widths = titles.map(\.count)
  }

  /// Adds a cell that `body` writes; the last one of a row ends it.
  mutating func cell(_ body: (ByteSink) -> Void) {
    let start = cells.count
    body(cells)
    let width = cells.width(from: start)
    let column = ends.count % titles.count
    widths[column] = max(widths[column], min(width, Self.widestPadded))
    ends.append((cells.count, width))
    if column == titles.count - 1, cells.count >= Self.mostBytes { writeRows() }
  }

  /// Adds a text of a file; one that is missing is a dash.
  mutating func cell(_ text: String?) {
    cell { sink in
      if let text { sink.write(text, as: .cell) } else { sink.write(word: "–") }
    }
  }

  /// Adds a text of the tool.
  mutating func cell(message: String) { cell { $0.write(message, as: .message) } }

  mutating func cell(decimal number: UInt64) { cell { $0.write(decimal: number) } }

  mutating func cell(hexadecimal number: UInt64?) {
    guard let number else { return cell(nil) }
    cell { $0.write(hexadecimal: number) }
  }

  /// Writes the rows that were not written yet.
  mutating func writeRows() {
    if !ends.isEmpty, !hasTitles { writeTitles() }
    hasTitles = true
    var start = 0
    for row in stride(from: 0, to: ends.count, by: titles.count) {
      // Those before a cell that is empty are not written before it is known that one follows.
      var blanks = 2
      for column in titles.indices {
        let (end, width) = ends[row + column]
        if end > start {
          sink.write(blanks: blanks)
          sink.write(start..<end, of: cells)
          blanks = 0
        }
        blanks += max(0, widths[column] - width) + 2
        start = end
      }
      sink.write(UInt8(ascii: "\n"))
    }
    ends.removeAll(keepingCapacity: true)
    cells.removeAll()
  }

  private func writeTitles() {
    sink.write(word: "  ")
    style.dim(sink) {
      for column in titles.indices {
        sink.write(titles[column])
        guard column < titles.count - 1 else { break }
        sink.write(blanks: widths[column] - titles[column].utf8.count + 2)
      }
    }
    sink.write(UInt8(ascii: "\n"))
  }
}
