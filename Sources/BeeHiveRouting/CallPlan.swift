internal import Threads

/// The way of a call, step by step: the one place that says what comes next.
///
/// `send` carries it out, `explain` prints it, and `canOpen` looks at its end. One snapshot of the rules holds
/// for all of it: a table that is swapped meanwhile decides about later calls.
struct CallPlan {
  private let core: RoutingCore
  /// The host's values that rules test.
  private let context: (@Sendable (Call) -> Arguments)?
  /// The rules of the table, then those of code.
  private let indices: [RuleIndex]
  /// The call in its present state: resolved, and perhaps redirected.
  private(set) var call: Call
  private var here = Place()
  private var answer: (any Sendable)?

  /// Facts about the call at its destination; a redirection begins anew.
  private struct Place {
    /// The rules still to apply; nil until they are looked up.
    var left: ArraySlice<MetRule>?
    /// The interceptors that have had their turn. Each gets one.
    var asked: Set<UInt64> = []
    /// The routes that the URL meets, without those that have refused; nil until they are looked up.
    var routes: MetRoutes?
    /// The routes that the rules were looked up by, set once an interceptor may have added others.
    var judged: [UInt64]?
    /// The route that the call comes to, once it is looked for; nil in it if there is none. Then the parameters of the
    /// receiver, once a condition tests them. Other parameters or routes reset both.
    var end: (route: RoutingCore.Fitting??, received: Arguments?) = (nil, nil)
    /// The receivers that have refused, each with its reason.
    var refusals: [(receiver: String, reason: RoutingError)] = []
    var refused: Set<UInt64> = []
  }

  init(_ call: Call, by core: RoutingCore) {
    (self.core, self.call) = (core, call)
    (context, indices) = core.rules.withLock { rules in
      let indices = [rules.ofTable?.value.rules, rules.ofCode].compactMap {
        $0?.isEmpty == false ? $0 : nil
      }
      return (rules.context?.value, indices)
    }
  }

  /// Returns the next rule that the call meets, with its first condition that does not hold. Returns nil if it is
  /// time to find a receiver. Throws the error that the call ends in.
  mutating func next() throws(RoutingError) -> (met: MetRule, unmet: String?)? {
    guard answer == nil else { return nil }
    if here.left == nil {
      here.routes = try core.resolve(&call)
      lookUpRules()
    } else if here.left?.isEmpty == true, let judged = here.judged, routeNumbers() != judged {
      lookUpRules()
    }
    guard var met = here.left?.popFirst() else { return nil }
    if met.rule.interceptor != nil {
      here.asked.insert(met.rule.number)
      // It may bring routes, or other parameters.
      if here.judged == nil, indices.contains(where: { $0.hasRoutes || $0.hasURLs }) {
        here.judged = routeNumbers()
      }
      (here.routes, here.end) = (nil, (nil, nil))
    }
    guard !met.rule.requirements.isEmpty else { return (met, nil) }
    if call.context == nil { call.context = context?(call) ?? [:] }
    let given = given(met.values)
    let unmet = met.rule.requirements.first { !$0.holds(call, given) }
    if unmet == nil, let variant = met.rule.variant?(call, given) { met.rule = variant }
    return (met, unmet?.text)
  }

  /// Looks up the rules that match the call, its route and its paths.
  private mutating func lookUpRules() {
    var (route, paths) = ((pattern: RoutePattern, values: PathValues)?.none, [ResolvedPath]())
    if indices.contains(where: \.hasRoutes) {
      route = matched().map { ($0.route.pattern, $0.values) }
    }
    if indices.contains(where: \.hasURLs) { paths = self.paths() }
    here.judged = nil
    here.left =
      indices.flatMap { $0.met(by: call, route: route, paths: paths).rules }
      .filter { !here.asked.contains($0.rule.number) }.sorted(by: CallRule.isBefore)[...]
  }

  /// Returns the receiver, once no rule is left. Throws the error that the call ends in.
  mutating func receiver() throws(RoutingError) -> Receiver {
    guard let answer else {
      return try core.receiver(of: call, among: routes(), comingTo: route())
    }
    return ({ "answered with \(answer)" }, false, ("", .local, { _ in answer }))
  }

  /// Returns the routes that the URL meets, looked up once; nil if the call names an action.
  private mutating func routes() -> MetRoutes? {
    guard call.action == nil, let url = call.url else { return nil }
    var routes = here.routes ?? core.meet(url)
    if here.routes == nil { routes.matches.removeAll { here.refused.contains($0.route.id) } }
    here.routes = routes
    return routes
  }

  private mutating func routeNumbers() -> [UInt64]? { routes()?.matches.map(\.route.id) }

  /// Returns the route that the call comes to, looked for once.
  private mutating func route() -> RoutingCore.Fitting? {
    if here.end.route == nil, let url = call.url, let routes = routes() {
      here.end.route = .some(core.route(of: call, at: url, among: routes))
    }
    return here.end.route ?? nil
  }

  /// Returns that route, and the values that the URL gives to it.
  private mutating func matched() -> RouteTable.Match? {
    route().flatMap { here.routes?.matches[$0.index] }
  }

  /// Returns the values that conditions test: the given values, in the types of the receiver, and its defaults.
  private mutating func given(_ values: PathValues) -> Arguments {
    if here.end.received == nil {
      here.end.received =
        if let (target, action) = call.action {
          (try? core.arguments(of: call, target, action)) ?? [:]
        } else {
          (try? route()?.parameters.get()) ?? [:]
        }
    }
    var given = call.given(values)
    let own = Set(values.map(\.name))
    for (key, value) in here.end.received?.values ?? [:] where !own.contains(key) {
      given.values[key] = value
    }
    return given
  }

  /// Returns whether a verdict redirects the call to where it is, in any spelling. Then the next rule decides.
  func isThere(_ verdict: Verdict, of met: MetRule) -> Bool {
    guard case .redirect(let destination) = verdict else { return false }
    var copy = call
    return (try? copy.follow(destination, by: met) { core.leads($0, to: call) }) == false
  }

  /// Returns the decoded paths that lead to the end of the resolved call: the path of an action, by any scheme, and the
  /// paths of matched routes, by the scheme of the route. Rules judge the call by them too, so no spelling slips by.
  private mutating func paths() -> [ResolvedPath] {
    if let (target, action) = call.action { return [ResolvedPath(target: target, action: action)] }
    guard let url = call.url, let routes = routes() else { return [] }
    return routes.matches.reduce(into: []) { paths, match in
      guard match.route.exposure.answers(call.origin) else { return }
      for path in match.route.pattern.paths(of: url, match.reading)
      where !paths.contains(path) {
        paths.append(path)
      }
    }
  }

  /// Carries out a verdict.
  mutating func take(_ verdict: Verdict, of met: MetRule) throws(RoutingError) {
    switch verdict {
    case .proceed: break
    case .replace(let arguments):
      call.replace(arguments)
      here.end = (nil, nil)
    case .redirect(let destination):
      if try call.follow(destination, by: met) { here = Place() }
    case .refuse(let reason):
      throw RoutingError(.refused, "\(call.destination.description.excerpt) was refused: \(reason)")
    case .answer(let value): answer = value
    }
  }

  /// Takes the refusal of the receiver. Then the next route that the URL meets is the receiver, and rules judge the
  /// call by that route. Throws if no other route answers.
  mutating func take(_ refusal: RoutingError, of receiver: String) throws(RoutingError) {
    here.refusals.append((receiver, refusal))
    if let id = matched()?.route.id {
      here.refused.insert(id)
      here.routes?.matches.removeAll { $0.route.id == id }
      here.end = (nil, nil)
      if (try? route()?.parameters.get()) != nil { return lookUpRules() }
    }
    // A receiver that has gone meanwhile does not count.
    let others = here.refusals.filter { $0.reason.code != .noRoute }
    if others.isEmpty { throw RoutingError(.noRoute, refusal.message) }
    throw RoutingError(
      .refused,
      "everybody who may answer \(call.destination.description.excerpt) has refused: "
        + others.map { "\($0.receiver): \($0.reason)" }.joined(separator: "; "))
  }
}

// The meaning of a URL: the alias, the action or the routes that it names.
extension RoutingCore {
  /// Takes a URL apart, follows aliases, and finds out whether it names a target and an action.
  ///
  /// Returns the routes that the URL meets if it had to look for them.
  func resolve(_ call: inout Call) throws(RoutingError) -> MetRoutes? {
    call.aliases = []
    while case .url(let text) = call.destination {
      let url = try URLText(text, limits: limits.withLock { $0 })
      if call.originalURL == nil { call.originalURL = url }
      call.url = url
      if let name = url.aliasName, let target = routes.withLock({ $0.aliases[name]?.value }),
        try call.follow(.url(target))
      {
        call.aliases.append(url)
        continue
      }
      var routes = try supply(url, for: call.origin)
      guard let action = try action(in: url, origin: call.origin, among: &routes) else {
        return routes
      }
      call.destination = action
      call.arguments = Arguments(items: url.items).merging(call.arguments)
      return nil
    }
    if call.url != nil, case .action? = call.trail.last { call.url = nil }
    return nil
  }

  /// Returns whether a destination resolves to the same end as a call, with texts that the call also has.
  func leads(_ destination: Destination, to call: Call) -> Bool {
    var other = Call(number: 0, to: destination, origin: call.origin)
    do { _ = try resolve(&other) } catch { return false }
    return other.destination == call.destination
      && other.arguments.values.allSatisfy { $0.value.texts == call.arguments.texts($0.key) }
  }

  /// Returns the action that `scheme://target/action` names; nil if there is no such target.
  ///
  /// If the action exists, only a route that spells it out takes its place. If the target has no such action,
  /// any route does.
  private func action(
    in url: URLText, origin: CallOrigin, among routes: inout MetRoutes?
  ) throws(RoutingError) -> Destination? {
    guard url.scheme != nil, url.host != nil, url.port == nil else { return nil }
    catchUp(probing: false)
    let target = targets.withLock { $0.named(by: url) }?.definition
    let isNative = origin == .remote && url.path.first.map(isNativeName) == true
    guard let name = target?.name ?? (isNative ? url.host : nil) else { return nil }
    let met = routes ?? meet(url)
    routes = met
    let matches = met.matches
    if matches.contains(where: \.values.isEmpty) { return nil }
    if let target, url.path.count == 1, target.actions[url.path[0]] != nil {
      return .action(target: name, action: url.path[0])
    }
    guard matches.isEmpty else { return nil }
    guard url.path.count == 1 || isNative else {
      throw nearMiss(of: url, from: origin)
        ?? RoutingError(
          .noAction,
          "\(url.text.excerpt) names the target \(name) and \(url.path.count) parts behind it; an action is one"
        )
    }
    return .action(target: name, action: url.path[0])
  }
}

// Plugins that are loaded on demand.
extension RoutingCore {
  /// Loads the plugin that answers a URL, unless something that is loaded does, or would but for a fault.
  ///
  /// Returns the routes that the URL meets if it had to look for them and there are some.
  private func supply(_ url: URLText, for origin: CallOrigin) throws(RoutingError) -> MetRoutes? {
    var routes: MetRoutes?
    let isOfTarget = url.scheme != nil && url.port == nil && url.path.count == 1
    try supply {
      let target = targets.withLock { $0.named(by: url) }?.definition
      let answers = target.map { $0.fallback != nil || $0.actions[url.path.first ?? ""] != nil }
      guard answers != true else { return false }
      let met = meet(url)
      // Without a match the routes are looked up again: another thread may have loaded one.
      routes = met.matches.isEmpty ? nil : met
      return routes == nil && unusableRoute(for: url) == nil
        && !unusableEntries(.target).contains { url.isHost($0.entry.name) }
    } wanting: { record in
      switch record.kind {
      case .route:
        record.attributes.exposure.answers(origin)
          && (try? RoutePattern(record.name))?.meets(url, record.attributes.extent) == true
      case .target:
        isOfTarget && url.isHost(record.name) && record.answers(url.path[0], for: origin)
      default: false
      }
    }
    return routes
  }

  /// Loads the plugin that has a target, unless something that is loaded has it, or would but for a fault.
  func supply(target name: String, _ action: String, for origin: CallOrigin) throws(RoutingError) {
    try supply {
      target(named: name) == nil && !unusableEntries(.target).contains { $0.entry.name == name }
    } wanting: { record in
      record.kind == .target && record.name == name && record.answers(action, for: origin)
    }
  }

  /// Loads plugins on demand, as long as an answer is missing and a plugin has a wanted record.
  private func supply(
    while isMissing: () -> Bool, wanting isWanted: (Record) -> Bool
  ) throws(RoutingError) {
    var isSupplied = true
    while isSupplied, let supply = owner?.supplier.withLock({ $0 }), isMissing() {
      do throws(ServiceError) { isSupplied = try supply(isWanted) } catch {
        throw RoutingError(.failed, error.message, sources: error.sources)
      }
      // Another thread may have loaded it.
      catchUp(probing: true)
    }
  }
}

extension Record {
  /// Returns whether a target may answer an action. Calls from outside reach only the actions declared as remote.
  fileprivate func answers(_ action: String, for origin: CallOrigin) -> Bool {
    origin == .local
      || attributes.actions.contains { text in
        let declared = try? ActionDeclaration(parsing: text)
        return declared?.name == action && declared?.exposure.answers(origin) == true
      }
  }
}

/// The way of every call: resolved, decided about as `CallPlan` says, answered.
extension RoutingCore {
  func send(
    _ destination: Destination, origin: CallOrigin, arguments: Arguments, caching: Bool = true
  ) async throws -> any Sendable {
    let call = Call(to: destination, origin: origin, arguments: arguments, caching: caching)
    try RoutingError.check(
      Nesting.current.depth < Nesting.most, .redirectLoop,
      "\(destination.description.excerpt) is called by what answers calls, \(Nesting.most / 2) of them one inside the other"
    )
    var plan = CallPlan(call, by: self)
    // Observers, guards and the code that makes a target belong to this call too.
    return try await Nesting.answering(call, .local) {
      let settings = observers.tell(.began(call))
      do {
        let result = try await settings.during { try await carryOut(&plan) }
        observers.tell(.ended(plan.call, nil))
        return result
      } catch {
        observers.tell(.ended(plan.call, error))
        // An interceptor may throw a refusal that it kept. The handler that made this call has not refused.
        throw (error as? RoutingError)?.asRefusal(false) ?? error
      }
    }
  }

  private func carryOut(_ plan: inout CallPlan) async throws -> any Sendable {
    while true {
      try await askRules(of: &plan)
      let (call, (name, exposure, answer)) = (plan.call, try plan.receiver().answerer)
      do {
        return try await Nesting.answering(call, exposure) { try await answer(call) }
      } catch let refusal as RoutingError where refusal.isRefusal {
        try plan.take(refusal, of: name)
      }
    }
  }

  private func askRules(of plan: inout CallPlan) async throws {
    while let (met, unmet) = try plan.next() {
      guard unmet == nil else { continue }
      let asked = plan.call
      var verdict = met.rule.verdict
      if let interceptor = met.rule.interceptor {
        verdict = try await Nesting.answering(asked, .remote) { try await interceptor(asked) }
      }
      if case .proceed = verdict { continue }
      if plan.isThere(verdict, of: met) { continue }
      observers.tell(.ruled(asked, by: met.rule.name, verdict))
      try plan.take(verdict, of: met)
    }
  }
}
