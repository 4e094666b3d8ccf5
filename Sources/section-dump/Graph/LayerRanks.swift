extension LayeredPart {
  /// The column of each box: behind all that lead to it, but no further from them than needed.
  static func ranks(of count: Int, _ arrows: [(from: Int, to: Int)]) -> [Int] {
    var next: [[Int]] = Array(repeating: [], count: count)
    for arrow in arrows { next[arrow.from].append(arrow.to) }
    // Depth first: an arrow to a box that is being visited closes a cycle, and does not count.
    var state = Array(repeating: 0, count: count)
    var finished: [Int] = []
    var kept: [[Int]] = Array(repeating: [], count: count)
    for root in 0..<count where state[root] == 0 {
      var path = [(box: root, next: 0)]
      state[root] = 1
      while let top = path.last {
        guard top.next < next[top.box].count else {
          state[top.box] = 2
          finished.append(top.box)
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let other = next[top.box][top.next]
        if state[other] != 1 { kept[top.box].append(other) }
        if state[other] == 0 {
          state[other] = 1
          path.append((other, 0))
        }
      }
    }
    var ranks = Array(repeating: 0, count: count)
    var isLed = Array(repeating: false, count: count)
    for box in finished.reversed() {
      for other in kept[box] {
        ranks[other] = max(ranks[other], ranks[box] + 1)
        isLed[other] = true
      }
    }
    for box in finished where !isLed[box] {
      if let nearest = kept[box].map({ ranks[$0] }).min() { ranks[box] = nearest - 1 }
    }
    return ranks
  }
}
