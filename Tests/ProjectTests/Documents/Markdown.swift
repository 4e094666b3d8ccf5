/// The tables, spans of code and sections of a document.
struct Markdown {
  let text: String

  /// The rows of the tables, with the rules below their headings.
  var rows: [Substring] { text.lines.filter { $0.hasPrefix("|") } }

  /// Returns the cells of a row that has a blank on each side of a bar.
  static func cells(_ row: Substring) -> [Substring] {
    row.dropFirst(2).split(separator: " | ", omittingEmptySubsequences: false)
  }

  /// Returns everything that a text marks as code.
  static func code(_ text: Substring) -> [Substring] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  /// Returns the words of the code in one column of all tables. The first column is 0.
  func codeWords(inColumn column: Int) -> Set<String> {
    let cells = rows.map(Self.cells).filter { $0.count > column }.map { $0[column] }
    return Set(cells.flatMap(Self.code).flatMap(\.words))
  }

  /// Returns the code in the first cell of each row of a section.
  func firstCodes(ofSection title: String) -> [String] {
    var isInside = false
    var codes: [String] = []
    for line in text.lines {
      if line.hasPrefix("## ") { isInside = line == "## \(title)" }
      guard isInside, line.hasPrefix("| `"), let code = Self.code(line).first else { continue }
      codes.append(String(code))
    }
    return codes
  }
}
