import Foundation

// Prints the table. With --check, fails if a ratio or a count is above its bound or missing. With --counts, prints only
// rows of instructions. With --slow, prints only the comparisons whose times are above their bounds. With --of=a,b,
// prints only these comparisons.
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

// Without --check, leaves out what was not measured.
let rows = allRows.filter { isChecking || $0.verdict != .missing }
let cells = [Row.heading] + rows.map(\.cells)
let widths = Row.heading.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
for line in cells {
  let padded = line.indices.map { column in
    let space = String(repeating: " ", count: widths[column] - line[column].count)
    // Aligns names and words to the left, numbers to the right.
    return (1...3).contains(column) ? space + line[column] : line[column] + space
  }
  print(String(padded.joined(separator: "  ").reversed().drop { $0 == " " }.reversed()))
}

let broken = rows.filter { $0.verdict == .exceeds || $0.verdict == .missing }
print("\n\(rows.count - broken.count) of \(rows.count) rows are within their bounds")
if isChecking, !broken.isEmpty { exit(1) }
