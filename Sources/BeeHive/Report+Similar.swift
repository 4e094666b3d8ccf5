internal import BinaryImage
internal import Registration
internal import Threads

// "Did you mean", for what a report lists.
extension Report {
  /// Of how many entries it looks for similar types, which goes through all types of the process.
  private static let most = 16

  /// Adds to what waits for a type the types that are loaded and have nearly its name.
  static func addSimilarTypes(to lines: inout [Line]) {
    let waiting = lines.indices.filter {
      lines[$0].state == "accepted" && lines[$0].code == Problem.Code.noSuchType.rawValue
    }.prefix(most)
    guard !waiting.isEmpty else { return }
    let found = TypeLookup.similar(to: waiting.map { TypeName(lines[$0].type) })
    for index in waiting {
      let question = question(about: found[TypeName(lines[index].type)] ?? [])
      lines[index].reason = lines[index].reason.map { $0 + question }
    }
  }
}

extension Report.Line {
  /// The name of the type that it waits for.
  fileprivate var type: String { kind == "module" ? name : implementation ?? "" }
}

extension Hive {
  /// The names of all modules, whatever became of them.
  var moduleNames: Set<String> {
    state.withLock { state in
      Set(state.table.entries { $0.kind == .module && !$0.name.isEmpty }.map(\.name))
    }
  }

  /// The names that are switched off and that no module has; one sentence each.
  func switchedOffInVain() -> [String] {
    let names = moduleNames
    return switchedOff.subtracting(names).sorted().map { name in
      let question = near(name, in: names)
      return "\(name) is switched off, but no module is called that\(question)".escaped
    }
  }
}

extension LaunchOrder {
  /// Looks for modules with nearly the names that are required and that none has.
  mutating func look(for names: Set<String>) {
    for index in missing.indices.prefix(64) where missing[index].reason == nil {
      missing[index].similar = nearest(to: missing[index].requirement, in: names)
    }
  }
}
