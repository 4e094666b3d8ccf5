// A file of its own, since Examples/GraphPage has it by a link: it draws what the start follows.

/// Arrows between positions: for each, the positions that it leads to.
extension [[Int]] {
  /// The arrows turned round: for each position, the positions that lead to it.
  package var reversedArrows: [[Int]] {
    var result = Self(repeating: [], count: count)
    for (position, others) in enumerated() {
      for other in others { result[other].append(position) }
    }
    return result
  }

  /// Returns every position that one of `roots` leads to, without the roots. `through` is the position before it.
  package func reached(from roots: [Int]) -> [(position: Int, through: Int)] {
    var isReached = [Bool](repeating: false, count: count)
    for root in roots { isReached[root] = true }
    var reached: [(position: Int, through: Int)] = []
    var queue = roots
    while let position = queue.popLast() {
      for other in self[position] where !isReached[other] {
        isReached[other] = true
        reached.append((other, position))
        queue.append(other)
      }
    }
    return reached
  }

  /// All positions, in the order that a depth-first search finishes them. An arrow to a position that
  /// is not finished before closes a cycle.
  package var depthFirst: [Int] {
    var isMet = [Bool](repeating: false, count: count)
    var finished: [Int] = []
    for root in indices {
      var path = [root]
      while let position = path.popLast() {
        // A complement marks a position whose arrows were all followed.
        if position < 0 { finished.append(~position) }
        guard position >= 0, !isMet[position] else { continue }
        isMet[position] = true
        path.append(~position)
        path += self[position].reversed()
      }
    }
    return finished
  }

  /// Groups of positions that all lead to one another, by Kosaraju's algorithm.
  package var components: [[Int]] {
    let sources = reversedArrows
    var isMet = [Bool](repeating: false, count: count)
    var components: [[Int]] = []
    for root in depthFirst.reversed() where !isMet[root] {
      isMet[root] = true
      var component = [root]
      var next = 0
      while next < component.count {
        for other in sources[component[next]] where !isMet[other] {
          isMet[other] = true
          component.append(other)
        }
        next += 1
      }
      components.append(component)
    }
    return components
  }
}
