internal import Synchronization
internal import Threads

/// The one instance of an entry, or of an entry in a scope: made once, however many ask at once.
///
/// The factory runs on the thread that came first, with no lock held; the others wait for it. If it
/// fails they get its error, and the next request tries again. A weak one is kept only as long as
/// somebody else holds it, and made again then.
final class Singleton: InstanceKeeper {
  private enum State: Sendable {
    case empty
    case building
    case failed(ServiceError)
    /// An instance that is kept here; the number grows with each that a process makes.
    case ready(CachedService, number: UInt64)
    /// A function that finds an instance that others keep.
    case lent(@Sendable () -> CachedService?)
    /// Nothing is kept here any more: what is being made meanwhile is not used.
    case ended
  }

  private static let numbers = Atomic<UInt64>(0)

  let entry: RegisteredEntry
  private let state = Lock(State.empty)

  init(_ entry: RegisteredEntry) { self.entry = entry }

  /// The instance, if it has been made and is kept.
  var instance: CachedService? {
    state.withLock { if case .ready(let service, _) = $0 { service } else { nil } }
  }

  /// The place in the order of endings, the largest first; nil if nothing is kept or made here.
  var number: UInt64? {
    state.withLock { state in
      switch state {
      case .ready(_, let number): number
      case .building: .max
      case .empty, .failed, .lent, .ended: nil
      }
    }
  }

  /// The instance; `make` is called if there is none, and may answer nil: it makes another type.
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

  /// Keeps nothing any more, and disposes of the instance unless a host gave it. With no lock held.
  func end() {
    let last = state.change { state in
      defer { state = .ended }
      return state
    }
    if case .ready(let service, _) = last, !entry.isGiven { service.end() }
  }

  /// Returns what a request finds; `empty` if it is the one that makes the instance.
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
    // What C made is counted by the Hive.
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

  /// Ends a making. Returns false if nothing is kept here any more.
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

  /// Waits for the thread that is building: its instance, its error, or nil to try again.
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

/// Ends what a Hive keeps for all, the latest first: what C factories made is given to their `destroy`, and what is
/// `Disposable` disposed of. Entries stay. Runs code of images and of the host, with no lock held.
func endInstances(of hive: Hive) {
  let cells = hive.state.withLock { state in
    for entry in state.table.entries(where: { !$0.objects.isEmpty }) { entry.objects = [:] }
    return state.instances.made
  }
  // One by one: while one ends, what was made before it is still there for others.
  for cell in cells {
    let taken = hive.state.withLock { state in
      state.forgetAnswers(of: cell.entry, cache: hive.cache)
      return state.instances.remove([cell.entry])
    }
    for cell in taken { cell.end() }
  }
  hive.cache.collect(now: true)
}
