/// A table with aligned columns for a person. The last column is not padded, and no cell makes its column wider than a
/// screen.
///
/// Rows are kept until they have many bytes. So the rows of a large table are not all aligned with each other.
struct Table {
  private static let widestPadded = 80
  private static let mostBytes = 1 << 18

  private let titles: [String]
  private let sink: ByteSink
  private let style: Style
  /// The columns that a line has room for.
  private let room = Style.columns
  /// The cells of the rows that were not written yet, one after another.
  private let cells = ByteSink()
  /// The end and the width of each of these cells.
  private var ends: [(position: Int, width: Int)] = []
  private var widths: [Int]
  private var hasTitles = false

  init(_ titles: [String], to sink: ByteSink, _ style: Style) {
    (self.titles, self.sink, self.style) = (titles, sink, style)
    widths = titles.map(\.count)
  }

  /// Adds a cell that `body` writes. The last cell of a row ends the row.
  mutating func cell(_ body: (ByteSink) -> Void) {
    let start = cells.count
    body(cells)
    let width = cells.width(from: start)
    let column = ends.count % titles.count
    widths[column] = max(widths[column], min(width, Self.widestPadded))
    ends.append((cells.count, width))
    if column == titles.count - 1, cells.count >= Self.mostBytes { writeRows() }
  }

  /// Adds a text of a file, or a dash if it is missing.
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
    for row in stride(from: 0, to: ends.count, by: titles.count) {
      writeLine(widths: { ends[row + $0].width }) { column in
        let before = row + column - 1
        sink.write((before < 0 ? 0 : ends[before].position)..<ends[before + 1].position, of: cells)
      }
      sink.write(UInt8(ascii: "\n"))
    }
    ends.removeAll(keepingCapacity: true)
    cells.removeAll()
  }

  private func writeTitles() {
    style.dim(sink) {
      writeLine(widths: { titles[$0].utf8.count }) { sink.write(titles[$0]) }
    }
    sink.write(UInt8(ascii: "\n"))
  }

  /// Writes a row of cells in their columns. Cells that the terminal has no room for are on the next line.
  @inline(__always)
  private func writeLine(widths widthOfCell: (Int) -> Int, _ write: (Int) -> Void) {
    // Blanks are not written until a cell follows that is not empty.
    var (blanks, position) = (2, 0)
    for column in titles.indices {
      let width = widthOfCell(column)
      if width > 0 {
        // The cells of a column are aligned, so the whole column must fit. The last column need not.
        let needed = column == titles.count - 1 ? width : max(width, widths[column])
        if position > 0, needed > room - position - blanks {
          sink.write(UInt8(ascii: "\n"))
          (blanks, position) = (6, 0)
        }
        sink.write(blanks: blanks)
        write(column)
        position += blanks + width
        blanks = 0
      }
      blanks += max(0, widths[column] - width) + 2
    }
  }
}
