internal import Threads

/// Routes: URL patterns and their handlers.
///
///     let router = hive.router
///     try router.register("app://shop/:id<Int>", exposure: .remote) { call in
///       try await shop.item(call["id"])
///     }
///     try await router.open("app://shop/7", origin: .remote)
///
/// A value that refers to its Hive's routes, and safe to use from any thread; `Router()` is empty and belongs
/// to no Hive. Handlers are called with no lock held. What a module registers is removed when it is
/// unmounted.
public struct Router: Sendable {
  let core: RoutingCore

  /// Creates a router without a Hive and without routes: for tests, and hosts that have no Hive.
  public init() { core = RoutingCore() }

  init(core: RoutingCore) { self.core = core }

  /// Registers a handler for the URLs that a pattern matches.
  ///
  ///     try router.register("app://shop/:id<Int>", exposure: .remote) { call in
  ///       try await shop.item(call["id"])
  ///     }
  ///
  /// - Parameters:
  ///   - pattern: As ``RoutePattern`` reads it.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: Of the routes that match, the one with the largest priority comes first.
  ///   - extent: Whether the pattern covers all of a URL's path or its beginning.
  ///   - file: The file that registers the route. Errors and the catalogue name it.
  ///   - line: The line in that file.
  ///   - handler: Answers a call. If it throws `call.refusal(…)`, the next matching route is called.
  /// - Returns: Its `cancel()` removes the route; a call that is under way may still reach it.
  /// - Throws: ``RoutingError`` with `badPattern` if the pattern cannot be read or a default is not of its
  ///   type, with `unknownType` if it names a type that is not defined, with `duplicate` if a route of the
  ///   same shape and priority is registered; that error names both locations.
  @discardableResult
  public func register<Value: Sendable>(
    _ pattern: String, exposure: Exposure = .local, priority: Int = 0,
    matching extent: Route.Extent = .exact, file: String = #fileID, line: UInt = #line,
    _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) throws(RoutingError) -> Handle {
    let definition = RouteDefinition(
      pattern, exposure: exposure, priority: priority, matching: extent, handler)
    let route = try core.add(
      definition, try RoutePattern(pattern), source: .code(file: file, line: line))
    return core.owned { [core] in _ = core.routes.withLock { $0.remove(route) } }
  }

  /// Removes the routes of a pattern's shape, of every priority, whatever registered or declared them.
  ///
  /// As for duplicates, names of parameters and the query do not count: `/a/:other` removes `/a/:id`. Routes
  /// of other shapes stay, also those that begin like this one.
  ///
  /// - Parameter pattern: The pattern, or one of its shape.
  /// - Returns: Whether there were any; false also if the pattern cannot be read.
  @discardableResult
  public func deregister(_ pattern: String) -> Bool {
    guard let pattern = try? RoutePattern(pattern) else { return false }
    let gone = core.routes.withLock { $0.remove(shapedLike: pattern) }
    return !gone.isEmpty
  }

  /// Removes every route that code registered. Routes of images stay.
  public func deregisterAll() {
    _ = core.routes.withLock { table in
      table.all.filter(\.isOfCode).compactMap { table.remove($0.id) }
    }
  }

  /// Every route, in order of registration, with its source.
  public var routes: [Route] {
    core.catchUp(probing: true)
    return core.routes.withLock { $0.all }
  }

  /// Returns the first route that a URL meets, and calls nothing.
  ///
  /// Only the patterns count, not rules, aliases, the query and the exposure. For the result of a call, see
  /// ``canOpen(_:origin:)``.
  ///
  /// - Parameter url: The URL, absolute or a path.
  /// - Returns: The route; nil if no route matches or the URL cannot be read.
  public func route(for url: String) -> Route? {
    guard let url = try? URLText(url, limits: core.limits.withLock { $0 }) else { return nil }
    return core.meet(url).matches.first?.route
  }

  /// Returns the route that a call comes to, and calls nothing.
  ///
  /// It is the route that rules judge the call by, so an interceptor may decide by it. If its handler refuses, the call
  /// goes on to the next matching route. Call this method from any thread, also from an interceptor.
  ///
  /// - Parameter call: The call, as an interceptor receives it.
  /// - Returns: The first route that answers the call's origin and takes its parameters, else the first that answers
  ///   its origin; nil if there is none, and for a call of an action.
  public func route(for call: Call) -> Route? {
    guard call.action == nil, let url = call.url else { return nil }
    let routes = core.meet(url)
    return core.route(of: call, at: url, among: routes).map { routes.matches[$0.index].route }
  }

  /// Adds a type that patterns may name: `:month<Month>`.
  ///
  /// Binds routes of images that name the type and were unbound without it.
  ///
  /// - Parameters:
  ///   - type: The name that patterns use; its case does not count.
  ///   - convert: Makes a value of the decoded text; nil if the text is not of the type. Called on any thread,
  ///     while a URL is matched or a default of the type is read.
  /// - Returns: Its `cancel()` removes the type; routes that were registered with it keep it.
  /// - Throws: ``RoutingError`` with `duplicate` if the name is taken.
  @discardableResult
  public func define(
    _ type: String, _ convert: @escaping @Sendable (String) -> (any URLConvertible)?
  ) throws(RoutingError) -> Handle {
    let number = try core.routes.withLock { table throws(RoutingError) in
      try table.types.define(type, convert)
    }
    core.bindUnbound()
    return core.owned { [core] in _ = core.routes.withLock { $0.types.remove(type, number) } }
  }

  /// Registers the handler of URLs whose path no route has. It replaces the one before.
  ///
  /// If a route has the path and throws, the caller gets that error, and this handler is not called.
  ///
  /// - Parameters:
  ///   - exposure: Whether calls from outside reach it, as for a route.
  ///   - handler: Answers a call. It may open other URLs. If those are unmatched too, it is called again, one
  ///     call inside the other, at most 64 times. Then the innermost `open` throws ``RoutingError`` with
  ///     `redirectLoop`.
  /// - Returns: Its `cancel()` removes the handler.
  @discardableResult
  public func unmatched<Value: Sendable>(
    exposure: Exposure = .local, _ handler: @escaping @Sendable (RouteCall) async throws -> Value
  ) -> Handle {
    core.replace(\.unmatched, in: core.routes, with: (exposure, handler))
  }
}

extension Router {
  /// Opens a URL: the best route that it meets answers, or the action that it names.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: The origin of the call. Calls from outside reach only what is marked remote. A handler that
  ///     answers such a call makes only calls from outside, unless it is elevated.
  ///   - userInfo: Values of any Sendable type that go along with the URL.
  /// - Returns: What the route returned; an empty tuple if it returns nothing.
  /// - Throws: ``RoutingError`` if the call is refused or nothing answers it, or what the handler threw.
  @discardableResult
  public func open(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:]
  ) async throws -> any Sendable {
    try await core.send(.url(url), origin: origin, arguments: userInfo)
  }

  /// Opens a URL, for callers that do not wait.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - origin: The origin of the call.
  ///   - userInfo: Values that go along with the URL.
  ///   - completion: Called exactly once, on any thread.
  /// - Returns: The task that opens the URL, to cancel or to wait for it.
  @discardableResult
  public func open(
    _ url: String, origin: CallOrigin = .local, with userInfo: Arguments = [:],
    completion: @escaping @Sendable (Result<any Sendable, any Error>) -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: ModuleThreads.shared) {
      do {
        completion(.success(try await open(url, origin: origin, with: userInfo)))
      } catch {
        completion(.failure(error))
      }
    }
  }

  /// Opens a URL and returns its route's result as a given type.
  ///
  /// - Parameters:
  ///   - url: The URL, absolute or a path.
  ///   - type: The expected type.
  ///   - origin: The origin of the call.
  ///   - userInfo: Values that go along with the URL.
  /// - Returns: The object, as the expected type.
  /// - Throws: ``RoutingError`` with `wrongResult` if the route returns another type; or what the
  ///   handler threw.
  public func object<Value: Sendable>(
    for url: String, as type: Value.Type = Value.self, origin: CallOrigin = .local,
    with userInfo: Arguments = [:]
  ) async throws -> Value {
    let result = try await open(url, origin: origin, with: userInfo)
    return try RoutingCore.cast(result, to: type, of: url)
  }
}

extension RoutingCore {
  /// Returns a result as the type that the caller asks for; an empty tuple if it asks for nothing.
  static func cast<Value: Sendable>(
    _ result: any Sendable, to type: Value.Type, of name: String
  ) throws(RoutingError) -> Value {
    if let value = result as? Value { return value }
    if let nothing = () as? Value { return nothing }
    // A decision table does not tell a whole Double from an Int.
    if let number = result as? Int, let value = Double(exactly: number) as? Value { return value }
    if let numbers = result as? [Int], let value = numbers.map(Double.init) as? Value {
      return value
    }
    throw RoutingError(
      .wrongResult,
      "\(name.excerpt) returned a value of type \(Swift.type(of: result)), and \(type) was asked for"
    )
  }
}

extension RoutingCore {
  /// Adds a route. Throws if its pattern is taken, names a type that is not defined, or gives a key a default
  /// of another type.
  func add(
    _ definition: RouteDefinition, _ pattern: RoutePattern, source: Source
  ) throws(RoutingError) -> UInt64 {
    let parameters = try RouteParameters(of: pattern, routes.withLock { $0.types })
    let route = Route(source: source, definition: definition, parameters: parameters)
    try routes.withLock { table throws(RoutingError) in try table.add(route) }
    return route.id
  }

  /// Returns the present routes that a URL meets. If there are none, looks at the images first.
  func meet(_ url: URLText) -> MetRoutes {
    catchUp(probing: false)
    var table = routes.withLock { $0 }
    var matches = table.matches(of: url)
    if matches.isEmpty, owner != nil {
      catchUp(probing: true)
      table = routes.withLock { $0 }
      matches = table.matches(of: url)
    }
    return (matches, table.unmatched?.value)
  }
}

extension Router {
  /// Registers names for URLs, from a property list, JSON or YAML: all or none.
  ///
  ///     try router.register(aliases: ["home": "app://shop/home"])
  ///     try await router.open("home?from=mail")  // opens app://shop/home?from=mail
  ///
  /// If a name has the URL already, nothing changes. What a module registers is removed when it is
  /// unmounted.
  ///
  /// - Parameter aliases: Names of one segment each, and their URLs, which may be names of other aliases.
  /// - Returns: Its `cancel()` removes the aliases that this call has added.
  /// - Throws: ``RoutingError`` with `badPattern` if a name is not a single segment, with `malformedURL` or
  ///   `limitExceeded` if a URL cannot be read, with `redirectLoop` if aliases lead back to one another, with
  ///   `duplicate` if a name has another URL already.
  @discardableResult
  public func register(aliases: [String: String]) throws(RoutingError) -> Handle {
    let limits = core.limits.withLock { $0 }
    let added = try core.routes.withLock { table throws(RoutingError) in
      var added: [String: UInt64] = [:]
      do throws(RoutingError) {
        let sorted = aliases.sorted { $0.key < $1.key }
        for (name, url) in sorted {
          if let number = try table.add(alias: name, of: url) { added[name] = number }
        }
        for (name, url) in sorted { try table.followAliases(from: name, to: url, limits) }
      } catch {
        for name in added.keys { table.aliases[name] = nil }
        throw error
      }
      return added
    }
    return core.owned { [core] in
      core.routes.withLock { table in
        // A name that was given anew meanwhile stays.
        for (name, number) in added where table.aliases[name]?.number == number {
          table.aliases[name] = nil
        }
      }
    }
  }

  /// The registered aliases, as a snapshot.
  package var aliases: [String: String] {
    core.routes.withLock { $0.aliases }.mapValues(\.value)
  }
}

extension RouteTable {
  /// Adds an alias. Returns its number; nil if it is there already.
  fileprivate mutating func add(alias name: String, of url: String) throws(RoutingError) -> UInt64?
  {
    guard let read = try? URLText(name), read.path == [name], read.items.isEmpty else {
      throw RoutingError(
        .badPattern, "the alias \"\(name.excerpt)\" is no single segment of a path")
    }
    if let known = aliases[name]?.value {
      try RoutingError.check(
        known == url, .duplicate,
        "the alias \(name.excerpt) means \(known.excerpt) already, not \(url.excerpt)")
      return nil
    }
    let number = nextNumber()
    aliases[name] = (number, url)
    return number
  }

  /// Follows an alias; throws if the aliases do not end, or a URL cannot be read.
  fileprivate func followAliases(
    from name: String, to url: String, _ limits: URLLimits
  ) throws(RoutingError) {
    var (way, next) = ([name], url)
    while let alias = try URLText(next, limits: limits).aliasName, let url = aliases[alias]?.value {
      way.append(alias)
      try RoutingError.check(
        !way.dropLast().contains(alias) && way.count <= Call.mostRedirections, .redirectLoop,
        "aliases lead back, or on more than \(Call.mostRedirections) times: "
          + way.map(\.excerpt).joined(separator: " → ").shortened)
      next = url
    }
  }
}

extension URLText {
  /// The name that an alias may have: one segment and no scheme.
  var aliasName: String? {
    scheme == nil && host == nil && path.count == 1 ? path[0] : nil
  }
}
