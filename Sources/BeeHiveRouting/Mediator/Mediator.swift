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

  /// Calls an action and returns its result.
  ///
  /// - Parameters:
  ///   - target: The target's name.
  ///   - action: The action's name.
  ///   - arguments: Checked against the action's declaration.
  ///   - type: The type of the result.
  ///   - caching: Whether the target's instance is kept for later calls; without, a new one answers.
  /// - Returns: The result, as the type that is expected.
  /// - Throws: ``RoutingError``: `noTarget`, `noAction`; `missingParameter`, `wrongParameter` or
  ///   `undeclaredParameter`, with the key and both types; `wrongResult`. Or what the action threw.
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

  /// Calls an action and returns what it returns, whatever its type.
  ///
  /// - Parameters:
  ///   - target: The target's name.
  ///   - action: The action's name.
  ///   - arguments: Checked against the action's declaration.
  ///   - caching: Whether the target's instance is kept for later calls.
  /// - Returns: The result; an empty tuple where the action returns nothing.
  /// - Throws: ``RoutingError`` for each thing that does not fit, or what the action threw.
  @discardableResult
  public func perform(
    _ target: String, _ action: String, _ arguments: Arguments = [:], caching: Bool = true
  ) async throws -> any Sendable {
    try await core.send(
      .action(target: target, action: action), origin: .local, arguments: arguments,
      caching: caching)
  }

  /// Registers a target.
  ///
  /// - Parameters:
  ///   - name: What callers call it.
  ///   - file: Where it is registered: errors and the catalogue name the place.
  ///   - line: The line in that file.
  ///   - make: Makes its instance, at the first call.
  /// - Throws: ``RoutingError`` of the code `duplicate`, with both places.
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

  /// Takes a target out.
  ///
  /// - Parameter name: The target's name.
  /// - Returns: Whether it was there.
  @discardableResult
  public func deregister(_ name: String) -> Bool {
    let target = core.targets.withLock { $0.remove(name) }
    return target != nil
  }

  /// Lets the instance of a target go, so that the next call makes another.
  ///
  /// - Parameter name: The target's name.
  /// - Returns: Whether there was one.
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
    let fallback = Numbered(handler: FallbackHandler<Call>(exposure: exposure, answer: handler))
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
