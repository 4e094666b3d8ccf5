internal import BinaryImage
internal import Registration

/// What entries that are good by themselves come to together: duplicates, requirements, circles.
///
/// The rules are those of a Hive and of a router that meet the same files.
struct Contradictions {
  private(set) var findings: [Finding] = []
  private var known: Set<Finding> = []

  static func findings(in survey: Survey) -> [Finding] {
    survey.declaredByPlatform.flatMap { declared in
      var contradictions = Contradictions()
      let names = Set(declared.firstModules.map(\.record.name))
      for loaded in declared.loadedTogether {
        contradictions.findDuplicates(loaded)
        contradictions.findUnmet(loaded.firstModules, among: names)
        contradictions.findCircles(loaded.firstModules)
      }
      return contradictions.findings
    }
  }

  /// What nothing could tell apart. A route has as many as its pattern has forms.
  private enum Identity: Hashable {
    case named(RecordKind, String)
    case service(String, given: String?, priority: Int, isC: Bool)
    case route(RouteForm, priority: Int)

    static func all(of record: Record) -> [Self] {
      let attributes = record.attributes
      switch record.kind {
      case .service:
        return [
          .service(
            record.name, given: attributes.name, priority: attributes.priority,
            isC: attributes.abi != nil)
        ]
      case .route:
        // As C says it; for a route in Swift no record does.
        let isPrefix = attributes.others.contains { $0.key == "match" && $0.value == "prefix" }
        return RouteForm.forms(of: record.name, isPrefix: isPrefix)
          .map { .route($0, priority: attributes.priority) }
      default: return record.kind.isKnown ? [.named(record.kind, record.name)] : []
      }
    }
  }

  /// Of two that are the same the second is refused, and is in nobody's way then.
  private mutating func findDuplicates(_ declared: [Survey.Declared]) {
    var first: [Identity: Survey.Declared] = [:]
    for entry in declared {
      let identities = Identity.all(of: entry.record)
      if let other = identities.lazy.compactMap({ first[$0] }).first {
        add(.duplicate(entry, of: other))
      } else {
        for identity in identities { first[identity] = entry }
      }
    }
  }

  /// What several processes would meet is one finding.
  private mutating func add(_ finding: Finding) {
    if known.insert(finding).inserted { findings.append(finding) }
  }

  private mutating func findUnmet(_ modules: [Survey.Declared], among names: Set<String>) {
    for module in modules {
      for required in module.record.attributes.requires where !names.contains(required) {
        add(
          Finding(
            .unmetRequirement, .warning, module.place,
            "module \(module.record.name) requires \(required), which no file declares",
            remedy: "name the file that does as well, or say after in place of requires"))
      }
    }
  }

  private mutating func findCircles(_ modules: [Survey.Declared]) {
    let graph = ModuleGraph(of: modules)
    for path in graph.circles().paths {
      guard let start = path.first else { continue }
      let names = (path + [start]).map { modules[$0].record.name }.joined(separator: " → ")
      let places = path.map { modules[$0].place.description }.joined(separator: ", ")
      add(
        Finding(
          .cycle, .error, modules[start].place,
          "none of \(names) can start before the next (\(places))",
          remedy: "drop one of these requirements"))
    }
  }
}

extension Finding {
  fileprivate static func duplicate(_ entry: Survey.Declared, of other: Survey.Declared) -> Self {
    let (record, first) = (entry.record, other.record)
    let name = "\(record.kind) \(record.name)"
    let (code, remedy): (Code, String) =
      switch record.kind {
      case .module: (.duplicateModule, "rename or remove one of them")
      case .service: (.duplicateService, "give one of them a name or a priority")
      case .target: (.duplicateTarget, "rename or remove one of them")
      default: (.duplicateRoute, "give one of them a priority, or another pattern")
      }
    let place = other.place.description
    let message =
      record.name == first.name
      ? "\(name) is declared by \(place) too"
      : "\(name) has the shape and the priority of \(first.name), which \(place) declares"
    return Finding(code, .error, entry.place, message, remedy: remedy)
  }
}
