internal import BinaryImage
internal import Registration

extension LaunchOrder {
  /// A cycle of modules, each of which starts only after the next.
  public struct Cycle: Hashable, Sendable {
    /// The cycle, with the first module once more at its end.
    public var path: [Node]

    /// Describes a cycle.
    ///
    /// - Parameter path: The modules, each waiting for the next, with the first once more at the end.
    public init(path: [Node]) { self.path = path }

    /// What one module of the cycle says of the next.
    public struct Edge: Hashable, Sendable {
      /// The module that waits.
      public var module: String
      /// The module that it waits for.
      public var other: String
      /// Whether it requires the other one; otherwise it only follows it, by `after`.
      public var isRequirement: Bool
      /// Where the module that waits was declared, and with it this edge.
      public var source: Source
    }

    /// The edges, one for each module of the cycle.
    public var edges: [Edge] {
      zip(path, path.dropFirst()).map { module, other in
        Edge(
          module: module.name, other: other.name,
          isRequirement: module.requiredNames.contains(other.name), source: module.source)
      }
    }
  }

  /// What cannot be ordered, one sentence each: requirements that no module meets, and cycles.
  public var problems: [String] { missing.map(\.description) + cycles.map(\.description) }

  /// What keeps each module that has no place in the order from starting, by its name.
  var obstacles: [String: String] {
    var reasons = blocked.mapValues { "requires \($0), which cannot start".escaped }
    for cycle in cycles {
      for module in cycle.path { reasons[module.name] = "\(cycle)" }
    }
    for found in missing.reversed() { reasons[found.module.name] = "requires \(found.why)".escaped }
    return reasons
  }

  /// What cannot be ordered, a failure for each module; without what `known` says already.
  func failures(besides known: LaunchOrder) -> [ModuleFailure] {
    let lacking = missing.filter { found in
      !known.missing.contains { (found.module, found.requirement) == ($0.module, $0.requirement) }
    }
    return lacking.map { $0.module.failure("make", .notMade("it requires \($0.why)")) }
      + cycles.filter { !known.cycles.contains($0) }.flatMap { cycle in
        cycle.path.dropLast().map { $0.failure("make", .notMade("\(cycle)")) }
      }
  }

  /// Appends the order of what came later; what was in the way then has been looked at again.
  mutating func append(_ later: LaunchOrder) {
    modules += later.modules
    lifts += later.lifts
    missing = later.missing
    cycles = later.cycles
    blocked = later.blocked
  }
}

extension LaunchOrder.Lift {
  /// What a report says of it.
  var sentence: String {
    "\(module) starts among the basic modules: \(requiredBy) requires it".escaped
  }
}

extension LaunchOrder.Missing: CustomStringConvertible {
  /// `module shop (libshop.so BeehiveRecords[0]) requires log, and no module is named that; …`
  public var description: String {
    "module \(module.name) (\(module.source)) requires \(why)".escaped
  }

  /// What is required, and why that is not there.
  fileprivate var why: String {
    reason.map { "\(requirement), which \($0)" }
      ?? "\(requirement), and no module is named that; load what declares it, or say `after`"
      + question(about: similar)
  }
}

extension LaunchOrder.Cycle: CustomStringConvertible {
  /// `cycle: storage → log → storage (libstorage.so BeehiveRecords[0], liblog.so BeehiveRecords[0])`
  public var description: String {
    let names = path.map(\.name).joined(separator: " → ")
    let places = edges.map { $0.isRequirement ? "\($0.source)" : "\($0.source) by `after`" }
    return "cycle: \(names) (\(places.joined(separator: ", ")))".escaped
  }
}
