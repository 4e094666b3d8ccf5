internal import BeeHive
internal import Threads

extension RoutingCore {
  /// Calls an action, or the fallback that stands for a missing one.
  func answer(_ call: Call, target name: String, action: String) async throws -> any Sendable {
    let target: RegisteredTarget
    let found: Action<AnyTarget>
    do throws(RoutingError) {
      (target, found) = try declared(name, action, origin: call.origin)
    } catch {
      guard error.code == .noTarget || error.code == .noAction, call.origin == .local else {
        throw error
      }
      return try await fallBack(call, target: name, instead: error)
    }
    let arguments = try Self.check(call.arguments, against: found, of: "\(name).\(action)")
    let instance = try Self.instance(of: target, caching: call.caching)
    return try await Call.$current.withValue(call) {
      try await found.perform(instance, arguments)
    }
  }

  /// The action of these names, if `origin` may call it.
  func declared(
    _ name: String, _ action: String, origin: CallOrigin
  ) throws(RoutingError) -> (RegisteredTarget, Action<AnyTarget>) {
    guard let target = target(named: name) else {
      throw RoutingError(
        .noTarget,
        "no target is named \(name); there are "
          + Self.list(targets.withLock { $0.all.map(\.definition.name) }))
    }
    guard let found = target.definition.actions[action] else {
      // Nobody outside is told what else there is.
      let known = target.definition.actions.filter {
        origin == .local || $0.value.declaration.isRemote
      }
      throw RoutingError(
        .noAction,
        "the target \(name) of \(target.source) has no action \(action); it has "
          + Self.list(known.keys.sorted()), sources: [target.source])
    }
    if origin == .remote, NativeName.matches(action) {
      throw RoutingError(.native, "\(action) begins with native, so nobody outside may call it")
    }
    if origin == .remote, !found.declaration.isRemote {
      throw RoutingError(
        .notRemote,
        "\(name).\(action) of \(target.source) is not marked remote, so nobody outside may call it",
        sources: [target.source])
    }
    return (target, found)
  }

  /// The target of this name, after a look at the images where there is none.
  func target(named name: String) -> RegisteredTarget? {
    catchUp(probing: false)
    if let target = targets.withLock({ $0.targets[name] }) { return target }
    catchUp(probing: true)
    return targets.withLock { $0.targets[name] }
  }

  private static func list(_ names: [String]) -> String {
    names.isEmpty ? "none" : names.joined(separator: ", ")
  }

  private func fallBack(
    _ call: Call, target name: String, instead error: RoutingError
  ) async throws -> any Sendable {
    if let target = target(named: name), let fallback = target.definition.fallback {
      let instance = try Self.instance(of: target, caching: call.caching)
      return try await fallback(instance, call)
    }
    let fallback = targets.withLock { $0.fallbacks[name] ?? $0.fallbacks[nil] }
    guard let fallback else { throw error }
    return try await fallback.handler(call)
  }

  private static func instance(of target: RegisteredTarget, caching: Bool) throws -> AnyTarget {
    try caching ? target.instance() : target.definition.make()
  }

  /// The arguments as the declaration has them: each of its type, defaults filled in, nothing else.
  static func check(
    _ arguments: Arguments, against action: Action<AnyTarget>, of name: String
  ) throws(RoutingError) -> Arguments {
    var checked = Arguments()
    for parameter in action.parameters {
      do throws(RoutingError) {
        checked.set(try parameter.value(arguments), for: parameter.declaration.name)
      } catch {
        var error = error
        error.message = "\(name): \(error.message)"
        throw error
      }
    }
    let declared = Set(action.parameters.map(\.declaration.name))
    if let key = arguments.keys.subtracting(declared).min() {
      throw RoutingError(
        .undeclaredParameter,
        "\(name) declares no parameter \(key); it is \(action.declaration)", key: key)
    }
    return checked
  }
}

extension Call {
  /// The call that the running action answers; nil outside of actions.
  @TaskLocal public static var current: Call?
}
