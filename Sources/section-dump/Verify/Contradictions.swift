internal import BinaryImage
internal import Registration

/// What entries that are good by themselves come to together: duplicates, requirements, circles.
///
/// The rules are those of a Hive that meets the same files.
struct Contradictions {
  /// The entries for one machine: those for another are never loaded beside them.
  private let declared: [Survey.Declared]
  private(set) var findings: [Finding] = []

  static func findings(in survey: Survey) -> [Finding] {
    survey.declaredByMachine.flatMap { Contradictions($0).findings }
  }

  private init(_ declared: [Survey.Declared]) {
    self.declared = declared
    findDuplicates()
    let modules = declared.firstModules
    findUnmet(modules)
    findCircles(modules)
  }

  /// What nothing could tell apart.
  private struct Identity: Hashable {
    var kind: RecordKind
    var name: String
    var given: String?
    var priority: Int
    var isC: Bool

    init(_ record: Record) {
      kind = record.kind
      name = record.name
      let isService = record.kind == .service
      given = isService ? record.attributes.name : nil
      priority = isService ? record.attributes.priority : 0
      isC = isService && record.attributes.abi != nil
    }
  }

  private mutating func findDuplicates() {
    var first: [Identity: Place] = [:]
    for entry in declared where entry.record.kind.isKnown {
      let identity = Identity(entry.record)
      guard let other = first[identity] else {
        first[identity] = entry.place
        continue
      }
      let code: Finding.Code =
        switch entry.record.kind {
        case .module: .duplicateModule
        case .service: .duplicateService
        case .target: .duplicateTarget
        default: .duplicateRoute
        }
      findings.append(
        Finding(
          code, .error, entry.place,
          "\(entry.record.kind) \(entry.record.name) is declared by \(other.description) too",
          remedy: code == .duplicateService
            ? "give one of them a name or a priority" : "rename or remove one of them"))
    }
  }

  private mutating func findUnmet(_ modules: [Survey.Declared]) {
    let names = Set(modules.map(\.record.name))
    for module in modules {
      for required in module.record.attributes.requires where !names.contains(required) {
        findings.append(
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
      findings.append(
        Finding(
          .cycle, .error, modules[start].place,
          "none of \(names) can start before the next (\(places))",
          remedy: "drop one of these requirements"))
    }
  }
}
