internal import Registration

extension LayeredPart {
  /// The column of each box: behind all that lead to it, but no further from them than needed.
  static func ranks(of count: Int, _ arrows: [(from: Int, to: Int)]) -> [Int] {
    var next: [[Int]] = Array(repeating: [], count: count)
    for arrow in arrows { next[arrow.from].append(arrow.to) }
    let finished = next.depthFirst
    // An arrow that closes a cycle does not count.
    var turns = Array(repeating: 0, count: count)
    for (turn, box) in finished.enumerated() { turns[box] = turn }
    for box in next.indices { next[box].removeAll { turns[$0] >= turns[box] } }
    var ranks = Array(repeating: 0, count: count)
    var isLed = Array(repeating: false, count: count)
    for box in finished.reversed() {
      for other in next[box] {
        ranks[other] = max(ranks[other], ranks[box] + 1)
        isLed[other] = true
      }
    }
    for box in finished where !isLed[box] {
      if let nearest = next[box].map({ ranks[$0] }).min() { ranks[box] = nearest - 1 }
    }
    return ranks
  }
}
