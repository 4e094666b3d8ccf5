internal import Registration

/// Who starts after whom in each process, and where that makes cycles.
///
/// Of modules of one name the first is meant. An executable's modules are laid over those of the
/// libraries: only those that start after one of its names, directly or not, are looked at again.
struct StartOrder {
  /// What a process has that none before it had.
  ///
  /// The modules are those that count, in order, and each cycle is from its first member on.
  typealias News = (modules: [Int], cycles: [[Int]])

  private let entries: [Survey.Declared]
  /// The first shared module of each name.
  private var firsts: [String: Int] = [:]
  /// The shared modules that start after one of a name.
  private var followers: [String: [Int]] = [:]
  /// The cycles of the shared modules by themselves.
  private let cycles: [[Int]]
  private let inCycles: Set<Int>
  private var untoldModules: Set<Int>
  private var untoldCycles: Set<Int>

  init(in processes: Processes) {
    entries = processes.entries
    let modules = Self.firsts(among: processes.shared, of: entries)
    for position in modules {
      let record = entries[position].record
      firsts[record.name] = position
      for name in Set(record.predecessors) { followers[name, default: []].append(position) }
    }
    cycles = Self.cycles(of: modules, in: entries)
    inCycles = Set(cycles.joined())
    untoldModules = Set(modules)
    untoldCycles = Set(cycles.indices)
  }

  /// The modules among some entries, without those that are duplicates.
  private static func firsts(among positions: [Int], of entries: [Survey.Declared]) -> [Int] {
    var names: Set<String> = []
    return positions.filter {
      let record = entries[$0].record
      return record.kind == .module && names.insert(record.name).inserted
    }
  }

  /// What the process with these entries has, and none before it.
  mutating func next(_ own: [Int]) -> News {
    let modules = Self.firsts(among: own, of: entries).filter {
      (firsts[entries[$0].record.name] ?? .max) > $0
    }
    let hidden = Set(modules.compactMap { firsts[entries[$0].record.name] })
    var news: News
    news.modules = (modules + untoldModules.filter { !hidden.contains($0) }).sorted()
    untoldModules.formIntersection(hidden)

    let dependents = dependents(of: modules, hiding: hidden)
    let changed = Set(dependents)
    news.cycles = Self.cycles(of: (modules + dependents).sorted(), in: entries)
    let touched = untoldCycles.filter { number in
      cycles[number].contains { changed.contains($0) || hidden.contains($0) }
    }
    news.cycles += untoldCycles.subtracting(touched).map { cycles[$0] }
    news.cycles.sort { $0.lexicographicallyPrecedes($1) }
    untoldCycles = touched
    return news
  }

  /// The shared modules that start after one of these names, directly or not, where that could make
  /// or break a cycle.
  private func dependents(of modules: [Int], hiding hidden: Set<Int>) -> [Int] {
    let names = Set(modules.map { entries[$0].record.name })
    // A cycle through both has one of these start after a shared one.
    let followsShared = modules.contains { position in
      entries[position].record.predecessors.contains { firsts[$0] != nil && !names.contains($0) }
    }
    guard followsShared || !hidden.isDisjoint(with: inCycles) else { return [] }
    var seen = hidden
    var result: [Int] = []
    var queue = Array(names)
    while let name = queue.popLast() {
      for follower in followers[name] ?? [] where seen.insert(follower).inserted {
        result.append(follower)
        queue.append(entries[follower].record.name)
      }
    }
    return result
  }

  private static func cycles(of modules: [Int], in entries: [Survey.Declared]) -> [[Int]] {
    let positions = Dictionary(
      uniqueKeysWithValues: modules.enumerated().map { (entries[$1].record.name, $0) })
    let attributes = modules.map { entries[$0].record.attributes }
    let graph = ModuleGraph(
      requires: attributes.map { $0.requires.compactMap { positions[$0] } },
      follows: attributes.map { $0.after.compactMap { positions[$0] } })
    return graph.cycles().paths.map { path in path.map { modules[$0] } }
  }
}

extension Record {
  /// The names of the modules that one starts after.
  fileprivate var predecessors: [String] { attributes.requires + attributes.after }
}
