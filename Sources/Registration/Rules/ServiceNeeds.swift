/// The services that services and modules need while they are made, as lookups by name would answer. They show the
/// members that need a service that they outlive, or need themselves.
///
/// A need means what a lookup without a given name finds: in C the service of exactly this name, in Swift a type that
/// both names could mean. A fault is only what the names prove: all matches have one name, and one of them
/// comes first.
package struct ServiceNeeds {
  /// An entry: a service or a module. The needs of other entries are ignored.
  package typealias Member = (kind: RecordKind, name: String, attributes: Attributes)
  /// A need, the position of a service that may answer it, and whether no other may; no position if no service may.
  package typealias Answer = (need: String, service: Int?, isCertain: Bool)

  private let members: [Member]
  /// The answers to the needs of each member; empty if no member has a need.
  package private(set) var answers: [[Answer]] = []

  /// Answers the needs of `members`. The time grows with their number, however alike their names are.
  package init(of members: [Member]) {
    self.members = members
    if members.allSatisfy(\.attributes.needs.isEmpty) { return }
    let services = members.indices.filter { members[$0].kind == .service }
    let names = services.map { Self.key(members[$0].name, isC: members[$0].attributes.isC) }
    let offers = Dictionary(grouping: zip(names, services), by: \.0)
      .mapValues { Self.answer(among: $0.map(\.1), members) }
    let needs = members.map { member in
      member.attributes.needs.map { Self.key($0, isC: member.attributes.isC) }
    }
    let wanted = Set(needs.joined())
    // The names that end in each need, at most two of them.
    var longer: [EntryIdentity: [EntryIdentity]] = [:]
    for name in names {
      for form in Self.forms(of: name) where wanted.contains(form) {
        let known = longer[form, default: []]
        if known.count < 2, !known.contains(name) { longer[form] = known + [name] }
      }
    }
    answers = zip(members, needs).map { member, needs in
      zip(member.attributes.needs, needs).map { text, need in
        let shorter = Self.forms(of: need).dropFirst().filter { offers[$0] != nil }
        let found = ((longer[need] ?? []) + shorter).compactMap { offers[$0] }
        return (text, found.first?.service, found.count == 1 && found[0].isCertain)
      }
    }
  }

  /// Answers the needs of records in the same way.
  package init(of records: [Record]) {
    self.init(of: records.map { ($0.kind, $0.name, $0.attributes) })
  }

  /// The key of all services of a name and a language.
  private static func key(_ name: String, isC: Bool) -> EntryIdentity {
    .service(isC ? name : TypeName(name).text, given: nil, priority: 0, isC: isC)
  }

  /// Returns the names that a lookup of a key's name may find, that name first. A type in Swift has several. Longer
  /// texts are not names that people write.
  private static func forms(of key: EntryIdentity) -> [EntryIdentity] {
    guard case .service(let name, _, _, false) = key, name.utf8.count <= 256 else { return [key] }
    return TypeName(name).suffixes.map { Self.key($0, isC: false) }
  }

  /// Returns the service that a lookup prefers: the one with the largest priority, among those without a given name if
  /// there are any.
  private static func answer(
    among services: [Int], _ members: [Member]
  ) -> (service: Int, isCertain: Bool) {
    let unnamed = services.filter { members[$0].attributes.name == nil }
    let candidates = unnamed.isEmpty ? services : unnamed
    let most = candidates.map { members[$0].attributes.priority }.max()
    let best = candidates.filter { members[$0].attributes.priority == most }
    return (best[0], best.count == 1)
  }

  /// Returns the faults that the names prove: members that need a scoped service and outlive it, and cycles.
  ///
  /// - Parameter place: Returns the place that declares the member of a position.
  /// - Returns: A stable code, the positions that the fault concerns, the one to fix first, and the sentence.
  package func faults(
    at place: (Int) -> String
  ) -> [(code: String, positions: [Int], conflict: Conflict)] {
    let arrows = answers.map { $0.compactMap { $0.isCertain ? $0.service : nil } }
    var needing = arrows.reversedArrows
    // A member that outlives every scope hands nothing on: the fault is its own.
    for position in needing.indices where outlivesScopes(position) { needing[position] = [] }
    var scoped: [Int: (through: Int, service: Int)] = [:]
    let roots = needing.indices.filter { lifetime(of: $0) == .scoped }
    for (position, through) in needing.reached(from: roots) {
      scoped[position] = (through, scoped[through]?.service ?? through)
    }
    func told(_ position: Int) -> String { "\(members[position].name) (\(place(position)))" }
    let outlived = scoped.keys.sorted().filter(outlivesScopes).map { position in
      let (through, service) = scoped[position] ?? (position, position)
      let conflict = Conflict.outlived(
        told(service), by: members[position],
        through: through == service ? nil : told(through))
      return (code: "scoped-need", positions: [position, service], conflict: conflict)
    }
    let cycles = ModuleGraph(requires: arrows, follows: arrows.map { _ in [] }).cycles().paths
    return outlived
      + cycles.map { path in
        let names = path.map { members[$0].name }
        return ("cycle", path, .cycle(of: names, .service, at: path.map(place)))
      }
  }

  /// Returns the lifetime of a service; nil for a module.
  private func lifetime(of position: Int) -> Scope? {
    members[position].kind == .service ? members[position].attributes.serviceScope : nil
  }

  /// Returns whether lookups refuse to make a scoped service for it.
  private func outlivesScopes(_ position: Int) -> Bool {
    ![.transient, .scoped].contains(lifetime(of: position))
  }
}
