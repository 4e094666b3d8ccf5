internal import BinaryImage
internal import Registration

/// Entries of one platform that may come into one process, by their positions in `entries`.
///
/// Each executable makes a process of its own, with all libraries. What the libraries come to is found
/// once; each process then costs what its executable changes of that, not what all files hold.
struct Processes {
  var entries: [Survey.Declared]
  /// Those of every process, in the order of the files.
  var shared: [Int]
  /// Those that each process has beside them; one process without any where there is no executable.
  var own: [[Int]]

  /// Objects are loaded by none: they are linked with each other, often into the very libraries that
  /// are beside them.
  static func all(of entries: [Survey.Declared]) -> [Processes] {
    let objects = entries.indices.filter { entries[$0].file == .object }
    let libraries = entries.indices.filter {
      entries[$0].file != .object && entries[$0].file != .executable
    }
    let executables = entries.indices.filter { entries[$0].file == .executable }
      .groups { entries[$0].place.file }
    return [
      Processes(entries: entries, shared: objects, own: [[]]),
      Processes(entries: entries, shared: libraries, own: executables.isEmpty ? [[]] : executables),
    ]
  }
}

extension Array {
  /// The elements in groups of one key, in the order of their first ones.
  func groups<Key: Hashable>(by key: (Element) -> Key) -> [Self] {
    var positions: [Key: Int] = [:]
    var groups: [Self] = []
    for element in self {
      let key = key(element)
      let position = positions[key, default: groups.count]
      if position == groups.count {
        positions[key] = position
        groups.append([])
      }
      groups[position].append(element)
    }
    return groups
  }
}

/// Entries that are refused because of others that are the same, process by process.
///
/// Of two duplicates the second is refused, and makes no third one a duplicate. The libraries are judged once.
/// For each executable only those entries are judged again that share an identity with one of its own, or with
/// an entry that does.
struct Duplicates {
  typealias Refused = (entry: Int, other: Int)

  private let entries: [Survey.Declared]
  /// Small enough to keep many.
  private var identities: [Int: [Digest]] = [:]
  /// The shared entries that have an identity; empty where every process has no others.
  private var users: [Digest: [Int]] = [:]
  /// The shared entries that are refused where there are no others, and that no process has told yet.
  private var untold: [Refused] = []

  init(in processes: Processes) {
    entries = processes.entries
    for position in processes.shared { note(position) }
    untold = refused(among: processes.shared)
    guard processes.own.contains(where: { !$0.isEmpty }) else {
      identities = [:]
      return
    }
    for position in processes.shared {
      for identity in identities[position] ?? [] { users[identity, default: []].append(position) }
    }
  }

  private mutating func note(_ position: Int) {
    identities[position] = EntryIdentity.all(of: entries[position].record).map { Digest(of: $0) }
  }

  /// Returns the entries that are refused among some, which are in order, if there are no others.
  private func refused(among positions: [Int]) -> [Refused] {
    var holders: [Digest: Int] = [:]
    return positions.compactMap { position in
      let all = identities[position] ?? []
      if let other = all.lazy.compactMap({ holders[$0] }).first { return (position, other) }
      for identity in all { holders[identity] = position }
      return nil
    }
  }

  /// Returns the refusals of the process with these entries, in order; of the shared ones only the difference to
  /// the refusals of the processes before.
  mutating func next(_ own: [Int]) -> [Refused] {
    for position in own { note(position) }
    defer { for position in own { identities[position] = nil } }
    var seen = Set(own)
    var met: Set<Digest> = []
    var queue = own
    while let position = queue.popLast() {
      for identity in identities[position] ?? [] where met.insert(identity).inserted {
        queue += (users[identity] ?? []).filter { seen.insert($0).inserted }
      }
    }
    let told = untold.filter { !seen.contains($0.entry) }
    untold.removeAll { !seen.contains($0.entry) }
    return (refused(among: seen.sorted()) + told).sorted { $0.entry < $1.entry }
  }
}

/// Who starts after whom in each process, and where that makes cycles.
///
/// Of modules of one name the first is meant. An executable's modules are looked at together with those of
/// the libraries only where that could make or break a cycle.
struct StartOrder {
  private let entries: [Survey.Declared]
  /// The first shared module of each name.
  private let firsts: [String: Int]
  /// The names that shared modules start after.
  private let followed: Set<String>
  private var untoldModules: Set<Int>
  /// The modules that cannot start, since they require what is not there.
  private var lacking: Set<Int> = []
  private var inCycles: Set<Int> = []
  /// The cycles of the shared modules by themselves, until a process has told them.
  private var untoldCycles: [[Int]] = []

  init(in processes: Processes) {
    let entries = processes.entries
    let modules = Self.firsts(among: processes.shared, of: entries)
    self.entries = entries
    firsts = Dictionary(uniqueKeysWithValues: modules.map { (entries[$0].record.name, $0) })
    followed = Set(modules.flatMap { entries[$0].record.predecessors })
    untoldModules = Set(modules)
  }

  /// The modules among some entries, without those that are duplicates.
  private static func firsts(among positions: [Int], of entries: [Survey.Declared]) -> [Int] {
    var names: Set<String> = []
    return positions.filter {
      let record = entries[$0].record
      return record.kind == .module && names.insert(record.name).inserted
    }
  }

  /// The modules that count among the own entries of a process, and the shared ones that do not because of them.
  private func counted(_ own: [Int]) -> (modules: [Int], hidden: Set<Int>) {
    let modules = Self.firsts(among: own, of: entries).filter {
      (firsts[entries[$0].record.name] ?? .max) > $0
    }
    return (modules, Set(modules.compactMap { firsts[entries[$0].record.name] }))
  }

  /// Returns the modules that count in the process with these entries, in order, and in none before it.
  mutating func modules(with own: [Int]) -> [Int] {
    let (modules, hidden) = counted(own)
    defer { untoldModules.formIntersection(hidden) }
    return (modules + untoldModules.subtracting(hidden)).sorted()
  }

  /// Takes the modules that cannot start; comes before `cycles(with:)`.
  mutating func exclude(_ lacking: Set<Int>) {
    self.lacking = lacking
    untoldCycles = cycles(of: firsts.values.sorted())
    inCycles = Set(untoldCycles.joined())
  }

  /// Returns the cycles of the process with these entries, each from its first member on; not again those that
  /// shared modules have by themselves.
  mutating func cycles(with own: [Int]) -> [[Int]] {
    let (modules, hidden) = counted(own)
    guard isSeparate(modules, hiding: hidden) else {
      return cycles(of: (modules + firsts.values.filter { !hidden.contains($0) }).sorted())
    }
    defer { untoldCycles = [] }
    return (cycles(of: modules) + untoldCycles).sorted { $0.lexicographicallyPrecedes($1) }
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

  private func cycles(of modules: [Int]) -> [[Int]] {
    var graph = ModuleGraph(of: modules.map { entries[$0].record })
    graph.dropFollows(of: modules.indices.filter { lacking.contains(modules[$0]) })
    return graph.cycles().paths.map { path in path.map { modules[$0] } }
  }
}

extension Record {
  /// The names of the modules that one starts after.
  fileprivate var predecessors: [String] { attributes.requiredNames + attributes.after }
}

/// A digest of what may be large, where many are kept.
///
/// Two things that differ have one digest as good as never, and no file can bring it about: hashes are
/// seeded anew for each run.
struct Digest: Hashable {
  private var halves: SIMD2<Int>

  /// A digest of one value.
  init(of content: some Hashable) {
    var maker = Maker()
    maker.add(content)
    self = maker.digest
  }

  /// Takes in what a digest is made of, piece by piece.
  struct Maker {
    private var hashers = (Hasher(), Hasher())

    init() { hashers.1.combine(1) }

    mutating func add(_ content: some Hashable) {
      hashers.0.combine(content)
      hashers.1.combine(content)
    }

    /// Many bytes at a time: one by one they would take twenty times as long.
    mutating func add(bytes: [UInt8]) {
      // Sound: the hashers read the bytes during the call.
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe hashers.0.combine(bytes: bytes)
        unsafe hashers.1.combine(bytes: bytes)
      }
    }

    var digest: Digest { Digest(halves: SIMD2(hashers.0.finalize(), hashers.1.finalize())) }
  }

  private init(halves: SIMD2<Int>) { self.halves = halves }
}
