internal import Threads

/// The targets of a mediator. Lives under the lock of its `RoutingCore`.
struct TargetTable: Sendable {
  private(set) var targets: [String: RegisteredTarget] = [:]
  /// Who answers calls that find no target or no action, by target; nil for all of them.
  var fallbacks: [String?: Numbered<FallbackHandler<Call>>] = [:]

  /// Every target, in the order of their names.
  var all: [RegisteredTarget] { targets.values.sorted { $0.definition.name < $1.definition.name } }

  /// Takes in a target; throws where its name is taken, or what it declares cannot be.
  mutating func add(_ target: RegisteredTarget) throws(RoutingError) {
    let name = target.definition.name
    try RoutingError.check(!name.isEmpty, .badPattern, "a target of \(target.source) has no name")
    if let first = targets[name] {
      throw RoutingError(
        .duplicate,
        "the target \(name) of \(target.source) is registered by \(first.source) already; "
          + RecordKind.target.remedyOfDuplicates, sources: [target.source, first.source])
    }
    if let action = target.definition.repeated.first {
      throw RoutingError(
        .duplicate, "the target \(name) of \(target.source) declares the action \(action) twice",
        sources: [target.source])
    }
    for action in target.definition.actions.values where action.declaration.exposure.isRemote {
      try Self.check(remote: action, of: target)
    }
    targets[name] = target
  }

  private static func check(
    remote action: Action<AnyTarget>, of target: RegisteredTarget
  ) throws(RoutingError) {
    let whole = "\(target.definition.name).\(action.declaration.name) of \(target.source)"
    try RoutingError.check(
      !NativeName.matches(action.declaration.name), .native,
      "\(whole) is marked remote, and names that begin with native never are; "
        + "rename it or remove the mark", sources: [target.source])
    for parameter in action.parameters where !parameter.isURLConvertible {
      let declaration = parameter.declaration
      // One that may be missing is simply not given from outside.
      if declaration.isOptional || declaration.defaultText != nil { continue }
      throw RoutingError(
        .unknownType,
        "\(whole) is marked remote, and no URL can hold its parameter \(declaration.name), a "
          + "\(declaration.type); conform that type to URLConvertible, or remove the mark",
        key: declaration.name, sources: [target.source])
    }
  }

  mutating func remove(_ name: String) -> RegisteredTarget? { targets.removeValue(forKey: name) }

  /// The target that the host of a URL names, byte by byte.
  func named(by url: URLText) -> RegisteredTarget? {
    guard let target = url.host.flatMap({ targets[$0] }), url.isHost(target.definition.name) else {
      return nil
    }
    return target
  }
}

/// A target and its instance, once there is one.
final class RegisteredTarget: Sendable {
  private enum State {
    case empty
    case making
    case made(AnyTarget)
  }

  let definition: TargetDefinition
  let source: Source
  private let state = Lock(State.empty)

  init(_ definition: TargetDefinition, source: Source) {
    self.definition = definition
    self.source = source
  }

  /// The kept instance, made at the first call: one, however many threads ask at once. Another one where it is
  /// not to be kept.
  func instance(caching: Bool) throws -> AnyTarget {
    guard caching else { return try definition.make() }
    let made = state.wait { state -> AnyTarget?? in
      switch state {
      case .empty:
        state = .making
        return .some(nil)
      case .making: return nil
      case .made(let target): return .some(target)
      }
    }
    if let made { return made }
    // No lock is held: it is the target's own code.
    do {
      let target = try definition.make()
      state.change { $0 = .made(target) }
      return target
    } catch {
      state.change { $0 = .empty }
      throw error
    }
  }

  /// Releases the kept instance. Returns whether there was one.
  func release() -> Bool {
    // Returned: the instance ends when the lock is free.
    let before = state.withLock { state -> State in
      guard case .made = state else { return .empty }
      return exchange(&state, with: .empty)
    }
    if case .made = before { return true }
    return false
  }
}
