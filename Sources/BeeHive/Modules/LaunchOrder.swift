internal import Registration

/// In which order modules start, and what stands in the way.
///
/// Declared requirements bind, in one order over every way of registration: whoever is required, or
/// is to be followed and present, comes first. Among those that are free, basic modules come before
/// normal ones, then the larger priority, then the image's path, then the name.
public struct LaunchOrder: Hashable, Sendable {
  /// What is known of a module before it is made.
  public struct Node: Hashable, Sendable {
    /// The module's name; requirements refer to it.
    public var name: String
    /// Whether it starts before the normal ones.
    public var isBasic: Bool
    /// Larger first among those that nothing else orders.
    public var priority: Int
    /// Modules that must be present and start earlier.
    public var requires: [String]
    /// Modules that start earlier where they are present.
    public var after: [String]
    /// Where it was declared.
    public var source: Source

    /// Describes a module.
    public init(
      name: String, isBasic: Bool = false, priority: Int = 0, requires: [String] = [],
      after: [String] = [], source: Source
    ) {
      self.name = name
      self.isBasic = isBasic
      self.priority = priority
      self.requires = requires
      self.after = after
      self.source = source
    }
  }

  /// A basic module pulled a normal one before the other normal ones.
  public struct Lift: Hashable, Sendable {
    /// The normal module that starts among the basic ones.
    public var module: String
    /// The basic module that needs it.
    public var requiredBy: String
  }

  /// A module that needs one that is not there.
  public struct Missing: Hashable, Sendable {
    /// The module that cannot start.
    public var module: Node
    /// The name that nobody declares.
    public var requirement: String
  }

  /// A circle of modules, each of which starts only after the next.
  public struct Cycle: Hashable, Sendable {
    /// The circle, the first module once more at its end.
    public var path: [Node]
  }

  /// The modules that can start, in order.
  public private(set) var modules: [Node] = []
  /// The normal modules that start among the basic ones.
  public private(set) var lifts: [Lift] = []
  /// Requirements that nobody meets; what needs them, directly or not, is not in `modules`.
  public private(set) var missing: [Missing] = []
  /// Circles; their members, and what needs them, are not in `modules`.
  public private(set) var cycles: [Cycle] = []
  /// What cannot start, by the name of the module that it needs and that cannot start either.
  public private(set) var blocked: [String: String] = [:]

  /// Orders modules. Names are unique: the Hive has rejected duplicates before.
  public init(_ nodes: [Node]) {
    let nodes = nodes.sorted(by: Self.comesFirst)
    let byName = Dictionary(nodes.map { ($0.name, $0) }) { first, _ in first }
    let graph = ModuleGraph(nodes: nodes, byName: byName)
    var unusable: Set<String> = []
    for node in nodes {
      for name in node.requires where byName[name] == nil {
        missing.append(Missing(module: node, requirement: name))
        unusable.insert(node.name)
      }
    }
    cycles = graph.cycles()
    for cycle in cycles { unusable.formUnion(cycle.path.map(\.name)) }
    spread(&unusable, over: nodes)
    sort(nodes.filter { !unusable.contains($0.name) }, byName)
  }

  /// Whatever requires a module that cannot start cannot start.
  private mutating func spread(_ unusable: inout Set<String>, over nodes: [Node]) {
    var queue = Array(unusable)
    var requirers: [String: [Node]] = [:]
    for node in nodes { for name in node.requires { requirers[name, default: []].append(node) } }
    while let name = queue.popLast() {
      for node in requirers[name] ?? [] where unusable.insert(node.name).inserted {
        blocked[node.name] = name
        queue.append(node.name)
      }
    }
  }

  /// The order itself: the first free module of the ranking, again and again.
  private mutating func sort(_ nodes: [Node], _ byName: [String: Node]) {
    let present = Set(nodes.map(\.name))
    var ranks: [String: Rank] = [:]
    for (place, node) in nodes.enumerated() { ranks[node.name] = Rank(node.isBasic, place) }
    lift(nodes, present, &ranks)
    var waiting: [String: Int] = [:]
    var followers: [String: [String]] = [:]
    for node in nodes {
      let before = Set(node.predecessors).intersection(present)
      waiting[node.name] = before.count
      for name in before { followers[name, default: []].append(node.name) }
    }
    var free = Heap(
      nodes.compactMap { waiting[$0.name] == 0 ? ranks[$0.name]?.keyed($0.name) : nil })
    while let next = free.popMin() {
      if let node = byName[next.name] { modules.append(node) }
      for name in followers[next.name] ?? [] {
        waiting[name, default: 0] -= 1
        if waiting[name] == 0, let rank = ranks[name] { free.insert(rank.keyed(name)) }
      }
    }
  }

  /// Makes basic what a basic module requires, so that it need not wait for the basic ones.
  private mutating func lift(
    _ nodes: [Node], _ present: Set<String>, _ ranks: inout [String: Rank]
  ) {
    let byName = Dictionary(nodes.map { ($0.name, $0) }) { first, _ in first }
    var queue = nodes.filter(\.isBasic)
    while let node = queue.popLast() {
      for name in node.requires where present.contains(name) {
        guard let rank = ranks[name], !rank.isBasic, let other = byName[name] else { continue }
        ranks[name] = Rank(true, rank.place)
        lifts.append(Lift(module: name, requiredBy: node.name))
        queue.append(other)
      }
    }
    lifts.sort { ($0.module, $0.requiredBy) < ($1.module, $1.requiredBy) }
  }

  private static func comesFirst(_ a: Node, _ b: Node) -> Bool {
    if a.isBasic != b.isBasic { return a.isBasic }
    if a.priority != b.priority { return a.priority > b.priority }
    return (a.source.path, a.name) < (b.source.path, b.name)
  }
}

extension LaunchOrder.Node {
  /// Every module that this one starts after, where it is present.
  var predecessors: [String] { requires + after }
}

extension Source {
  /// The path by which entries of equal rank are ordered.
  var path: String {
    switch self {
    case .image(let origin): origin.image
    case .code(let file, _), .file(let file, _): file
    }
  }
}

/// A module's place among those that are free.
private struct Rank {
  var isBasic: Bool
  var place: Int

  init(_ isBasic: Bool, _ place: Int) {
    self.isBasic = isBasic
    self.place = place
  }

  func keyed(_ name: String) -> Keyed { Keyed(rank: self, name: name) }

  struct Keyed: Comparable {
    var rank: Rank
    var name: String

    static func == (a: Self, b: Self) -> Bool { a.rank.place == b.rank.place }

    static func < (a: Self, b: Self) -> Bool {
      if a.rank.isBasic != b.rank.isBasic { return a.rank.isBasic }
      return a.rank.place < b.rank.place
    }
  }
}
