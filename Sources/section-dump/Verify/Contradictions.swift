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
    let modules = Dictionary(
      grouping: declared.lazy.filter { $0.record.kind == .module }, by: \.record.name)
    for processes in Processes.all(of: declared) {
      var duplicates = Duplicates(in: processes)
      var order = StartOrder(in: processes)
      for own in processes.own {
        for refused in duplicates.next(own) {
          add(declared[refused.entry], of: declared[refused.other])
        }
        let news = order.next(own)
        findUnmet(news.modules.map { declared[$0] }, among: modules)
        for cycle in news.cycles { add(cycle.map { declared[$0] }) }
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

  private mutating func findUnmet(
    _ modules: [Survey.Declared], among all: [String: [Survey.Declared]]
  ) {
    for module in modules {
      for required in module.record.attributes.requires.map(ModuleRequirement.init) {
        guard let others = all[required.name], let provider = others.first?.place else {
          let conflict = Conflict.missing(
            required, by: module.record.name, nobody: "no file",
            near: nearest(to: required.name, in: all.keys, after: findings.count),
            addition: "add the file that")
          add(.unmetRequirement, .warning, module.place, conflict, missing: required.name)
          continue
        }
        let faults = others.map { required.fault(of: $0.record.attributes.version) }
        guard let fault = faults[0], !faults.contains(nil) else { continue }
        let conflict = Conflict.unfit(
          required, by: module.record.name, fault, of: provider.description)
        add(.unmetRequirement, .error, module.place, conflict, others: [provider])
      }
    }
  }

  private mutating func add(_ cycle: [Survey.Declared]) {
    let places = cycle.count > 1 ? cycle.map(\.place.description) : []
    let conflict = Conflict.cycle(of: cycle.map(\.record.name), at: places)
    let others = cycle.dropFirst().map(\.place)
    if add(.cycle, .error, cycle[0].place, conflict, others: others) { cycles.append(cycle) }
  }
}
