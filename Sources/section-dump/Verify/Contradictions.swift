internal import BinaryImage
internal import Registration

/// The conflicts among valid entries of one platform: duplicates, requirements, cycles.
///
/// A Hive and a router that load the same files apply the same rules. Each executable stands for a process of its own
/// with all libraries. A conflict that no executable changes is found once. No process loads objects: they are linked
/// with each other, often into libraries of the same set.
struct Contradictions {
  /// The entries of one platform.
  let declared: [FileSet.Declared]
  private(set) var findings: [Finding] = []
  /// The cycles of modules, each once.
  private(set) var cycles: [[FileSet.Declared]] = []
  /// The ids of plugins, by file. A process loads only one version of a plugin.
  private let plugins: [String: String]
  /// The number of executables that have entries.
  private let executables: Int
  private var known: Set<Finding> = []
  private var counts: [Place: Int] = [:]

  init(among declared: [FileSet.Declared]) {
    self.declared = declared
    plugins = Dictionary(
      declared.filter { $0.record.kind == .plugin }.map { ($0.place.file, $0.record.name) }
    ) { first, _ in first }
    executables = Set(declared.filter { $0.file == .executable }.map(\.place.file)).count
    let accepted = findDuplicates().sorted()
    let modules = accepted.filter { declared[$0].record.kind == .module }
    let named = Dictionary(grouping: modules) { declared[$0].record.name }
    let lacking = Set(modules.filter { findUnmet($0, among: named) })
    findCycles(among: modules.filter { declared[$0].file == .object }, lacking)
    findCycles(among: modules.filter { declared[$0].file != .object }, lacking)
    findNeeds(of: accepted)
  }

  /// Returns the entries that each different process has, in the order of the files.
  private func processes(of entries: [Int]) -> some Sequence<[Int]> {
    let shared = entries.filter { declared[$0].file != .executable }
    let own = entries.filter { declared[$0].file == .executable }.groups { declared[$0].place.file }
    let others: [[Int]] = own.count < max(1, executables) ? [[]] : []
    return (others + own).lazy.map { (shared + $0).sorted() }
  }

  /// Adds a conflict unless another process has it too. Returns whether it is new.
  @discardableResult
  private mutating func add(
    _ code: Finding.Code, _ level: Finding.Level, _ place: Place, _ conflict: Conflict,
    others: [Place] = [], missing: String? = nil
  ) -> Bool {
    let finding = Finding(
      code, level, place, conflict.message, remedy: conflict.remedy, others: others,
      missing: missing)
    let isListed = counts[place.at(section: finding.code), default: 0] <= Scan.mostRefused
    guard isListed, known.insert(finding).inserted else { return false }
    findings.add(finding, &counts)
    return true
  }

  // MARK: - Duplicates

  /// Finds entries that are rejected as duplicates of earlier ones. Returns the entries that some process accepts.
  ///
  /// The second of two duplicates is rejected. It does not make a third entry a duplicate.
  private mutating func findDuplicates() -> Set<Int> {
    // Hashes are small enough to keep many. They are seeded for each run, so no file can force a collision.
    let identities = declared.map { entry in
      EntryIdentity.all(of: entry.record).map { identity in
        var hasher = Hasher()
        hasher.combine(entry.file == .object)
        hasher.combine(identity)
        return hasher.finalize()
      }
    }
    var accepted: Set<Int> = []
    for group in Self.related(identities) {
      guard group.count > 1 else {
        accepted.formUnion(group)
        continue
      }
      for process in processes(of: group) {
        var holders: [Int: Int] = [:]
        for position in process {
          if let first = identities[position].lazy.compactMap({ holders[$0] }).first {
            let id = plugins[declared[position].place.file]
            if id != nil, id == plugins[declared[first].place.file] { continue }
            addDuplicate(declared[position], of: declared[first])
          } else {
            accepted.insert(position)
            for identity in identities[position] { holders[identity] = position }
          }
        }
      }
    }
    return accepted
  }

  /// Groups the positions that share identities, directly or through others.
  private static func related(_ identities: [[Int]]) -> [[Int]] {
    var arrows = [[Int]](repeating: [], count: identities.count)
    var last: [Int: Int] = [:]
    for (position, own) in identities.enumerated() {
      for identity in own {
        guard let other = last.updateValue(position, forKey: identity) else { continue }
        arrows[position].append(other)
        arrows[other].append(position)
      }
    }
    return arrows.components.map { $0.sorted() }.sorted { $0[0] < $1[0] }
  }

  private mutating func addDuplicate(_ entry: FileSet.Declared, of first: FileSet.Declared) {
    let code = Finding.Code(rawValue: "duplicate-\(entry.record.kind)") ?? .duplicateRoute
    let conflict = Conflict.duplicate(entry.record, of: first.record, at: first.place.description)
    add(code, .error, entry.place, conflict, others: [first.place])
  }

  // MARK: - Requirements

  /// Finds requirements of a module that no accepted module meets. Returns whether there are any.
  private mutating func findUnmet(_ position: Int, among modules: [String: [Int]]) -> Bool {
    let module = declared[position]
    var isLacking = false
    for required in module.record.attributes.requires.map(ModuleRequirement.init) {
      guard let others = modules[required.name]?.map({ declared[$0] }),
        let provider = others.first?.place
      else {
        let conflict = Conflict.missing(
          required, by: module.record.name, nobody: "no file",
          near: nearest(to: required.name, in: modules.keys, after: findings.count),
          addition: "add the file that")
        add(.unmetRequirement, .warning, module.place, conflict, missing: required.name)
        isLacking = true
        continue
      }
      let faults = others.map { required.fault(of: $0.record.attributes.version) }
      guard let fault = faults[0], !faults.contains(nil) else { continue }
      let conflict = Conflict.unfit(
        required, by: module.record.name, fault, of: provider.description)
      add(.unmetRequirement, .error, module.place, conflict, others: [provider])
      isLacking = true
    }
    return isLacking
  }

  // MARK: - Cycles

  /// Finds the cycles of modules. The modules that cannot start for another reason are `lacking`.
  private mutating func findCycles(among modules: [Int], _ lacking: Set<Int>) {
    // Modules of one name count as one here. So this finds the members of every process's cycles.
    let named = modules.groups { declared[$0].record.name }
    let all = ModuleGraph(
      of: named.map { modules in
        let attributes = modules.map { declared[$0].record.attributes }
        return (
          declared[modules[0]].record.name, attributes.flatMap(\.requires),
          attributes.flatMap(\.after)
        )
      })
    let cyclic = all.cycles(mostSteps: 0).members.flatMap { named[$0] }
    guard !cyclic.isEmpty else { return }
    let files = Set(cyclic.map { declared[$0].place.file })
    let entries = modules.filter {
      declared[$0].file != .executable || files.contains(declared[$0].place.file)
    }
    for process in processes(of: entries) {
      var graph = ModuleGraph(of: process.map { declared[$0].record })
      graph.dropFollows(of: process.indices.filter { lacking.contains(process[$0]) })
      for path in graph.cycles().paths { addCycle(path.map { declared[process[$0]] }) }
    }
  }

  private mutating func addCycle(_ cycle: [FileSet.Declared]) {
    let places = cycle.count > 1 ? cycle.map(\.place.description) : []
    let conflict = Conflict.cycle(of: cycle.map(\.record.name), at: places)
    let others = cycle.dropFirst().map(\.place)
    if add(.cycle, .error, cycle[0].place, conflict, others: others) { cycles.append(cycle) }
  }

  // MARK: - Needs

  /// Finds needs that no accepted service meets, and needs that keep a service from being made.
  private mutating func findNeeds(of entries: [Int]) {
    let all = ServiceNeeds(of: entries.map { declared[$0].record })
    if all.answers.isEmpty { return }
    let names = Set(entries.map { declared[$0].record }.filter { $0.kind == .service }.map(\.name))
    for (position, answers) in zip(entries, all.answers) {
      let record = declared[position].record
      for (need, service, _) in answers where service == nil {
        let conflict = Conflict.missing(
          service: need, by: record.kind, record.name, nobody: "no file",
          near: nearest(to: need, in: names, after: findings.count))
        add(.unmetRequirement, .warning, declared[position].place, conflict, missing: need)
      }
    }
    for isObject in [true, false] {
      for process in processes(of: entries.filter { (declared[$0].file == .object) == isObject }) {
        let needs = ServiceNeeds(of: process.map { declared[$0].record })
        for fault in needs.faults(at: { declared[process[$0]].place.description }) {
          let places = fault.positions.map { declared[process[$0]].place }
          add(
            Finding.Code(rawValue: fault.code) ?? .cycle, .error, places[0], fault.conflict,
            others: Array(places.dropFirst()))
        }
      }
    }
  }
}

extension Array {
  /// Groups the elements by key, in the order of the groups' first elements.
  func groups<Key: Hashable>(by key: (Element) -> Key) -> [Self] {
    let groups = Dictionary(grouping: indices) { key(self[$0]) }.values
    return groups.sorted { $0[0] < $1[0] }.map { positions in positions.map { self[$0] } }
  }
}
