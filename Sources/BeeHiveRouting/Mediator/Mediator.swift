internal import BeeHive
internal import Threads

/// Targets and their actions, called by name: no caller imports the target's module.
///
/// A value that stands for its Hive's targets; `Mediator()` is empty and belongs to none.
public struct Mediator: Sendable {
  let core: RoutingCore

  /// A mediator of its own: tests, and hosts without a Hive.
  public init() { core = RoutingCore() }

  init(core: RoutingCore) { self.core = core }

  /// Calls an action and returns its result; each error has a code of its own.
  ///
  /// Arguments are checked against the declaration: a missing one, one of another type and one that is
  /// not declared are errors with the key and both types. Without `caching` a new instance answers.
  @discardableResult
  public func perform<Value: Sendable>(
    _ target: String, _ action: String, _ arguments: Arguments = [:],
    as type: Value.Type = Value.self, caching: Bool = true
  ) async throws -> Value {
    let result = try await core.send(
      .action(target: target, action: action), origin: .local, arguments: arguments,
      caching: caching)
    return try RoutingCore.cast(result, to: type, of: "\(target).\(action)")
  }

  /// Calls an action and returns what it returns.
  @discardableResult
  public func perform(
    _ target: String, _ action: String, _ arguments: Arguments = [:], caching: Bool = true
  ) async throws -> any Sendable {
    try await core.send(
      .action(target: target, action: action), origin: .local, arguments: arguments,
      caching: caching)
  }

  /// Registers a target that `make` makes at its first call.
  public func register<Owner: Target>(
    _ name: String, file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable () throws -> Owner
  ) throws(RoutingError) {
    let target = RegisteredTarget(
      TargetDefinition(name, make), source: .code(file: file, line: line))
    try core.targets.withLock { table throws(RoutingError) in try table.add(target) }
    core.own { [core] in
      _ = core.targets.withLock { $0.targets[name] === target ? $0.remove(name) : nil }
    }
  }

  /// Takes a target out; whether it was there.
  @discardableResult
  public func deregister(_ name: String) -> Bool {
    let target = core.targets.withLock { $0.remove(name) }
    return target != nil
  }

  /// Lets the instance of a target go, so that the next call makes another; whether there was one.
  @discardableResult
  public func release(_ name: String) -> Bool {
    core.targets.withLock { $0.targets[name] }?.release() ?? false
  }

  /// Answers calls of a target, or of any without a name here, that finds no target or no action.
  ///
  /// Asked after the target's own fallback, and before that of all targets. Calls from outside reach it with
  /// `.remote` or `.elevated` alone, and never a target's own.
  public func fallback<Value: Sendable>(
    for target: String? = nil, exposure: Exposure = .local,
    _ handler: @escaping @Sendable (Call) async throws -> Value
  ) {
    let fallback = Numbered<TargetTable.Fallback>(handler: .init(exposure, handler))
    _ = core.targets.withLock { $0.fallbacks.updateValue(fallback, forKey: target) }
    core.own { [core] in
      _ = core.targets.withLock { $0.fallbacks.remove(fallback.number, for: target) }
    }
  }

  /// What every target offers, by its name.
  public var declarations: [String: [ActionDeclaration]] {
    core.catchUp(probing: true)
    return core.targets.withLock { $0.targets }.mapValues { target in
      target.definition.actions.values.map(\.declaration).sorted { $0.name < $1.name }
    }
  }
}
