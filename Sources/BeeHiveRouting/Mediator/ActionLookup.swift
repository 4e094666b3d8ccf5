internal import Threads

extension RoutingCore {
  /// The action of these names, if `origin` may call it.
  func declared(
    _ name: String, _ action: String, origin: CallOrigin
  ) throws(RoutingError) -> (RegisteredTarget, Action<any Sendable>) {
    guard let target = target(named: name) else {
      if origin == .local,
        let (rejected, problem) = unusableEntries(.target).first(where: { $0.entry.name == name })
      {
        throw RoutingError(
          .noTarget, "the target \(name) of \(rejected.source) was rejected: \(problem.message)",
          sources: [rejected.source])
      }
      if origin == .remote { throw RoutingError(.noTarget, "no target is named \(name)") }
      throw RoutingError(
        .noTarget,
        "no target is named \(name); there are "
          + Self.list(targets.withLock { $0.all.map(\.definition.name) }, near: name))
    }
    guard let found = target.definition.actions[action] else {
      // Callers from outside are not told what else there is.
      let known = target.definition.actions.filter {
        $0.value.declaration.exposure.answers(origin)
      }
      throw RoutingError(
        .noAction,
        "the target \(name) of \(target.source) has no action \(action); it has "
          + Self.list(known.keys.sorted(), near: action), sources: [target.source])
    }
    try RoutingError.check(
      origin == .local || !NativeName.matches(action), .native,
      "\(action) begins with native, so it cannot be called from outside")
    try RoutingError.check(
      found.declaration.exposure.answers(origin), .notRemote,
      "\(name).\(action) of \(target.source) is not marked remote, so it cannot be called from outside",
      sources: [target.source])
    return (target, found)
  }

  /// The target of this name, after a look at the images where there is none.
  func target(named name: String) -> RegisteredTarget? {
    catchUp(probing: false)
    if let target = targets.withLock({ $0.targets[name] }) { return target }
    catchUp(probing: true)
    return targets.withLock { $0.targets[name] }
  }

  /// The records of a kind that images have and that cannot be used, for now or for good, and why.
  func unusableEntries(_ kind: RecordKind) -> [(entry: Entry, problem: Problem)] {
    (owner?.entries ?? []).compactMap { entry in
      guard entry.kind == kind else { return nil }
      return switch entry.state {
      case .bound: nil
      case .accepted(let problem), .rejected(let problem): (entry, problem)
      }
    }
  }

  /// Some names, and which of them may be meant.
  private static func list(_ names: [String], near wanted: String) -> String {
    guard !names.isEmpty else { return "none" }
    return names.joined(separator: ", ") + near(wanted, in: names)
  }

  /// The arguments as the declaration has them: each of its type, defaults filled in, nothing else.
  static func check(
    _ arguments: Arguments, against action: Action<any Sendable>, of name: String
  ) throws(RoutingError) -> Arguments {
    var checked = Arguments()
    for parameter in action.parameters {
      do throws(RoutingError) {
        checked[raw: parameter.declaration.name] = try parameter.value(arguments)
      } catch {
        throw RoutingError(
          error.code, "\(name): \(error.message)", key: error.key, sources: error.sources)
      }
    }
    let declared = action.parameters.map(\.declaration.name)
    if let key = arguments.keys.subtracting(declared).min() {
      throw RoutingError(undeclared: key, by: action.declaration, called: name)
    }
    return checked
  }
}

extension RoutingError {
  /// A parameter that is given and that an action does not declare; `name` is what messages call the action.
  init(
    undeclared key: String, by action: ActionDeclaration, called name: String,
    sources: [Source] = []
  ) {
    let known = action.parameters.map(\.name).sorted()
    self.init(
      .undeclaredParameter,
      "\(name) declares no parameter \(key); it is \(action)"
        + near(key, in: known), key: key, sources: sources)
  }
}
