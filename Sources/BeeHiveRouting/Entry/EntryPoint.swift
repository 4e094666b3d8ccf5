internal import BeeHive
internal import Threads

/// The one point that every call passes, local or remote, by name or by URL.
///
/// Interceptors, guards and the rules of the decision table are asked in one order: larger priority first,
/// the table before code, then as they came. A redirection asks all of them again; a loop is an error.
public struct EntryPoint: Sendable {
  let core: RoutingCore

  init(core: RoutingCore) { self.core = core }

  /// Tells `observer` of every call, on the thread that makes it.
  @discardableResult
  public func observe(_ observer: @escaping @Sendable (CallNotice) -> Void) -> Interception {
    let added = Numbered(handler: observer)
    core.observers.withLock { $0.append(added) }
    return owned { [core, number = added.number] in
      // Returned: what an observer holds ends with it, when the lock is free.
      _ = core.observers.withLock { observers in
        let before = observers
        observers.removeAll { $0.number == number }
        return before
      }
    }
  }

  /// Asks `decide` about every call that `match` describes.
  @discardableResult
  public func intercept(
    _ name: String, priority: Int = 0, _ match: CallMatch = .everything(),
    _ decide: @escaping @Sendable (Call) async throws -> Verdict
  ) -> Interception {
    add(
      CallRule(
        name: name, priority: priority, match: match, decision: .code(decide), source: .interceptor)
    )
  }

  /// Has a verdict hold for the calls that `match` describes, while `condition` holds.
  ///
  /// The condition only looks, so a dry run can ask it too: the new target is unhealthy, so the old one. In
  /// the URL of a redirection, `:name` is filled in from the path; throws where the match does not give it.
  @discardableResult
  public func guardCalls(
    _ name: String, priority: Int = 0, _ match: CallMatch, then verdict: Verdict,
    when condition: (@Sendable (Call) -> Bool)? = nil
  ) throws(RoutingError) -> Interception {
    let requirements = condition.map { condition in
      [CallRule.Requirement(text: "its condition") { call, _ in condition(call) }]
    }
    return add(
      try .declared(
        name, priority: priority, match, when: requirements ?? [], then: verdict,
        source: .guardian))
  }

  private func add(_ rule: CallRule) -> Interception {
    core.rules.withLock { $0.ofCode.add(rule) }
    return owned { [core, number = rule.number] in
      _ = core.rules.withLock { $0.ofCode.remove(number) }
    }
  }

  /// A module's own goes with it.
  private func owned(_ undo: @escaping @Sendable () -> Void) -> Interception {
    core.own(undo)
    return Interception(undo)
  }

  /// Calls a destination. Every other way of calling ends here.
  @discardableResult
  public func send(
    _ destination: Destination, origin: CallOrigin = .local, with arguments: Arguments = [:]
  ) async throws -> any Sendable {
    try await core.send(destination, origin: origin, arguments: arguments)
  }

  /// The most that is read of a URL.
  public var limits: URLLimits {
    get { core.limits.withLock { $0 } }
    nonmutating set { core.limits.withLock { $0 = newValue } }
  }
}

/// Something that was added to the entry point, to take it out again.
public struct Interception: Sendable {
  private let undo: @Sendable () -> Void

  init(_ undo: @escaping @Sendable () -> Void) { self.undo = undo }

  /// Takes it out; a call that is under way may still ask it.
  public func cancel() { undo() }
}

extension Router {
  /// The one point that every call of this router passes.
  public var calls: EntryPoint { EntryPoint(core: core) }

  /// The targets beside these routes.
  public var mediator: Mediator { Mediator(core: core) }
}

extension Mediator {
  /// The one point that every call of this mediator passes.
  public var calls: EntryPoint { EntryPoint(core: core) }

  /// The routes beside these targets.
  public var router: Router { Router(core: core) }
}
