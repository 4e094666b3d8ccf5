/// What a document says in tables, spans of code and sections.
struct Markdown {
  /// Its text.
  let text: String

  /// The rows of its tables, with the rules below their headings.
  var rows: [Substring] { text.lines.filter { $0.hasPrefix("|") } }

  /// The cells of a row that is written with a blank beside each bar.
  static func cells(_ row: Substring) -> [Substring] {
    row.dropFirst(2).split(separator: " | ", omittingEmptySubsequences: false)
  }

  /// Everything that a text marks as code.
  static func code(_ text: Substring) -> [Substring] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
  }

  /// The words of the code in one column of all tables; the first column is 0.
  func codeWords(inColumn column: Int) -> Set<String> {
    let cells = rows.map(Self.cells).filter { $0.count > column }.map { $0[column] }
    return Set(cells.flatMap(Self.code).flatMap(\.words))
  }

  /// What the first cell of each row of a section gives as code.
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
