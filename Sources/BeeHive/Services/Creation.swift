internal import CEpoch
internal import Synchronization
internal import Threads

/// The instances that one thread is making, innermost last, and the waits of all threads and tasks for instances that
/// others make.
///
/// Finds cycles of services that need each other, also across threads and tasks. A wait is noted before anything
/// blocks, so that two threads that need each other's singletons get an error instead of a deadlock. A service that
/// nobody waits for costs no lock here.
final class Creation {
  /// An instance that is being made.
  struct Step: Hashable {
    let entry: RegisteredEntry
    /// The cell that will keep it; nil if each request makes one.
    var cell: Singleton?
    /// The scope that makes it and serves its needs; nil for an instance that outlives every scope.
    var scope: ServiceScope?

    static func == (one: Self, other: Self) -> Bool {
      one.entry === other.entry && one.cell === other.cell
    }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(entry)) }
  }

  /// The steps under way, the step that they wait for, and whether the thread or task of the last step itself waits.
  private typealias Wait = (steps: [Step], wanted: Step, isCertain: Bool)
  private typealias Cycle = (path: [RegisteredEntry], isCertain: Bool)

  /// The waits of the process, by number: a cycle may go through several Hives.
  private static let waits = Lock<(last: Int, all: [Int: Wait])>((0, [:]))
  /// The longest wait of an instance for another one: a cycle may go on in a wait that nobody noted, or in a task that
  /// nobody need wait for.
  @TaskLocal static var patience = Duration.seconds(30)
  /// The instance that the current task or an ancestor of it makes, and the task that does.
  @TaskLocal private static var making: (step: Step, task: Int?)?

  private var steps: [Step] = []

  /// The creations of the calling thread.
  private static var here: Creation {
    let kept = unsafe beehive_creation_here()
    // Sound: only this thread reads the slot, and the reference in it is never released.
    if let known = unsafe kept.pointee {
      return unsafe Unmanaged<Creation>.fromOpaque(known).takeUnretainedValue()
    }
    let creation = Creation()
    unsafe kept.pointee = unsafe Unmanaged.passRetained(creation).toOpaque()
    return creation
  }

  private static var currentTask: Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }

  /// Returns the scope of the instance that the calling thread makes for a Hive.
  static func scope(of hive: Hive) -> ServiceScope? {
    guard let scope = here.steps.last?.scope, scope.hive === hive else { return nil }
    return scope
  }

  /// Runs `make`, which makes an instance. Throws if that would never end.
  @inline(__always)
  static func make<Value>(
    _ step: Step, _ make: () throws(ServiceError) -> Value
  ) throws(ServiceError) -> Value {
    let creation = here
    if let start = creation.steps.firstIndex(of: step) {
      throw ServiceError.cycle((creation.steps[start...] + [step]).map(\.entry))
    }
    creation.steps.append(step)
    defer { creation.steps.removeLast() }
    return try make()
  }

  /// Runs `load` in the task that makes an instance.
  static func load<Value>(
    _ step: Step, _ load: () async throws -> Value
  ) async throws -> Value {
    try await $making.withValue((step, currentTask), operation: load)
  }

  /// Runs `wait`, which waits for another thread to make an instance until the given moment.
  ///
  /// - Throws: The cycle, if the wait would never end.
  static func waiting<Value>(
    for step: Step, _ wait: (ContinuousClock.Instant) -> Value?
  ) throws(ServiceError) -> Value {
    let steps = here.steps
    let (number, cycle) = begin((steps, step, true))
    defer { end(number) }
    if let cycle { throw ServiceError.cycle(cycle.path) }
    // If no instance waits for it, the factory may take longer.
    let limit = steps.isEmpty ? patience * 10 : patience
    if let value = wait(.now + limit) { return value }
    let waiter = steps.last?.entry.name ?? "this thread"
    throw ServiceError(
      .cycle, step.entry,
      "another thread has not finished \(step.entry.source) after \(limit), and \(waiter) waits for it; if "
        + "that thread waits for \(waiter), break the cycle, else ask again")
  }

  /// Runs `body`, which makes an instance in a task or waits for such a task. Throws if that would never end.
  static func awaiting<Value: Sendable>(
    _ step: Step, _ body: @escaping @Sendable () async throws -> Value
  ) async throws(ServiceError) -> Value {
    let (number, cycle) = begin((making.map { [$0.step] } ?? [], step, making?.task == currentTask))
    defer { end(number) }
    do {
      guard let cycle else { return try await body() }
      let result = cycle.isCertain ? nil : await TimeLimit.run(patience, body)
      guard let result else { throw ServiceError.cycle(cycle.path) }
      return try result.get()
    } catch {
      throw .thrown(error, by: step.entry)
    }
  }

  /// Notes a wait until `end` gets its number. Returns the cycle that the wait closes.
  private static func begin(_ wait: Wait) -> (number: Int, cycle: Cycle?) {
    waits.withLock { waits in
      let cycle = cycle(closedBy: wait, waits.all)
      waits.last += 1
      waits.all[waits.last] = wait
      return (waits.last, cycle)
    }
  }

  private static func end(_ number: Int) { waits.withLock { $0.all[number] = nil } }

  /// Follows a wait to the maker of what it wants, what that maker waits for, and so on, back to a step of the waiter.
  /// Visits each step once, along certain waits first, so that none hides a certain cycle.
  private static func cycle(closedBy wait: Wait, _ waits: [Int: Wait]) -> Cycle? {
    // A waiter that makes nothing closes no cycle.
    if wait.steps.isEmpty { return nil }
    let latestFirst = waits.sorted { $0.key > $1.key }.map(\.value)
    var seen: Set<Step> = []
    var rest = [(wanted: wait.wanted, path: [Step](), isCertain: wait.isCertain)]
    while let (wanted, path, isCertain) = rest.popLast() {
      if let start = wait.steps.firstIndex(of: wanted) {
        return ((wait.steps[start...] + path + [wanted]).map(\.entry), isCertain)
      }
      guard seen.insert(wanted).inserted else { continue }
      for next in latestFirst {
        guard let place = next.steps.firstIndex(of: wanted) else { continue }
        let isCertain = isCertain && next.isCertain
        // The last is taken next.
        rest.insert(
          (next.wanted, path + next.steps[place...], isCertain), at: isCertain ? rest.count : 0)
      }
    }
    return nil
  }
}

extension ServiceError {
  /// Returns the error of a service that needs itself.
  static func cycle(_ path: [RegisteredEntry]) -> ServiceError {
    let names = path.map(\.name).joined(separator: " → ")
    let places = path.dropLast().map(\.source.description).joined(separator: ", ")
    return ServiceError(
      .cycle, service: path.first?.name ?? "",
      message: "needs itself: \(names) (\(places)); break the cycle or hand one of them in later",
      sources: path.dropLast().map(\.source))
  }
}

extension Singleton {
  /// Returns the instance, and calls `make` if there is none. `make` answers nil if it makes another type.
  func get(
    in scope: ServiceScope? = nil, _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    let step = Creation.Step(entry: entry, cell: self, scope: scope)
    while true {
      switch state.withLock({ Self.turn(&$0) }) {
      case .ready(let service, _): return service
      case .building: if let service = try wait(step) { return service }
      case .ended: throw gone(from: scope)
      case .empty, .failed, .lent: return try build(step, make)
      }
    }
  }

  /// Returns the state that a request finds; `empty` if that request has to make the instance.
  private static func turn(_ state: inout State) -> State {
    switch state {
    case .ready, .ended: return state
    case .building: return .building
    case .lent(let lent):
      if let service = lent() { return .ready(service, number: 0) }
    case .empty, .failed: break
    }
    state = .building
    return .empty
  }

  private func build(
    _ step: Creation.Step, _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    do throws(ServiceError) {
      let service = try Creation.make(step, make)
      guard settle(try service.map(kept) ?? .empty) else {
        if !entry.isGiven { service?.end() }
        throw gone(from: step.scope)
      }
      return service
    } catch {
      _ = settle(.failed(error))
      throw error
    }
  }

  private func kept(_ service: CachedService) throws(ServiceError) -> State {
    // The Hive counts the references to C objects.
    guard entry.scope == .weak, !entry.isC else {
      let number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue
      return .ready(service, number: number)
    }
    guard let lent = service.lent else {
      throw ServiceError(
        .unusable, entry,
        "\(entry.source) has scope=weak, but makes no class; use transient or singleton")
    }
    return .lent(lent)
  }

  /// Ends the making of an instance. Returns false if nothing is kept here any more.
  private func settle(_ next: State) -> Bool {
    state.change { state in
      if case .ended = state { return false }
      state = next
      return true
    }
  }

  private func gone(from scope: ServiceScope?) -> ServiceError {
    scope == nil ? .gone(entry) : .ended(entry)
  }

  /// Waits for the thread that is building. Returns its instance, or nil to try again. Throws its error.
  private func wait(_ step: Creation.Step) throws(ServiceError) -> CachedService? {
    try Creation.waiting(for: step) { deadline in
      state.wait(before: deadline) { state -> Result<CachedService?, ServiceError>? in
        switch state {
        case .building: nil
        case .ready(let service, _): .success(service)
        case .lent(let lent): .success(lent())
        case .failed(let error): .failure(error)
        case .empty, .ended: .success(nil)
        }
      }
    }.get()
  }
}

/// The load of a library that lookups wait for: done once, however many threads want it.
///
/// It is a step among the creations: a constructor that waits for a service that needs this load gets an error.
package final class LibraryLoad: Sendable {
  private let cell: Singleton

  /// Creates the load. Nothing is loaded yet.
  package init(of path: String) {
    cell = Singleton(
      RegisteredEntry(
        service: path, given: nil, source: .file(path, keyPath: "(load)"),
        progress: .accepted(.notYetLooked)))
  }

  /// Runs `load` on this thread, or waits for the thread that does; returns at once after it has succeeded.
  ///
  /// - Throws: The error of `load`, to every thread that has waited, or the cycle.
  package func run(_ load: () throws(ServiceError) -> Void) throws(ServiceError) {
    _ = try cell.get { () throws(ServiceError) in
      try load()
      return CachedValue(true, name: nil)
    }
  }
}

extension ServiceLookup {
  /// Returns the service of an entry whose factory is asynchronous.
  func loaded(
    _ entry: RegisteredEntry, _ load: @escaping FactoryClosure.Loading
  ) async throws(ServiceError) -> Service {
    var lookup = self
    guard entry.scope == .singleton else {
      let step = Creation.Step(entry: entry)
      let made = try await Creation.awaiting(step) { [hive] in
        try await Creation.load(step) { try await load(hive) }
      }
      guard let service = made as? Service else { throw lookup.failure() }
      return service
    }
    let keeper = try lookup.keeper(of: entry)
    if keeper.instance == nil {
      let step = Creation.Step(entry: entry, cell: keeper)
      try await Creation.awaiting(step) { [hive, lookup] in
        try await lookup.loadOnce(step, keeper) {
          guard let service = try await load(hive) as? Service else { return }
          // From here on, lookups find it like any other service.
          _ = try keeper.get { CachedValue(service, name: nil) }
        }
      }
    }
    return try hive.resolve(lookup)
  }

  /// Joins the task that makes a singleton and keeps it, or begins it.
  private func loadOnce(
    _ step: Creation.Step, _ keeper: Singleton, _ load: @escaping @Sendable () async throws -> Void
  ) async throws {
    let key = ObjectIdentifier(keeper)
    let task = hive.state.withLock { [hive] state -> Task<Void, any Error>? in
      if let task = state.loading[key] { return task }
      // Another task may have ended since the caller looked.
      if keeper.instance != nil { return nil }
      let task = Task(executorPreference: ModuleThreads.shared) {
        defer { hive.state.withLock { state in state.loading[key] = nil } }
        return try await Creation.load(step, load)
      }
      state.loading[key] = task
      return task
    }
    guard let task else { return }
    // The task goes on if the caller is cancelled.
    let race = Race<Result<Void, any Error>>()
    Task(executorPreference: ModuleThreads.shared) { race.finish(await task.result) }
    return try await withTaskCancellationHandler {
      await race.value
    } onCancel: {
      race.finish(.failure(CancellationError()))
    }.get()
  }
}
