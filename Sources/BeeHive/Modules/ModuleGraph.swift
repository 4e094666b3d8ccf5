/// Who starts after whom, and where that goes round in circles.
struct ModuleGraph {
  let nodes: [LaunchOrder.Node]
  let byName: [String: LaunchOrder.Node]

  /// One circle of each strongly connected group, found without recursion.
  func cycles() -> [LaunchOrder.Cycle] {
    enum Colour { case grey, black }
    var colours: [String: Colour] = [:]
    var cycles: [LaunchOrder.Cycle] = []
    for root in nodes where colours[root.name] == nil {
      var stack: [(node: LaunchOrder.Node, next: Int)] = [(root, 0)]
      colours[root.name] = .grey
      while let top = stack.last {
        let edges = top.node.predecessors
        guard top.next < edges.count else {
          colours[top.node.name] = .black
          stack.removeLast()
          continue
        }
        stack[stack.count - 1].next += 1
        guard let other = byName[edges[top.next]] else { continue }
        switch colours[other.name] {
        case nil:
          colours[other.name] = .grey
          stack.append((other, 0))
        case .grey:
          let start = stack.firstIndex { $0.node.name == other.name } ?? 0
          cycles.append(LaunchOrder.Cycle(path: stack[start...].map(\.node) + [other]))
        case .black: break
        }
      }
    }
    return cycles
  }
}
