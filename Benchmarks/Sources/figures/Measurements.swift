import Foundation

/// The least that each side of each comparison took, as the harness and callgrind wrote it.
struct Measurements {
  /// Picoseconds or instructions by comparison, then by side.
  private var times: [String: [String: Double]] = [:]
  private var counts: [String: [String: Double]] = [:]

  /// Reads what is in `folder`: `<run>.Times.<comparison>.<side>.histogram.samples.tsv` of the
  /// harness, and `<comparison>.callgrind.<number>` of callgrind.
  init(folder: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let parts = name.split(separator: ".").map(String.init)
      let text = { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }
      if parts.count > 4, parts[1] == "Times", parts.last == "tsv" {
        let samples = try text().split(separator: "\n").dropFirst().compactMap { Double($0) }
        times[parts[2], default: [:]][parts[3]] = samples.min()
      } else if parts.count == 3, parts[1] == "callgrind" {
        guard let (side, count) = Self.count(in: try text()) else { continue }
        counts[parts[0], default: [:]][side] = count
      }
    }
  }

  /// Returns the cost of one operation of a side, less the base's cost: nanoseconds or instructions.
  func value(_ quantity: Figure.Quantity, of comparison: String, _ side: String) -> Double? {
    let sides = quantity == .time ? times[comparison] : counts[comparison]
    guard let value = sides?[side] else { return nil }
    let net = value - (sides?["base"] ?? 0)
    return quantity == .time ? net / 1000 : net
  }

  /// Reads `desc: Trigger: Client Request: count floor 1000` and `totals: 12345`.
  private static func count(in text: String) -> (side: String, count: Double)? {
    var side: String?
    var operations = 1.0
    var total: Double?
    for line in text.split(separator: "\n") {
      if line.hasPrefix("desc: Trigger: Client Request: count ") {
        let words = line.split(separator: " ")
        side = String(words[words.count - 2])
        operations = Double(words[words.count - 1]) ?? 1
      } else if line.hasPrefix("totals: ") {
        total = Double(line.dropFirst(8).trimmingCharacters(in: .whitespaces))
      }
    }
    guard let side, let total else { return nil }
    return (side, total / operations)
  }
}
