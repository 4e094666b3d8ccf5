internal import CEpoch
internal import Threads

/// What one thread is making, innermost last, and the one instance that it waits for.
///
/// Finds the cycle where a service needs itself, also across threads: both are looked at before
/// anything blocks, so that two threads that need each other's singletons get an error and not a
/// deadlock. A service that is not kept costs no lock here.
final class Creation: @unchecked Sendable {
  // Sound: `steps` belongs to its thread. Others read it while that thread waits, which it says under
  // the lock of `makers`, as it says that it waits no more.

  /// An instance that is being made.
  struct Step {
    let entry: RegisteredEntry
    /// Where it will be kept; nil where each request makes one.
    var cell: Singleton?
    /// Who was asked for it, and so for what it needs; nil for what outlives every scope.
    var scope: ServiceScope?
  }

  private var steps: [Step] = []
  private var waiting: Step?

  /// Which thread makes the instance of a cell. The process has one: a cycle may go through several
  /// Hives.
  private static let makers = Lock<[ObjectIdentifier: Creation]>([:])

  /// That of the calling thread.
  private static var here: Creation {
    let kept = unsafe beehive_creation_here()
    // Sound: only this thread looks at the place, and the reference in it is given up never.
    if let known = unsafe kept.pointee {
      return unsafe Unmanaged<Creation>.fromOpaque(known).takeUnretainedValue()
    }
    let creation = Creation()
    unsafe kept.pointee = unsafe Unmanaged.passRetained(creation).toOpaque()
    return creation
  }

  /// The scope in which the calling thread makes something for a Hive.
  static func scope(of hive: Hive) -> ServiceScope? {
    guard let scope = here.steps.last?.scope, scope.hive === hive else { return nil }
    return scope
  }

  /// What the calling thread makes that outlives every scope, if it makes such a thing.
  static var keeper: RegisteredEntry? {
    // What is made for one request alone lives as long as what needs it.
    guard let step = here.steps.last(where: { $0.cell != nil || $0.scope != nil }),
      step.scope == nil
    else { return nil }
    return step.entry
  }

  /// Runs `make` as the maker of an instance, unless that would never end.
  static func make<Value>(
    _ step: Step, _ make: () throws(ServiceError) -> Value
  ) throws(ServiceError) -> Value {
    let creation = here
    let isSame = { (other: Step) in other.entry === step.entry && other.cell === step.cell }
    if let start = creation.steps.firstIndex(where: isSame) {
      throw ServiceError.cycle((creation.steps[start...] + [step]).map(\.entry))
    }
    creation.steps.append(step)
    if let cell = step.cell { makers.withLock { $0[ObjectIdentifier(cell)] = creation } }
    defer {
      if let cell = step.cell { makers.withLock { $0[ObjectIdentifier(cell)] = nil } }
      creation.steps.removeLast()
    }
    return try make()
  }

  /// The longest wait of a thread that makes something for what another makes, which may itself wait for this thread in
  /// a way that nobody sees.
  @TaskLocal static var patience = Duration.seconds(30)

  /// Runs `wait`, which waits for another thread to make an instance until the given moment.
  ///
  /// - Throws: The cycle, where that would never end.
  static func waiting<Value>(
    for step: Step, _ wait: (ContinuousClock.Instant) -> Value?
  ) throws(ServiceError) -> Value {
    let creation = here
    let path = makers.withLock { makers -> [RegisteredEntry]? in
      if let path = creation.cycle(waitingFor: step, makers) { return path }
      creation.waiting = step
      return nil
    }
    if let path { throw ServiceError.cycle(path) }
    defer { makers.withLock { _ in creation.waiting = nil } }
    let maker = creation.steps.last?.entry
    if let value = wait(.now + (maker == nil ? .seconds(1 << 40) : patience)) { return value }
    throw ServiceError(
      .cycle, step.entry,
      "\(step.entry.source) is still being made on another thread after \(patience), and \(maker?.name ?? "") "
        + "waits for it; if that thread waits for \(maker?.name ?? ""), break the cycle")
  }

  /// The path of the cycle that this thread would close by waiting: who makes what it wants, what
  /// that thread waits for, who makes that, …
  private func cycle(
    waitingFor step: Step, _ makers: [ObjectIdentifier: Creation]
  ) -> [RegisteredEntry]? {
    var path = steps.map(\.entry) + [step.entry]
    var wanted = step
    var visited = [ObjectIdentifier(self)]
    while let cell = wanted.cell, let maker = makers[ObjectIdentifier(cell)] {
      if maker === self {
        guard let start = steps.firstIndex(where: { $0.cell === cell }) else { return nil }
        return Array(path[start...])
      }
      guard !visited.contains(ObjectIdentifier(maker)), let next = maker.waiting else { return nil }
      visited.append(ObjectIdentifier(maker))
      if let position = maker.steps.firstIndex(where: { $0.cell === cell }) {
        path += maker.steps[(position + 1)...].map(\.entry)
      }
      path.append(next.entry)
      wanted = next
    }
    return nil
  }
}

extension ServiceError {
  /// A service that needs itself.
  static func cycle(_ path: [RegisteredEntry]) -> ServiceError {
    let names = path.map(\.name).joined(separator: " → ")
    let places = path.dropLast().map(\.source.description).joined(separator: ", ")
    return ServiceError(
      .cycle, service: path.first?.name ?? "",
      message: "needs itself: \(names) (\(places)); break the cycle or hand one of them in later",
      sources: path.dropLast().map(\.source))
  }
}

/// Which services that are made asynchronously wait for which others.
enum AsyncCreation {
  private typealias Wait = (waiting: RegisteredEntry, wanted: RegisteredEntry, isCertain: Bool)

  /// The entry that the current task makes, or one that began it, and which task does.
  @TaskLocal private static var making: (entry: RegisteredEntry, task: Int?)?
  private static let waits = Lock<[Wait]>([])
  /// The longest wait for something that may wait for this, in a task which nobody need wait for.
  @TaskLocal static var patience = Duration.seconds(5)

  private static var currentTask: Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }

  /// Runs `body`, which makes an entry.
  static func make<Value>(
    _ entry: RegisteredEntry, _ body: () async throws -> Value
  ) async throws -> Value {
    try await $making.withValue((entry, currentTask), operation: body)
  }

  /// Runs `body`, which makes an entry or waits for it, unless that would never end.
  static func waiting<Value: Sendable>(
    for wanted: RegisteredEntry, _ body: @escaping @Sendable () async throws -> Value
  ) async throws(ServiceError) -> Value {
    var cycle: (path: [RegisteredEntry], isCertain: Bool)?
    if let making {
      let isCertain = making.task == currentTask
      cycle = waits.withLock { waits in
        let rest = path(from: wanted, to: making.entry, waits)
        waits.append((making.entry, wanted, isCertain))
        return rest.map { ([making.entry] + $0.path, $0.isCertain && isCertain) }
      }
    }
    defer {
      if let making {
        waits.withLock { waits in
          let place = waits.firstIndex { $0.waiting === making.entry && $0.wanted === wanted }
          if let place { waits.remove(at: place) }
        }
      }
    }
    do {
      guard let cycle else { return try await body() }
      let result = cycle.isCertain ? nil : await TimeLimit.run(patience, body)
      guard let result else { throw ServiceError.cycle(cycle.path) }
      return try result.get()
    } catch {
      throw .thrown(error, by: wanted)
    }
  }

  /// Returns the entries from one up to another that it waits for, and whether each waits in the very task that makes it.
  private static func path(
    from first: RegisteredEntry, to last: RegisteredEntry, _ waits: [Wait],
    _ visited: Set<UInt64> = []
  ) -> (path: [RegisteredEntry], isCertain: Bool)? {
    if first === last { return ([first], true) }
    guard !visited.contains(first.order) else { return nil }
    for wait in waits where wait.waiting === first {
      let rest = path(from: wait.wanted, to: last, waits, visited.union([first.order]))
      if let rest { return ([first] + rest.path, rest.isCertain && wait.isCertain) }
    }
    return nil
  }
}

extension ServiceLookup {
  /// Returns the service of an entry whose factory is asynchronous.
  func loaded(
    _ entry: RegisteredEntry, _ load: @escaping FactoryClosure.Loading
  ) async throws(ServiceError) -> Service {
    var lookup = self
    guard entry.scope == .singleton else {
      let made = try await AsyncCreation.waiting(for: entry) { [hive] in
        try await AsyncCreation.make(entry) { try await load(hive) }
      }
      guard let service = made as? Service else { throw lookup.failure() }
      return service
    }
    let keeper = try lookup.keeper(of: entry)
    if keeper.instance == nil {
      let isOfType = try await AsyncCreation.waiting(for: entry) { [hive, lookup] in
        try await lookup.loadOnce(entry, into: keeper) {
          guard let service = try await load(hive) as? Service else { return false }
          // From here on it is found as others are.
          _ = try keeper.get { CachedValue(service, name: nil) }
          return true
        }
      }
      guard isOfType else { throw lookup.failure() }
    }
    return try hive.resolve(lookup)
  }

  /// Joins the task that makes a singleton and keeps it, or begins it. Returns false where another type was made.
  private func loadOnce(
    _ entry: RegisteredEntry, into keeper: Singleton,
    _ load: @escaping @Sendable () async throws -> Bool
  ) async throws -> Bool {
    let key = ObjectIdentifier(keeper)
    let task = hive.state.withLock { [hive] state -> Task<Bool, any Error>? in
      if let task = state.loading[key] { return task }
      // Another task may have ended since the caller looked.
      if keeper.instance != nil { return nil }
      let task = Task(executorPreference: ModuleThreads.shared) {
        defer { hive.state.withLock { state in state.loading[key] = nil } }
        return try await AsyncCreation.make(entry, load)
      }
      state.loading[key] = task
      return task
    }
    guard let task else { return true }
    // The task goes on where who asked is cancelled.
    let race = Race<Result<Bool, any Error>>()
    Task(executorPreference: ModuleThreads.shared) { race.finish(await task.result) }
    return try await withTaskCancellationHandler {
      await race.value
    } onCancel: {
      race.finish(.failure(CancellationError()))
    }.get()
  }
}
