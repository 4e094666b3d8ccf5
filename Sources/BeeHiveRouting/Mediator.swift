internal import Threads

/// Targets and their actions, called by name: no caller imports the target's module.
///
///     let mediator = hive.mediator
///     try mediator.register("shop") { ShopTarget() }
///     let price: Int = try await mediator.perform("shop", "price", ["sku": "A1"])
///
/// A value that refers to its Hive's targets, and safe to use from any thread; `Mediator()` is empty and
/// belongs to no Hive. Actions are called with no lock held. What a module registers is removed when it is
/// unmounted.
public struct Mediator: Sendable {
  let core: RoutingCore

  /// Creates a mediator without a Hive and without targets: for tests, and hosts that have no Hive.
  public init() { core = RoutingCore() }

  init(core: RoutingCore) { self.core = core }

  /// Calls an action and returns its result.
  ///
  /// - Parameters:
  ///   - target: The target's name.
  ///   - action: The action's name.
  ///   - arguments: Checked against the action's declaration.
  ///   - type: The type of the result.
  ///   - caching: Whether the target's instance is kept for later calls; if not, a new one answers.
  /// - Returns: The result, as the expected type.
  /// - Throws: ``RoutingError`` with `noTarget` or `noAction`; with `missingParameter`, `wrongParameter` or
  ///   `undeclaredParameter`, which have the key; with `wrongResult`; with `refused` if a rule refuses. Or
  ///   what the action threw.
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

  /// Calls an action and returns its result, whatever the type.
  ///
  /// - Parameters:
  ///   - target: The target's name.
  ///   - action: The action's name.
  ///   - arguments: Checked against the action's declaration.
  ///   - caching: Whether the target's instance is kept for later calls.
  /// - Returns: The result; an empty tuple if the action returns nothing.
  /// - Throws: ``RoutingError`` if the call does not fit, as the `perform` of a type throws it, or what the action
  ///   threw.
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
  ///   - name: The name that callers use.
  ///   - file: The file that registers the target. Errors and the catalogue name it.
  ///   - line: The line in that file.
  ///   - make: Makes its instance at the first call: one instance, however many threads call at once.
  /// - Returns: Its `cancel()` removes the target.
  /// - Throws: ``RoutingError`` with `duplicate` if the name is taken, with both locations, or an action is
  ///   declared twice; with `badPattern` if the name is empty; with `native` or `unknownType` if an action
  ///   that is marked remote cannot be.
  @discardableResult
  public func register<Owner: Target>(
    _ name: String, file: String = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable () throws -> Owner
  ) throws(RoutingError) -> Handle {
    let target = RegisteredTarget(
      TargetDefinition(name, make), source: .code(file: file, line: line))
    try core.targets.withLock { table throws(RoutingError) in try table.add(target) }
    return core.owned { [core] in
      _ = core.targets.withLock { $0.targets[name] === target ? $0.remove(name) : nil }
    }
  }

  /// Removes a target, whatever registered or declared it.
  ///
  /// - Parameter name: The target's name.
  /// - Returns: Whether it was there.
  @discardableResult
  public func deregister(_ name: String) -> Bool {
    let target = core.targets.withLock { $0.remove(name) }
    return target != nil
  }

  /// Releases the instance of a target, so that the next call makes another.
  ///
  /// - Parameter name: The target's name.
  /// - Returns: Whether there was one.
  @discardableResult
  public func release(_ name: String) -> Bool {
    core.targets.withLock { $0.targets[name] }?.release() ?? false
  }

  /// Registers the handler of calls that find no target or no action. It replaces the one before.
  ///
  /// A target's own fallback comes first, but never for calls from outside. Then the handler for the target's
  /// name comes, then the handler for all targets. A handler for the target's name hides the handler for all
  /// targets, also from calls that it does not answer.
  ///
  /// - Parameters:
  ///   - target: The target's name; nil for all targets without a handler of their own.
  ///   - exposure: Whether calls from outside reach it.
  ///   - handler: Answers a call, with no lock held.
  /// - Returns: Its `cancel()` removes the handler.
  @discardableResult
  public func fallback<Value: Sendable>(
    for target: String? = nil, exposure: Exposure = .local,
    _ handler: @escaping @Sendable (Call) async throws -> Value
  ) -> Handle {
    core.replace(\.fallbacks[target], in: core.targets, with: (exposure, handler))
  }

  /// The declarations of every target's actions, by the target's name.
  package var declarations: [String: [ActionDeclaration]] {
    core.catchUp(probing: true)
    return core.targets.withLock { $0.targets }.mapValues(\.definition.declarations)
  }
}

/// The functions that callers reach a target with. `@Facade` writes them for a protocol.
public protocol FacadeCalls: Sendable {
  /// The target's name.
  static var target: String { get }
  /// The action that each function calls, as `ActionDeclaration(parsing:)` reads it.
  static var declarations: [String] { get }

  /// Creates a value that calls through a mediator.
  ///
  /// - Parameter mediator: The mediator that looks up the target at each call.
  init(_ mediator: Mediator)
}

extension Mediator {
  /// Checks that each function of a facade is an action of its target, and gives it the right parameters.
  ///
  /// For a test of the host, or its start, because a facade is compiled without the target. Calls compare the types of
  /// parameters. Actions that only a fallback would answer count as missing.
  ///
  /// - Parameter facade: The type that `@Facade` wrote: `try hive.mediator.check(ShopCalls.self)`.
  /// - Throws: ``RoutingError`` with every problem in its message. Its code and key are those of the first problem.
  public func check(_ facade: any FacadeCalls.Type) throws(RoutingError) {
    var problems: [RoutingError] = []
    for text in facade.declarations {
      do throws(RoutingError) {
        let wanted = try ActionDeclaration(parsing: text)
        let (target, action) = try core.declared(facade.target, wanted.name, origin: .local)
        problems += wanted.problems(with: action.declaration, of: target)
      } catch {
        problems.append(error)
      }
    }
    guard let first = problems.first else { return }
    var told: Set<String> = []
    let messages = problems.map(\.message).filter { told.insert($0).inserted }
    throw RoutingError(
      first.code, "\(facade): " + messages.joined(separator: "; "), key: first.key,
      sources: first.sources)
  }
}

extension ActionDeclaration {
  /// Returns the reasons why a function of this declaration cannot call an action.
  fileprivate func problems(with action: Self, of target: RegisteredTarget) -> [RoutingError] {
    let name = "\(target.definition.name).\(action.name) of \(target.source)"
    let undeclared = parameters.filter { wanted in
      !action.parameters.contains { $0.name == wanted.name }
    }
    let missing = action.parameters.filter { needed in
      !needed.isOptional && needed.default == nil
        && !parameters.contains { $0.name == needed.name && !$0.isOptional }
    }
    return undeclared.map { parameter in
      RoutingError(undeclared: parameter.name, by: action, called: name, sources: [target.source])
    }
      + missing.map { parameter in
        RoutingError(
          .missingParameter,
          "\(name) needs the parameter \(parameter.name), of type \(parameter.type); give it, and not "
            + "as an optional", key: parameter.name, sources: [target.source])
      }
  }
}

extension RoutingCore {
  /// Returns the target and action of these names, if `origin` may call the action.
  func declared(
    _ name: String, _ action: String, origin: CallOrigin
  ) throws(RoutingError) -> (RegisteredTarget, Action<any Sendable>) {
    try RoutingError.check(
      origin == .local || !isNativeName(action), .native,
      "\(action) begins with native, so it cannot be called from outside")
    try supply(target: name, action, for: origin)
    guard let target = target(named: name) else {
      var (message, sources) = ("no target is named \(name.excerpt)", [Source]())
      // Callers from outside do not learn what targets there are.
      if origin == .local {
        let names = targets.withLock { $0.all.map(\.definition.name) }
        message += "; there are " + Self.list(names, near: name)
        for (entry, problem) in unusableEntries(.target) where entry.name == name {
          message = "the target \(name) of \(entry.source) was rejected: \(problem.message)"
          sources = [entry.source]
        }
      }
      throw RoutingError(.noTarget, message, sources: sources)
    }
    guard let found = target.definition.actions[action] else {
      // Callers from outside do not learn what other actions there are.
      let known = target.definition.actions.filter {
        $0.value.declaration.exposure.answers(origin)
      }
      throw RoutingError(
        .noAction,
        "the target \(name) of \(target.source) has no action \(action.excerpt); it has "
          + Self.list(known.keys.sorted(), near: action), sources: [target.source])
    }
    try RoutingError.check(
      found.declaration.exposure.answers(origin), .notRemote,
      "\(name).\(action) of \(target.source) is not marked remote, so it cannot be called from outside",
      sources: [target.source])
    return (target, found)
  }

  /// Returns the target of this name. If there is none, looks at the images first.
  func target(named name: String) -> RegisteredTarget? {
    catchUp(probing: false)
    if let target = targets.withLock({ $0.targets[name] }) { return target }
    catchUp(probing: true)
    return targets.withLock { $0.targets[name] }
  }

  /// Returns the records of a kind that cannot be used, for now or for good, each with its problem.
  func unusableEntries(_ kind: RecordKind) -> [(entry: Entry, problem: Problem)] {
    (owner?.entries ?? []).compactMap { entry in
      guard entry.kind == kind else { return nil }
      return switch entry.state {
      case .bound: nil
      case .accepted(let problem), .rejected(let problem): (entry, problem)
      }
    }
  }

  /// Lists some names, with the ones that may be meant.
  private static func list(_ names: [String], near wanted: String) -> String {
    guard !names.isEmpty else { return "none" }
    return names.joined(separator: ", ") + near(wanted, in: names)
  }

  /// Returns the arguments as declared: each in its type, with defaults filled in, and nothing else.
  static func check(
    _ arguments: Arguments, against action: Action<any Sendable>, of name: String
  ) throws(RoutingError) -> Arguments {
    var checked = arguments
    try action.parameters.convert(&checked, of: name)
    let declared = action.parameters.map(\.declaration.name)
    if let key = arguments.keys.subtracting(declared).min() {
      throw RoutingError(undeclared: key, by: action.declaration, called: name)
    }
    return checked
  }
}

extension RoutingError {
  /// Describes a parameter that is given but not declared. `name` is the action's name in messages.
  init(
    undeclared key: String, by action: ActionDeclaration, called name: String,
    sources: [Source] = []
  ) {
    let known = action.parameters.map(\.name).sorted()
    self.init(
      .undeclaredParameter,
      "\(name) declares no parameter \(key.excerpt); it is \(action)"
        + near(key, in: known), key: key, sources: sources)
  }
}
