import Foundation

/// A figure with its values.
struct Row {
  /// The verdict on the row by its bound.
  enum Verdict: String {
    case holds = "ok"
    case exceeds = "EXCEEDED"
    /// An absolute time above the goal; another machine may be the reason.
    case slow = "slower than asked"
    case missing = "not measured"
    case none = ""
  }

  let figure: Figure
  let value: Double?
  let floor: Double?

  init(_ figure: Figure, _ measurements: Measurements) {
    self.figure = figure
    value = measurements.value(figure.quantity, of: figure.comparison, "candidate")
    floor =
      if let other = figure.floorOf {
        measurements.value(figure.quantity, of: other, "candidate")
      } else {
        measurements.value(figure.quantity, of: figure.comparison, "floor")
      }
  }

  var verdict: Verdict {
    guard let value else { return .missing }
    switch figure.bound {
    case .ratio(let limit): return floor.map { value <= $0 * limit ? .holds : .exceeds } ?? .missing
    case .above(let limit): return floor.map { value - $0 <= limit ? .holds : .exceeds } ?? .missing
    case .atMost(let limit): return value <= limit ? .holds : .exceeds
    // A reported value need not have a floor.
    case .reported(let limit?): return value <= limit ? .holds : .slow
    case .reported: return .none
    }
  }

  static let heading = ["", "measured", "floor", "ratio", "bound", ""]

  var cells: [String] {
    let ratio = value.flatMap { value in floor.map { value / $0 } }
    let bound =
      switch figure.bound {
      case .ratio(let limit): "≤ \(number(limit)) × floor"
      case .above(let limit): "≤ floor + \(amount(limit))"
      case .atMost(let limit): "≤ \(amount(limit))"
      case .reported(let limit): limit.map { "\(amount($0)), reported" } ?? "reported"
      }
    return [
      figure.title, value.map(amount) ?? "-", floor.map(amount) ?? "-", ratio.map(number) ?? "-",
      bound, verdict.rawValue,
    ]
  }

  private func amount(_ value: Double) -> String {
    if figure.quantity == .instructions {
      return scaled(value, [("", 1e4), ("k", 1e7)], "M") + " instr"
    }
    return scaled(value, [(" ns", 1e3), (" µs", 1e6)], " ms")
  }

  /// Returns the value with the first unit whose limit it does not reach. Each unit is a thousand of the last.
  private func scaled(
    _ value: Double, _ units: [(name: String, limit: Double)], _ last: String
  ) -> String {
    var value = value
    for unit in units {
      if value < unit.limit { return number(value) + unit.name }
      value /= 1000
    }
    return number(value) + last
  }

  private func number(_ value: Double) -> String {
    let digits = value < 10 ? 2 : value < 100 ? 1 : 0
    return String(format: "%.\(digits)f", value)
  }
}
