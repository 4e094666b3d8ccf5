internal import Threads

/// The one point that every call passes, local or remote, by name or by URL.
///
/// Interceptors, guards and the rules of the decision table decide in one order: larger priority first, the
/// table before code, then as they came. After a redirection, all of them decide again; a loop is an error.
///
///     let calls = hive.calls
///     calls.intercept("log") { call in
///       print(call)
///       return .proceed
///     }
///     try calls.guardCalls("moved", .url("app://old/:id"), then: .redirect(to: .url("app://new/:id")))
///
/// A value that refers to its Hive's calls, and safe to use from any thread. Observers, interceptors and
/// conditions are called with no lock held. What a module adds is removed when the module is unmounted.
public struct EntryPoint: Sendable {
  let core: RoutingCore

  /// Tells an observer of every call.
  ///
  /// - Parameter observer: Called on the thread that runs the call, which waits for it.
  /// - Returns: The handle that removes the observer.
  @discardableResult
  public func observe(_ observer: @escaping @Sendable (CallNotice) -> Void) -> Handle {
    let observation = core.observers.add(observer)
    return core.owned { observation.cancel() }
  }

  /// Tells an observer of every call, and sets a task local for each.
  ///
  ///     hive.calls.observe(setting: ServiceContext.$current) { notice in spans.context(of: notice) }
  ///
  /// The value holds for the code that answers the call, for its tasks, and for interceptors.
  ///
  /// - Parameters:
  ///   - local: The task local.
  ///   - observer: Called as by ``observe(_:)``. Returns the value at `began`, or nil to set none. At other notices its
  ///     value has no effect.
  /// - Returns: The handle that removes the observer. A call that is under way keeps the value.
  @discardableResult
  public func observe<Value: Sendable>(
    setting local: TaskLocal<Value>, _ observer: @escaping @Sendable (CallNotice) -> Value?
  ) -> Handle {
    let observation = core.observers.add(setting: local, observer)
    return core.owned { observation.cancel() }
  }

  /// Adds an interceptor: code that decides about calls before they are answered.
  ///
  /// - Parameters:
  ///   - name: Its name in notices and explanations.
  ///   - priority: The largest decides first, among all rules, guards and interceptors.
  ///   - match: The calls that it decides about.
  ///   - decide: Returns the verdict about a call. An error that it throws ends the call. Its own calls
  ///     have the origin of that call.
  /// - Returns: The handle that removes the interceptor.
  @discardableResult
  public func intercept(
    _ name: String, priority: Int = 0, _ match: CallMatch = .everything(),
    _ decide: @escaping @Sendable (Call) async throws -> Verdict
  ) -> Handle {
    add(CallRule(name: name, priority: priority, match: match, interceptor: decide))
  }

  /// Adds a guard: a verdict for the calls that a match describes, while a condition holds.
  ///
  /// - Parameters:
  ///   - name: Its name in notices and explanations.
  ///   - priority: The largest decides first, among all rules, guards and interceptors.
  ///   - match: The calls that it is about.
  ///   - verdict: The decision about them. In the URL of a redirection, `:name` is filled in from the path.
  ///   - condition: Returns whether the verdict holds; nil for always. It changes nothing, since a dry run
  ///     calls it too.
  /// - Returns: The handle that removes the guard.
  /// - Throws: ``RoutingError`` with `badPattern` if the URL of a redirection has a name that some form of the
  ///   match does not give, or cannot be read as a pattern; with `malformedURL` if its query cannot be
  ///   read.
  @discardableResult
  public func guardCalls(
    _ name: String, priority: Int = 0, _ match: CallMatch, then verdict: Verdict,
    when condition: (@Sendable (Call) -> Bool)? = nil
  ) throws(RoutingError) -> Handle {
    var requirements: [CallRule.Requirement] = []
    if let condition { requirements = [("its condition", { call, _ in condition(call) })] }
    return add(try .declared(name, priority: priority, match, when: requirements, then: verdict))
  }

  private func add(_ rule: CallRule) -> Handle {
    core.rules.withLock { $0.ofCode.add(rule) }
    return core.owned { [core, number = rule.number] in
      _ = core.rules.withLock { $0.ofCode.remove(number) }
    }
  }

  /// Calls a destination. Every other way of calling ends here.
  ///
  /// - Parameters:
  ///   - destination: A URL, or an action by its names.
  ///   - origin: The origin of the call. A handler that answers a call from outside makes only calls from
  ///     outside, unless it is elevated.
  ///   - arguments: The values given with the URL; for an action, all arguments.
  /// - Returns: The answer; an empty tuple if the receiver returns nothing.
  /// - Throws: ``RoutingError`` if the call is refused or nothing answers it, or what the handler, action or
  ///   interceptor threw.
  @discardableResult
  public func send(
    _ destination: Destination, origin: CallOrigin = .local, with arguments: Arguments = [:]
  ) async throws -> any Sendable {
    try await core.send(destination, origin: origin, arguments: arguments)
  }

  /// The limits for reading a URL.
  public var limits: URLLimits {
    get { core.limits.withLock { $0 } }
    nonmutating set { core.limits.withLock { $0 = newValue } }
  }
}

extension Router {
  /// The one point that every call of this router passes.
  public var calls: EntryPoint { EntryPoint(core: core) }

  /// The targets that belong to the same Hive as these routes.
  public var mediator: Mediator { Mediator(core: core) }
}

/// A step of a call, as observers see it.
public enum CallNotice: Sendable, CustomStringConvertible {
  /// A call begins.
  case began(Call)
  /// An interceptor or a rule decided something.
  case ruled(Call, by: String, Verdict)
  /// The call has been answered, or has failed.
  case ended(Call, (any Error)?)

  /// One line for a log.
  public var description: String {
    switch self {
    case .began(let call): "\(call) begins"
    case .ruled(let call, let rule, let verdict): "\(call): \(rule) says \(verdict)".escaped
    case .ended(let call, nil): "\(call) is answered"
    case .ended(let call, let error?): "\(call) failed: \(error)".escaped
    }
  }
}

extension EntryPoint {
  /// Replaces the decision table, as a whole.
  ///
  /// A call that is under way goes on by the rules that it began with. A table with a problem changes
  /// nothing. What a module loads is removed when it is unmounted.
  ///
  ///     try hive.calls.load(table) { name, moment in
  ///       TimeZone(identifier: name)?.secondsFromGMT(for: Date(timeIntervalSince1970: moment))
  ///     }
  ///
  /// - Parameters:
  ///   - table: The table. Types and guards that it names have to be defined before.
  ///   - zones: Returns how many seconds the clocks of a time zone are ahead of Greenwich at a moment (seconds since
  ///     1970); nil if the name is no zone. Called before this returns, for times of the form
  ///     `2026-12-24T18:00:00[Europe/Berlin]`.
  /// - Returns: Its `cancel()` removes the table, unless another has been loaded since.
  /// - Throws: ``RoutingError`` with `badTable`; the message lists every problem.
  @discardableResult
  public func load(
    _ table: DecisionTable, zones: (_ name: String, _ moment: Double) -> Int? = { _, _ in nil }
  ) throws(RoutingError) -> Handle {
    let types = core.routes.withLock { $0.types }
    let guards = core.guards.withLock { $0 }
    let rules = try withoutActuallyEscaping(zones) { zones throws(RoutingError) in
      try table.compiled(for: (types, guards, core.now, zones))
    }
    return core.replace(\.ofTable, in: core.rules, with: (table, rules))
  }

  /// The loaded decision table; nil if there is none.
  public var table: DecisionTable? { core.rules.withLock { $0.ofTable?.value.table } }

  /// The rules of the table that seem to be misspelled, a sentence each. They have a `route` that is not registered, or
  /// a `url` that leads to nothing although a route has nearly its pattern.
  ///
  /// They describe this moment: a library may bring the route later.
  public var warnings: [String] { core.warnings }

  /// Provides the values that tables test: `{"context": "user", "is": "guest"}`.
  ///
  ///     hive.calls.context { call in ["user": Session.current.user, "app": "2.1"] }
  ///
  /// Unlike a parameter, no caller can choose these values. The new provider replaces the one before.
  ///
  /// - Parameter provide: Returns the values for a call. Called once for each call that meets a rule with a condition,
  ///   in the call's task, with no lock held. It changes nothing, since a dry run calls it too.
  /// - Returns: Its `cancel()` removes the provider.
  @discardableResult
  public func context(_ provide: @escaping @Sendable (Call) -> Arguments) -> Handle {
    core.replace(\.context, in: core.rules, with: provide)
  }

  /// Defines a guard that tables may name: `{"guard": "detail-is-healthy", "is": false}`.
  ///
  /// Tables that are loaded later use it. It replaces an earlier guard of its name.
  ///
  /// - Parameters:
  ///   - name: The name that tables use.
  ///   - holds: Returns whether the guard holds for a call. It changes nothing, since a dry run calls it too. Called
  ///     on any thread, with no lock held.
  /// - Returns: Its `cancel()` removes the guard; a table that was loaded with it keeps it.
  @discardableResult
  public func define(guard name: String, _ holds: @escaping @Sendable (Call) -> Bool) -> Handle {
    core.replace(\.[name], in: core.guards, with: holds)
  }
}

extension RoutingCore {
  /// A sentence for each rule of the table that may never meet a call.
  fileprivate var warnings: [String] {
    catchUp(probing: true)
    let rules = rules.withLock { $0.ofTable?.value.rules.withPatterns } ?? []
    let table = routes.withLock { $0 }
    let known = Set(table.routes.values.map(\.pattern.path))
    let untyped = Dictionary(grouping: known, by: \.withoutTypes)
    var questions = 0
    return rules.compactMap { rule in
      let isOfRoute = rule.match.subject != nil
      guard let pattern = rule.match.pattern, !known.contains(pattern.path),
        isOfRoute || !mayMeet(pattern, table)
      else { return nil }
      let names =
        untyped[pattern.path.withoutTypes].map { Array($0.sorted().prefix(3)) }
        ?? nearest(to: pattern.path, in: known, after: questions)
      questions += 1
      // Rules may also decide about URLs without a route.
      guard isOfRoute || !names.isEmpty else { return nil }
      return
        "\(rule.name.excerpt): no route has the pattern \(pattern.path.excerpt)\(question(about: names))"
        .escaped
    }
  }

  /// Returns whether a URL that a pattern matches may lead to an alias, a target or a route.
  private func mayMeet(_ pattern: RoutePattern, _ table: RouteTable) -> Bool {
    let values = Dictionary(uniqueKeysWithValues: pattern.names.map { ($0, "1") })
    guard let text = try? pattern.url(with: values), let url = try? URLText(text) else {
      return true
    }
    return url.aliasName.flatMap { table.aliases[$0] } != nil
      || targets.withLock { $0.named(by: url) } != nil
      || !table.matches(of: url, ignoringTypes: true).isEmpty
  }
}

extension String {
  /// The pattern of a path without the types of its parameters.
  fileprivate var withoutTypes: String {
    self[...].parts(at: "<").map { $0.split(at: ">").after ?? $0 }.joined()
  }
}
