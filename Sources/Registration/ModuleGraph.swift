/// The order of modules' starts, by position, and the cycles in it.
package struct ModuleGraph {
  /// For each module, the modules that it requires, by position.
  package var requires: [[Int]]
  /// For each module, the modules that it only follows, by position.
  package var follows: [[Int]]

  /// Describes which modules start after which.
  package init(requires: [[Int]], follows: [[Int]]) {
    self.requires = requires
    self.follows = follows
  }

  /// Describes modules by their names. If several have one name, the first is meant. A name that no module has leads
  /// nowhere. Versions in requirements are not looked at.
  package init(of modules: [(name: String, requires: [String], after: [String])]) {
    let positions = Dictionary(
      modules.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    requires = modules.map { $0.requires.compactMap { positions[ModuleRequirement($0).name] } }
    follows = modules.map { $0.after.compactMap { positions[$0] } }
  }

  /// Describes modules by their records, in the same way.
  package init(of records: [Record]) {
    self.init(of: records.map { ($0.name, $0.attributes.requires, $0.attributes.after) })
  }

  /// Returns the positions of all modules that a module starts after.
  package func predecessors(of position: Int) -> [Int] { requires[position] + follows[position] }

  /// Returns every module that requires one of `roots`, directly or not. `through` is the module that it requires.
  package func requirers(of roots: [Int]) -> [(position: Int, through: Int)] {
    requires.reversedArrows.reached(from: roots)
  }

  /// Removes `after` relations to modules that cannot start or require one that cannot, so that none waits for them.
  package mutating func dropFollows(of roots: [Int]) {
    guard !roots.isEmpty else { return }
    let stuck = Set(roots + requirers(of: roots).map(\.position))
    for position in follows.indices { follows[position].removeAll(where: stuck.contains) }
  }

  /// Returns the modules that are part of a cycle, and cycles that name each of them at least once.
  ///
  /// A group of modules that all start after one another can hold more cycles than anyone would
  /// read. For each member that no cycle has named yet, only the shortest cycle through it is listed. If a
  /// group is made to take forever, at least one of its cycles is listed: fix that, and look again.
  ///
  /// The search follows `mostSteps` edges, and more to find one cycle for each group. `followed` is
  /// the number of edges that it followed.
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

  /// Returns the shortest way from a module back to itself, beginning with its first member in rank. Takes the
  /// edges that it followed off `steps`.
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
