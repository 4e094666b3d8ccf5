internal import BinaryImage

/// Aligned columns for a person; the last one is not padded, and no cell makes others wider than a
/// screen.
struct Table {
  private static let widestPadded = 80

  let titles: [String]
  private var rows: [[String]] = []
  private var widths: [Int]
  private var hasTitles = false

  /// The number of rows that were not written yet.
  var count: Int { rows.count }

  init(_ titles: [String]) {
    self.titles = titles
    widths = titles.map(\.count)
  }

  /// Adds a row of as many cells as there are titles; what a file says is escaped here.
  mutating func add(_ cells: [String]) {
    let row = cells.map(\.escaped)
    for (column, cell) in row.enumerated() {
      widths[column] = max(widths[column], min(cell.count, Self.widestPadded))
    }
    rows.append(row)
  }

  /// Writes the rows so far, before the first of all the titles, and forgets them.
  mutating func write(to sink: ByteSink, _ style: Style) {
    guard !rows.isEmpty else { return }
    if !hasTitles { write(titles, to: sink) { style.dim($0) } }
    hasTitles = true
    for row in rows { write(row, to: sink) { $0 } }
    rows.removeAll(keepingCapacity: true)
  }

  private func write(_ row: [String], to sink: ByteSink, _ paint: (String) -> String) {
    var line = " "
    for (column, cell) in row.enumerated() {
      line += " " + (column < row.count - 1 ? cell.padded(to: widths[column]) + " " : cell)
    }
    while line.last == " " { line.removeLast() }
    sink.write("  " + paint(String(line.dropFirst(2))) + "\n")
  }
}

extension String {
  /// The text with blanks behind it, up to as many letters.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
