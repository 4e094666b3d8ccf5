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

  init(among declared: [Survey.Declared]) {
    self.declared = declared
    let modules = Dictionary(
      grouping: declared.lazy.filter { $0.record.kind == .module }, by: \.record.name)
    for processes in Processes.all(of: declared) {
      var duplicates = Duplicates(in: processes)
      var order = StartOrder(in: processes)
      for own in processes.own {
        for refused in duplicates.next(own) {
          add(.duplicate(declared[refused.entry], of: declared[refused.other]))
        }
        let news = order.next(own)
        findUnmet(news.modules.map { declared[$0] }, among: modules)
        for cycle in news.cycles { add(cycle.map { declared[$0] }) }
      }
    }
  }

  /// What several processes would meet is one finding.
  @discardableResult
  private mutating func add(_ finding: Finding) -> Bool {
    guard known.insert(finding).inserted else { return false }
    findings.append(finding)
    return true
  }

  private mutating func findUnmet(
    _ modules: [Survey.Declared], among all: [String: [Survey.Declared]]
  ) {
    for module in modules {
      let subject = "module \(module.record.name) requires"
      for text in module.record.attributes.requires {
        let required = ModuleRequirement(text)
        guard let others = all[required.name] else {
          add(
            Finding(
              .unmetRequirement, .warning, module.place,
              "\(subject) \(required.name), which no file declares\(similar(to: required.name, among: all.keys))",
              remedy: required.mayMeanVersions
                ? "say which versions will do as in \"log >=1.2 <2\", and one module in each requirement"
                : "add the file that declares it, or say after in place of requires",
              missing: required.name))
          continue
        }
        let faults = others.map { required.fault(of: $0.record.attributes.version) }
        guard let fault = faults[0], !faults.contains(nil) else { continue }
        add(
          Finding(
            .unmetRequirement, .error, module.place,
            "\(subject) \(required.name), which \(fault) (\(others[0].place))",
            remedy: "use files that belong together, or say which versions will do",
            others: [others[0].place]))
      }
    }
  }

  /// Names that may be meant, for the first findings and among few enough modules: that takes a comparison each.
  private func similar(to name: String, among names: some Collection<String>) -> String {
    guard findings.count < 16, names.count < 10_000 else { return "" }
    return near(name, in: names)
  }

  /// As many members of a cycle are named at either end of it as people read.
  private static let shownOfCycle = 5

  private mutating func add(_ cycle: [Survey.Declared]) {
    guard let start = cycle.first else { return }
    let isShort = cycle.count <= 2 * Self.shownOfCycle
    func shown(_ separator: String, _ text: (Survey.Declared) -> String) -> String {
      guard !isShort else { return cycle.map(text).joined(separator: separator) }
      let ends = cycle.prefix(Self.shownOfCycle).map(text)
      let rest = cycle.suffix(Self.shownOfCycle - 2).map(text)
      return (ends + ["\(cycle.count - ends.count - rest.count) more"] + rest)
        .joined(separator: separator)
    }
    let names = shown(" → ") { $0.record.name } + " → \(start.record.name)"
    let isNew = add(
      Finding(
        .cycle, .error, start.place,
        cycle.count == 1
          ? "module \(start.record.name) waits for itself, so it cannot start"
          : "the \(isShort ? "" : "\(cycle.count) ")modules \(names) wait for each other, so none of them can start "
            + "(\(shown(", ") { $0.place.description }))",
        remedy: "drop one of these requirements", others: cycle.dropFirst().map(\.place)))
    if isNew { cycles.append(cycle) }
  }
}

extension Finding {
  fileprivate static func duplicate(_ entry: Survey.Declared, of other: Survey.Declared) -> Self {
    let (record, first) = (entry.record, other.record)
    let name = "\(record.kind) \(record.name)"
    let code = Code(rawValue: "duplicate-\(record.kind)") ?? .duplicateRoute
    let place = other.place.description
    let message =
      record.name == first.name
      ? "\(name) is declared by \(place) too"
      : "\(name) has the shape and the priority of \(first.name), which \(place) declares"
    return Finding(
      code, .error, entry.place, message, remedy: record.kind.remedyOfDuplicates,
      others: [other.place])
  }
}

extension ModuleRequirement {
  /// Whether the name has signs that names of modules rarely have, and versions have.
  fileprivate var mayMeanVersions: Bool {
    name.contains { "=^~!".contains($0) } || (name.contains(" ") && name.last?.isNumber == true)
  }
}
