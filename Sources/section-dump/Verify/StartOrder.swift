internal import Registration

/// Who starts after whom in each process, and where that makes cycles.
///
/// Of modules of one name the first is meant. An executable's modules are looked at together with those of
/// the libraries only where that could make or break a cycle.
struct StartOrder {
  /// What a process has that none before it had.
  ///
  /// The modules are those that count, in order, and each cycle is from its first member on.
  typealias News = (modules: [Int], cycles: [[Int]])

  private let entries: [Survey.Declared]
  /// The first shared module of each name.
  private var firsts: [String: Int] = [:]
  /// The names that shared modules start after.
  private var followed: Set<String> = []
  private let inCycles: Set<Int>
  private var untoldModules: Set<Int>
  /// The cycles of the shared modules by themselves, until a process has told them.
  private var untoldCycles: [[Int]]

  init(in processes: Processes) {
    entries = processes.entries
    let modules = Self.firsts(among: processes.shared, of: entries)
    for position in modules {
      let record = entries[position].record
      firsts[record.name] = position
      followed.formUnion(record.predecessors)
    }
    untoldModules = Set(modules)
    untoldCycles = Self.cycles(of: modules, in: entries)
    inCycles = Set(untoldCycles.joined())
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

    if isSeparate(modules, hiding: hidden) {
      news.cycles = Self.cycles(of: modules, in: entries) + untoldCycles
      news.cycles.sort { $0.lexicographicallyPrecedes($1) }
      untoldCycles = []
    } else {
      let shared = firsts.values.filter { !hidden.contains($0) }
      news.cycles = Self.cycles(of: (modules + shared).sorted(), in: entries)
    }
    return news
  }

  /// Whether no cycle of the process has both modules of its own and shared ones, and all cycles of the
  /// shared ones are there.
  private func isSeparate(_ modules: [Int], hiding hidden: Set<Int>) -> Bool {
    guard hidden.isDisjoint(with: inCycles) else { return false }
    let names = Set(modules.map { entries[$0].record.name })
    return names.isDisjoint(with: followed)
      || !modules.contains { position in
        entries[position].record.predecessors.contains { firsts[$0] != nil && !names.contains($0) }
      }
  }

  private static func cycles(of modules: [Int], in entries: [Survey.Declared]) -> [[Int]] {
    let graph = ModuleGraph(of: modules.map { entries[$0].record })
    return graph.cycles().paths.map { path in path.map { modules[$0] } }
  }
}

extension Record {
  /// The names of the modules that one starts after.
  fileprivate var predecessors: [String] { attributes.requiredNames + attributes.after }
}
