internal import Registration
internal import Threads

/// The targets of a mediator. The lock of its `RoutingCore` protects them.
struct TargetTable: Sendable {
  private(set) var targets: [String: RegisteredTarget] = [:]
  /// The handlers of calls that find no target or no action, by target; under nil, the handler for all targets.
  var fallbacks: [String?: Numbered<Fallback<Call>>] = [:]

  /// Every target, in the order of their names.
  var all: [RegisteredTarget] { targets.values.sorted { $0.definition.name < $1.definition.name } }

  /// Adds a target; throws if its name is taken or empty, or an action cannot be as it is declared.
  mutating func add(_ target: RegisteredTarget) throws(RoutingError) {
    let name = target.definition.name
    try RoutingError.check(!name.isEmpty, .badPattern, "a target of \(target.source) has no name")
    if let first = targets[name] {
      throw RoutingError(
        .duplicate,
        "the target \(name) of \(target.source) is registered by \(first.source) already; "
          + "\(Remedy.distinguish(.target))", sources: [target.source, first.source])
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
    remote action: Action<any Sendable>, of target: RegisteredTarget
  ) throws(RoutingError) {
    let whole = "\(target.definition.name).\(action.declaration.name) of \(target.source)"
    try RoutingError.check(
      !isNativeName(action.declaration.name), .native,
      "\(whole) is marked remote, and names that begin with native never are; "
        + "rename it or remove the mark", sources: [target.source])
    for parameter in action.parameters where !parameter.isURLConvertible {
      let declaration = parameter.declaration
      // Calls from outside cannot give it, and need not.
      if declaration.isOptional || declaration.default != nil { continue }
      throw RoutingError(
        .unknownType,
        "\(whole) is marked remote, and no URL can hold its parameter \(declaration.name), a "
          + "\(declaration.type); conform that type to URLConvertible, or remove the mark",
        key: declaration.name, sources: [target.source])
    }
  }

  mutating func remove(_ name: String) -> RegisteredTarget? { targets.removeValue(forKey: name) }

  /// Returns the target that the host of a URL names, byte by byte.
  func named(by url: URLText) -> RegisteredTarget? {
    guard let target = url.host.flatMap({ targets[$0] }), url.isHost(target.definition.name) else {
      return nil
    }
    return target
  }
}

/// A target and its instance, once there is one.
final class RegisteredTarget: Sendable {
  let definition: TargetDefinition
  let source: Source
  private let instance = Lock<(made: (any Sendable)?, isMaking: Bool)>((nil, false))

  init(_ definition: TargetDefinition, source: Source) {
    self.definition = definition
    self.source = source
  }

  /// Returns the kept instance, made at the first call: one instance, however many threads call at once. Without
  /// `caching`, makes another one.
  func instance(caching: Bool) throws -> any Sendable {
    guard caching else { return try definition.make() }
    let made = instance.wait { instance -> (any Sendable)?? in
      guard !instance.isMaking else { return nil }
      instance.isMaking = instance.made == nil
      return .some(instance.made)
    }
    if let made { return made }
    // No lock is held: it is the target's own code.
    let result = Result { try definition.make() }
    instance.change { $0 = (try? result.get(), false) }
    return try result.get()
  }

  /// Releases the kept instance. Returns whether there was one.
  func release() -> Bool {
    // The instance ends here, after the lock.
    let before = instance.withLock { exchange(&$0.made, with: nil) }
    return before != nil
  }
}
