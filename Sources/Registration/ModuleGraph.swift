/// Which module starts after which, by position, and the cycles in that.
package struct ModuleGraph {
  /// For each module, those that it requires, by position.
  package var requires: [[Int]]
  /// For each module, those that it only follows, by position.
  package var follows: [[Int]]

  /// Describes who starts after whom.
  package init(requires: [[Int]], follows: [[Int]]) {
    self.requires = requires
    self.follows = follows
  }

  /// Describes modules by their names. Of several of one name the first is meant, and a name that none has leads
  /// nowhere. What is required may say versions, which are not looked at.
  package init(of modules: [(name: String, requires: [String], after: [String])]) {
    let positions = Dictionary(
      modules.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    requires = modules.map { $0.requires.compactMap { positions[ModuleRequirement($0).name] } }
    follows = modules.map { $0.after.compactMap { positions[$0] } }
  }

  /// Describes modules by their records, likewise.
  package init(of records: [Record]) {
    self.init(of: records.map { ($0.name, $0.attributes.requires, $0.attributes.after) })
  }

  /// The positions of everything that a module starts after.
  package func predecessors(of position: Int) -> [Int] { requires[position] + follows[position] }

  /// Everything that requires one of `roots`, directly or not, and the one through which it does.
  package func requirers(of roots: [Int]) -> [(position: Int, through: Int)] {
    requires.reversedArrows.reached(from: roots)
  }

  /// Lets nothing wait for modules that cannot start, or for what requires them, where it only follows them.
  package mutating func dropFollows(of roots: [Int]) {
    guard !roots.isEmpty else { return }
    let stuck = Set(roots + requirers(of: roots).map(\.position))
    for position in follows.indices { follows[position].removeAll(where: stuck.contains) }
  }

  /// The modules that are part of a cycle, and cycles that name each of them at least once.
  ///
  /// A group of modules that all start after one another can hold more cycles than anyone would
  /// read; for each member that no cycle has named yet, the shortest through it is listed. Of a group
  /// that is made to take forever there is one at least: mend that, and look again.
  ///
  /// `mostSteps` edges are followed in search of cycles, besides one cycle for each group;
  /// `followed` is how many were.
  package func cycles(mostSteps: Int = 1 << 22) -> (members: [Int], paths: [[Int]], followed: Int) {
    var steps = mostSteps
    var members: [Int] = []
    var paths: [[Int]] = []
    var group = Array(repeating: -1, count: requires.count)
    for (number, component) in requires.indices.map(predecessors).components.enumerated() {
      for position in component { group[position] = number }
      guard component.count > 1 || predecessors(of: component[0]).contains(component[0]) else {
        continue
      }
      members += component
      var isNamed: Set<Int> = []
      for position in component.sorted() where !isNamed.contains(position) {
        guard steps > 0 || isNamed.isEmpty,
          let path = shortestCycle(through: position, within: group, &steps)
        else { continue }
        isNamed.formUnion(path)
        paths.append(path)
      }
    }
    return (members, paths.sorted { $0.lexicographicallyPrecedes($1) }, mostSteps - steps)
  }

  /// The shortest way from a module back to itself; it begins with its first member in rank. What was
  /// followed for it is taken off `steps`.
  private func shortestCycle(
    through start: Int, within group: [Int], _ steps: inout Int
  ) -> [Int]? {
    var cameFrom: [Int: Int] = [:]
    var queue = [start]
    var next = 0
    while next < queue.count {
      let position = queue[next]
      next += 1
      let others = predecessors(of: position)
      steps -= others.count
      for other in others where group[other] == group[start] {
        if other == start {
          var path = [position]
          while let before = path.last, before != start, let earlier = cameFrom[before] {
            path.append(earlier)
          }
          path.reverse()
          let first = path.indices.min { path[$0] < path[$1] } ?? 0
          return Array(path[first...] + path[..<first])
        }
        if cameFrom[other] == nil {
          cameFrom[other] = position
          queue.append(other)
        }
      }
    }
    return nil
  }
}
