import Foundation

// Prints the table; with --check, fails where a ratio or a count is above its bound or missing. With
// --counts there are rows of instructions alone. With --slow, prints the comparisons whose times are
// above their bounds and nothing else. --of=a,b: of these comparisons alone.
let arguments = CommandLine.arguments.dropFirst()
let isChecking = arguments.contains("--check")
guard let folder = arguments.first(where: { !$0.hasPrefix("-") }) else {
  print("usage: figures [--check] [--counts] [--slow] [--of=<comparison>,…] <measurements>")
  exit(64)
}
let measurements = try Measurements(folder: folder)
let asked = arguments.first { $0.hasPrefix("--of=") }.map {
  Set($0.dropFirst("--of=".count).split(separator: ",").map(String.init))
}
let allRows = Figure.all.filter {
  ($0.quantity == .instructions || !arguments.contains("--counts"))
    && asked?.contains($0.comparison) != false
}.map { Row($0, measurements) }

if arguments.contains("--slow") {
  let slow = allRows.filter { $0.figure.quantity == .time && $0.verdict == .exceeds }
  for name in Set(slow.flatMap { [$0.figure.comparison] + ($0.figure.floorOf.map { [$0] } ?? []) })
  {
    print(name)
  }
  exit(0)
}

// Without --check, what was not asked for is left out.
let rows = allRows.filter { isChecking || $0.verdict != .missing }
let cells = [Row.heading] + rows.map(\.cells)
let widths = Row.heading.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
for line in cells {
  let padded = line.indices.map { column in
    let space = String(repeating: " ", count: widths[column] - line[column].count)
    // Names and words to the left, numbers to the right.
    return (1...3).contains(column) ? space + line[column] : line[column] + space
  }
  print(String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed()))
}

let broken = rows.filter { $0.verdict == .exceeds || $0.verdict == .missing }
print("\n\(rows.count - broken.count) of \(rows.count) rows are within their bounds")
if isChecking, !broken.isEmpty { exit(1) }
