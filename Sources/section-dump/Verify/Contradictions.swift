internal import BinaryImage
internal import Registration

/// What entries that are good by themselves come to together: duplicates, requirements, cycles.
///
/// The rules are those of a Hive and of a router that meet the same files.
struct Contradictions {
  /// The entries of one platform.
  let declared: [Survey.Declared]
  private(set) var findings: [Finding] = []
  /// Modules that wait for each other, each cycle once.
  private(set) var cycles: [[Survey.Declared]] = []
  private var known: Set<Finding> = []
  private var counts: [Place: Int] = [:]

  init(among declared: [Survey.Declared]) {
    self.declared = declared
    let all = Processes.all(of: declared)
    var orders = all.map(StartOrder.init)
    let told = all.indices.map { set in all[set].own.map { orders[set].modules(with: $0) } }
    let modules = Dictionary(grouping: told.joined().joined(), by: { declared[$0].record.name })
    for (set, processes) in all.enumerated() {
      var duplicates = Duplicates(in: processes)
      var lacking: Set<Int> = []
      for (own, told) in zip(processes.own, told[set]) {
        for refused in duplicates.next(own) {
          add(declared[refused.entry], of: declared[refused.other])
        }
        lacking.formUnion(told.filter { findUnmet($0, among: modules) })
      }
      orders[set].exclude(lacking)
      for cycle in processes.own.flatMap({ orders[set].cycles(with: $0) }) {
        add(cycle.map { declared[$0] })
      }
    }
  }

  /// Adds a conflict, unless another process has met it. Returns whether it is new.
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

  private mutating func add(_ entry: Survey.Declared, of first: Survey.Declared) {
    let code = Finding.Code(rawValue: "duplicate-\(entry.record.kind)") ?? .duplicateRoute
    let conflict = Conflict.duplicate(
      entry.record, of: first.record, at: first.place.description)
    add(code, .error, entry.place, conflict, others: [first.place])
  }

  /// Tells what a module requires and the modules that count in some process do not offer. Returns whether there is
  /// such a thing.
  private mutating func findUnmet(_ position: Int, among all: [String: [Int]]) -> Bool {
    let module = declared[position]
    var isLacking = false
    for required in module.record.attributes.requires.map(ModuleRequirement.init) {
      guard let others = all[required.name]?.map({ declared[$0] }),
        let provider = others.first?.place
      else {
        let conflict = Conflict.missing(
          required, by: module.record.name, nobody: "no file",
          near: nearest(to: required.name, in: all.keys, after: findings.count),
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

  private mutating func add(_ cycle: [Survey.Declared]) {
    let places = cycle.count > 1 ? cycle.map(\.place.description) : []
    let conflict = Conflict.cycle(of: cycle.map(\.record.name), at: places)
    let others = cycle.dropFirst().map(\.place)
    if add(.cycle, .error, cycle[0].place, conflict, others: others) { cycles.append(cycle) }
  }
}
