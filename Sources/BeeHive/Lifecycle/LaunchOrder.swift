/// The order that modules start in, and the obstacles that keep some from starting.
///
/// Declared requirements bind, in one order over every way of registration: a module that is required comes first, and
/// so does a module that is to be followed and is present. Among free modules, basic ones come before normal ones. Then
/// the larger priority, the image's path and the name decide. A normal module that a basic one requires counts as
/// basic.
package struct LaunchOrder: Hashable, Sendable {
  /// A requirement that no module meets.
  package struct Missing: Hashable, Sendable {
    /// The module that cannot start.
    package var module: Entry
    /// The name that it requires.
    package var requirement: String
    /// The reason that a declared module of the name will not do: "is switched off".
    package var reason: String?
    /// Modules with similar names.
    package var similar: [String] = []
  }

  /// The modules that can start, in order.
  package internal(set) var modules: [Entry] = []
  /// The normal modules that start among the basic ones, each with the module that requires it: one sentence each.
  package internal(set) var lifts: [String] = []
  /// Requirements that no module meets. Modules that need them, directly or not, are not in `modules`.
  package internal(set) var missing: [Missing] = []
  /// Cycles of modules: each module starts only after the next, and the first one is repeated at the end. Their
  /// members, and modules that need them, are not in `modules`.
  package internal(set) var cycles: [[Entry]] = []
  /// The modules that cannot start, by name, each with a required module that cannot start either.
  package internal(set) var blocked: [String: String] = [:]

  /// Orders modules.
  ///
  /// - Parameters:
  ///   - nodes: The modules. Names are unique in a Hive, because it rejects duplicates. Of two modules with one name,
  ///     the first in rank is required.
  ///   - started: Modules that run already: they meet requirements.
  ///   - unavailable: The reasons that declared modules cannot start, by name.
  package init(
    _ nodes: [Entry], started: [Entry] = [], unavailable: [String: String] = [:]
  ) {
    let sorted = nodes.sorted(by: Self.comesFirst)
    let nodes = sorted.filter(Self.isBasic) + sorted.filter { !Self.isBasic($0) }
    var graph = graph(of: nodes, started, unavailable)
    var isUnusable = Array(repeating: false, count: nodes.count)
    let lacking = Set(missing.map(\.module.name))
    let roots = nodes.indices.filter { lacking.contains(nodes[$0].name) }
    block(roots, graph, nodes, &isUnusable)
    graph.dropFollows(of: roots)
    let found = graph.cycles()
    cycles = found.paths.map { path in (path + [path[0]]).map { nodes[$0] } }
    block(found.members, graph, nodes, &isUnusable)
    let named = Set(found.paths.joined())
    let members = Set(found.members)
    for position in found.members where !named.contains(position) {
      let cause = graph.predecessors(of: position).first { members.contains($0) }
      blocked[nodes[position].name] = cause.map { nodes[$0].name }
    }
    sort(nodes, graph, isUnusable)
  }

  /// Turns names into positions, and notes requirements that nothing meets.
  private mutating func graph(
    of nodes: [Entry], _ started: [Entry], _ unavailable: [String: String]
  ) -> ModuleGraph {
    let present = Dictionary(
      (nodes + started).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for node in nodes {
      for required in node.attributes.requires.map(ModuleRequirement.init) {
        let provider = present[required.name]
        let fault =
          provider.map { required.fault(of: $0.attributes.version) } ?? unavailable[required.name]
        guard provider == nil || fault != nil else { continue }
        missing.append(Missing(module: node, requirement: required.name, reason: fault))
      }
    }
    return ModuleGraph(of: nodes.map { ($0.name, $0.attributes.requires, $0.attributes.after) })
  }

  /// Takes modules out of the order, and whatever requires them.
  private mutating func block(
    _ roots: [Int], _ graph: ModuleGraph, _ nodes: [Entry], _ isUnusable: inout [Bool]
  ) {
    for (position, cause) in graph.requirers(of: roots) {
      if !isUnusable[position] { blocked[nodes[position].name] = nodes[cause].name }
      isUnusable[position] = true
    }
    for root in roots {
      isUnusable[root] = true
      blocked[nodes[root].name] = nil
    }
  }

  /// Sorts the modules: takes the first in rank of the free ones, again and again.
  private mutating func sort(_ nodes: [Entry], _ graph: ModuleGraph, _ isUnusable: [Bool]) {
    let usable = nodes.indices.filter { !isUnusable[$0] }
    var isBasic = nodes.map(Self.isBasic)
    // Modules that a basic module requires need not wait for the normal ones.
    for (position, requirer) in graph.requires.reached(from: usable.filter { isBasic[$0] }) {
      isBasic[position] = true
      let (module, reason) = (nodes[position].name, "\(nodes[requirer].name) requires it")
      lifts.append("\(module) starts among the basic modules: \(reason)".escaped)
    }
    // `nodes` is in rank already, except for those that were lifted.
    let basic = usable.filter { isBasic[$0] }.sorted { Self.comesFirst(nodes[$0], nodes[$1]) }
    let ranking = basic + usable.filter { !isBasic[$0] }
    var ranks = Array(repeating: 0, count: nodes.count)
    for (rank, position) in ranking.enumerated() { ranks[position] = rank }

    // Ranks from here on.
    let earlier = ranking.map { position in
      graph.predecessors(of: position).filter { !isUnusable[$0] }.map { ranks[$0] }
    }
    let followers = earlier.reversedArrows
    var waiting = earlier.map(\.count)
    // The free modules, the first of them at the end.
    var free = ranking.indices.reversed().filter { waiting[$0] == 0 }
    modules.reserveCapacity(ranking.count)
    while let rank = free.popLast() {
      modules.append(nodes[ranking[rank]])
      for follower in followers[rank] {
        waiting[follower] -= 1
        guard waiting[follower] == 0 else { continue }
        free.insert(follower, at: free.sortedIndex(where: { $0 < follower }))
      }
    }
  }

  private static func isBasic(_ module: Entry) -> Bool { module.attributes.moduleLevel == .basic }

  /// Returns whether a module comes before another one of its level, if nothing else orders them.
  private static func comesFirst(_ a: Entry, _ b: Entry) -> Bool {
    let (first, second) = (a.attributes.priority, b.attributes.priority)
    if first != second { return first > second }
    return (a.source.path, a.name) < (b.source.path, b.name)
  }
}

extension LaunchOrder {
  /// The obstacles to an order, one sentence each: requirements that no module meets, and cycles.
  package var problems: [String] { missing.map(\.description) + cycles.map(Self.sentence) }

  /// The reason that each module without a place in the order cannot start, by its name.
  var obstacles: [String: String] {
    var reasons = blocked.mapValues { "requires \($0), which cannot start".escaped }
    for cycle in cycles {
      for module in cycle { reasons[module.name] = Self.sentence(on: cycle) }
    }
    for found in missing.reversed() { reasons[found.module.name] = found.why.escaped }
    return reasons
  }

  /// Returns a failure for each module that cannot be ordered, without those that `known` has already.
  func failures(besides known: LaunchOrder) -> [ModuleFailure] {
    let lacking = missing.filter { found in
      !known.missing.contains { (found.module, found.requirement) == ($0.module, $0.requirement) }
    }
    let cyclic = cycles.filter { !known.cycles.contains($0) }.flatMap { cycle in
      cycle.dropLast().map { (module: $0, why: Self.sentence(on: cycle)) }
    }
    return (lacking.map { (module: $0.module, why: "it \($0.why)") } + cyclic).map {
      ModuleFailure(
        module: $0.module.name, event: "make", reason: "could not be made: \($0.why)",
        source: $0.module.source)
    }
  }

  /// Appends the order of later modules. Its obstacles replace the earlier ones, which have been looked at again.
  mutating func append(_ later: LaunchOrder) {
    modules += later.modules
    lifts += later.lifts
    missing = later.missing
    cycles = later.cycles
    blocked = later.blocked
  }
}

extension LaunchOrder.Missing: CustomStringConvertible {
  /// `module shop (libshop.so BeehiveRecords[0]) requires log, which nothing in this process declares; …`
  package var description: String {
    "module \(module.name) (\(module.source)) \(why)".escaped
  }

  /// The requirement, the reason that it is not met, and, for a missing module, the remedy.
  fileprivate var why: String {
    let required = ModuleRequirement(requirement)
    if let reason { return Conflict.unfit(required, by: nil, reason).message }
    let conflict = Conflict.missing(
      required, by: nil, nobody: "nothing in this process", addition: "load what")
    return "\(conflict.message); \(conflict.remedy)" + question(about: similar)
  }
}

extension LaunchOrder {
  /// A module or service that a module declares to require or need and that nobody offers; with the fault of a module
  /// of the name, if there is one.
  typealias Lack = (module: Entry, kind: RecordKind, name: String, fault: String?)

  /// Returns the requirements and needs of modules that entries do not meet.
  static func lacks(of modules: [Entry], among entries: [Entry]) -> [Lack] {
    let order = LaunchOrder(modules, started: entries.filter { $0.kind == .module })
    let members = modules + entries.filter { $0.kind == .service }
    let needs = ServiceNeeds(of: members.map { ($0.kind, $0.name, $0.attributes) })
    return order.missing.map { ($0.module, .module, $0.requirement, $0.reason) }
      + zip(modules, needs.answers).flatMap { module, answers in
        answers.filter { $0.service == nil }.map { (module, .service, $0.need, nil) }
      }
  }

  /// `module choir requires speakers, which nothing but the old build declares; …`, for what a new build would take away.
  static func sentence(on lack: Lack, near names: [String]) -> String {
    let (required, nobody) = (ModuleRequirement(lack.name), "nothing but the old build")
    let conflict: Conflict =
      if lack.kind == .service {
        .missing(
          service: lack.name, by: lack.module.kind, lack.module.name, nobody: nobody, near: names)
      } else if let fault = lack.fault {
        .unfit(required, by: lack.module.name, fault, of: "the new build")
      } else {
        .missing(
          required, by: lack.module.name, nobody: nobody, near: names,
          addition: "use a build that")
      }
    return "\(conflict.message); \(conflict.remedy)"
  }

  /// `modules storage → log → storage wait for each other, so none of them can start (…)`, with each one's location.
  package static func sentence(on cycle: [Entry]) -> String {
    let places = zip(cycle, cycle.dropFirst()).map { module, next in
      module.attributes.requiredNames.contains(next.name)
        ? "\(module.source)" : "\(module.source) by `after`"
    }
    return Conflict.cycle(of: cycle.dropLast().map(\.name), at: places).message.escaped
  }
}

extension Attributes {
  /// The name of every module that this one starts after, if it is present.
  var predecessors: [String] { requiredNames + after }
}

extension Source {
  /// The path that orders entries of equal rank.
  var path: String {
    switch self {
    case .image(let origin): origin.image
    case .code(let file, _), .file(let file, _): file
    }
  }
}
