internal import Registration
internal import Threads

extension Hive {
  /// Registers a service that asynchronous code makes, or code of an actor: `{ @MainActor hive in … }`.
  ///
  /// ``load(_:name:)`` asks for it. A singleton is loaded once, however many tasks ask at once; from then
  /// on ``service(_:)`` finds it too.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: Tells it from others of the type; nil for the one that is asked for without a name.
  ///   - scope: `transient` or `singleton`.
  ///   - priority: The largest answers a lookup; only services of one priority are duplicates.
  ///   - file: Where it is registered: errors and reports name the location.
  ///   - line: The line in that file.
  ///   - load: Makes an instance. A singleton's runs in a task of its own, which the cancellation of a task
  ///     that asked does not cancel.
  /// - Throws: ``Problem`` if it is a duplicate, or if `scope` is `scoped` or `weak`.
  public func register<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, scope: Scope = .transient, priority: Int = 0,
    file: String = #fileID, line: UInt = #line,
    loading load: @escaping @Sendable (Hive) async throws -> Service
  ) throws(Problem) {
    guard scope == .transient || scope == .singleton else {
      throw Problem(
        Problem.Code(rawValue: Rejection.Reason.badAttribute.rawValue),
        "scope=\(scope.rawValue) cannot be made asynchronously; use transient or singleton")
    }
    try register(
      type, FactoryClosure(loading: load), name: name, scope: scope, priority: priority, file: file,
      line: line)
  }

  /// Returns the service of a type, whose factory may be asynchronous.
  ///
  /// A singleton is loaded once, however many tasks ask for it.
  ///
  /// - Parameters:
  ///   - type: What the service was registered or declared as.
  ///   - name: The name that it was given, if any.
  /// - Returns: The instance of the entry that has the largest priority.
  /// - Throws: ``ServiceError`` as ``service(_:)`` does; services that wait for each other get `cycle`, which
  ///   names them, and no deadlock.
  public func load<Service: Sendable>(
    _ type: Service.Type = Service.self, name: String? = nil
  ) async throws(ServiceError) -> Service {
    var lookup = ServiceLookup(type: type, name: name, hive: self)
    lookup.isPatient = true
    catchUp(probing: false)
    var found = try lookup.choose()
    if found == nil {
      catchUp(probing: true)
      found = try lookup.choose()
    }
    guard let found else { throw lookup.failure() }
    guard case .closure(let factory) = found.provider, let load = factory.load else {
      return try resolve(lookup)
    }
    return try await self.load(found.entry, load, lookup)
  }

  /// The same of an entry whose factory is asynchronous.
  func load<Service: Sendable>(
    _ entry: RegisteredEntry, _ load: @escaping FactoryClosure.Loading,
    _ lookup: ServiceLookup<Service>
  ) async throws(ServiceError) -> Service {
    var lookup = lookup
    let keeper = lookup.keeper(of: entry)
    if entry.scope == .singleton, keeper.instance != nil { return try resolve(lookup) }
    let made = try await Loading.waiting(for: entry) {
      entry.scope == .singleton
        ? try await self.loadOnce(entry, into: keeper, load) : try await load(self)
    }
    guard let service = made as? Service else { throw lookup.failure() }
    guard entry.scope == .singleton else { return service }
    // The first to come keeps it; from here on it is found as others are.
    _ = try keeper.get(for: entry) { CachedValue<Service>(service, name: lookup.name) }
    return try resolve(lookup)
  }

  /// Joins the task that makes a singleton, or begins it.
  private func loadOnce(
    _ entry: RegisteredEntry, into keeper: Singleton,
    _ load: @escaping FactoryClosure.Loading
  ) async throws -> any Sendable {
    let key = ObjectIdentifier(keeper)
    let task = state.withLock { state in
      if let task = state.loading[key] { return task }
      let task = Task {
        defer { self.state.withLock { state in state.loading[key] = nil } }
        return try await load(self)
      }
      state.loading[key] = task
      return task
    }
    return try await task.value
  }
}

/// Which services that are made asynchronously wait for which others.
private enum Loading {
  private typealias Wait = (waiting: RegisteredEntry, wanted: RegisteredEntry)

  /// What the current task is making.
  @TaskLocal private static var making: RegisteredEntry?
  private static let waits = Lock<[Wait]>([])

  /// Runs `body`, which makes an entry or waits for it, unless that would never end.
  static func waiting(
    for wanted: RegisteredEntry, _ body: () async throws -> any Sendable
  ) async throws(ServiceError) -> any Sendable {
    if let making {
      let cycle = waits.withLock { waits -> [RegisteredEntry]? in
        if let rest = path(from: wanted, to: making, waits) { return [making] + rest }
        waits.append((making, wanted))
        return nil
      }
      if let cycle { throw ServiceError.cycle(cycle) }
    }
    defer {
      if let making {
        waits.withLock { waits in
          let place = waits.firstIndex { $0.waiting === making && $0.wanted === wanted }
          if let place { waits.remove(at: place) }
        }
      }
    }
    do {
      return try await $making.withValue(wanted, operation: body)
    } catch {
      throw .thrown(error, by: wanted)
    }
  }

  /// What is between two entries, with both, where one waits for the other.
  private static func path(
    from first: RegisteredEntry, to last: RegisteredEntry, _ waits: [Wait],
    _ visited: Set<UInt64> = []
  ) -> [RegisteredEntry]? {
    if first === last { return [first] }
    guard !visited.contains(first.order) else { return nil }
    for wait in waits where wait.waiting === first {
      let rest = path(from: wait.wanted, to: last, waits, visited.union([first.order]))
      if let rest { return [first] + rest }
    }
    return nil
  }
}
