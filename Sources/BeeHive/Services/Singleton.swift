internal import Threads

/// The one instance of an entry, or of an entry in a scope: made once, however many ask at once.
///
/// The factory runs on the thread that came first, with no lock held; the others wait for it. If it
/// fails they get its error, and the next request tries again. A weak one is kept only as long as
/// somebody else holds it, and made again then.
final class Singleton: Kept, @unchecked Sendable {
  // Sound: it has the lock alone.
  /// Tells one making from the next.
  private final class Making: Sendable {}

  private enum State: Sendable {
    case empty
    case building(Making)
    case failed(ServiceError)
    case ready(CachedService)
    /// A function that finds an instance that others keep.
    case lent(@Sendable () -> CachedService?)

    var kept: CachedService? { if case .ready(let service) = self { service } else { nil } }
  }

  /// What a request finds.
  private enum Turn {
    case mine(Making)
    case made(CachedService)
    case othersTurn
  }

  private let state = Lock(State.empty)

  /// The instance, if it has been made and is kept.
  var instance: CachedService? {
    state.withLock(\.kept)
  }

  /// The instance; `make` is called if there is none, and may answer nil: it makes another type.
  func get(
    for entry: RegisteredEntry, in scope: ServiceScope? = nil,
    _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    let step = Creation.Step(entry: entry, cell: self, scope: scope)
    while true {
      switch state.withLock({ Self.turn(&$0) }) {
      case .made(let service): return service
      case .mine(let making): return try build(step, making, make)
      case .othersTurn:
        if let service = try wait(step) { return service }
      }
    }
  }

  /// Takes out the instance, so that the next request makes another. One that is being made meanwhile is not kept.
  ///
  /// - Returns: What the caller ends, with no lock held, and what it lets go of, too.
  func take() -> (instance: CachedService?, rest: any Sendable) {
    state.change { state in
      defer { state = .empty }
      return (state.kept, state)
    }
  }

  private static func turn(_ state: inout State) -> Turn {
    switch state {
    case .ready(let service): return .made(service)
    case .lent(let lent):
      if let service = lent() { return .made(service) }
    case .building: return .othersTurn
    case .empty, .failed: break
    }
    let making = Making()
    state = .building(making)
    return .mine(making)
  }

  private func build(
    _ step: Creation.Step, _ making: Making, _ make: () throws(ServiceError) -> CachedService?
  ) throws(ServiceError) -> CachedService? {
    do throws(ServiceError) {
      let service = try Creation.make(step, make)
      let next: State
      // What C made is counted by the Hive.
      if let service, step.entry.scope == .weak, !step.entry.isC {
        guard let lent = service.lent else {
          throw ServiceError(
            .unusable, step.entry,
            "\(step.entry.source) has scope=weak, but makes no class; use transient or singleton")
        }
        next = .lent(lent)
      } else {
        next = service.map(State.ready) ?? .empty
      }
      guard settle(next, making) else {
        next.kept?.end()
        throw step.scope == nil ? ServiceError.gone(step.entry) : .ended(step.entry)
      }
      return service
    } catch {
      _ = settle(.failed(error), making)
      throw error
    }
  }

  /// Ends a making. Returns false where the instance was taken out meanwhile.
  private func settle(_ next: State, _ making: Making) -> Bool {
    state.change { state in
      guard case .building(let current) = state, current === making else { return false }
      state = next
      return true
    }
  }

  /// Waits for the thread that is building: its instance, its error, or nil to try again.
  private func wait(_ step: Creation.Step) throws(ServiceError) -> CachedService? {
    try Creation.waiting(for: step) { deadline in
      state.wait(before: deadline) { state -> Result<CachedService?, ServiceError>? in
        switch state {
        case .building: nil
        case .ready(let service): .success(service)
        case .lent(let lent): .success(lent())
        case .failed(let error): .failure(error)
        case .empty: .success(nil)
        }
      }
    }.get()
  }
}

/// The instances that something keeps: a scope, or the override of a task. Lives under its lock.
struct Instances {
  private var cells: [UInt64: Singleton] = [:]
  /// Those that were made, in this order.
  private var made: [Singleton] = []
  /// Whether it keeps nothing any more.
  private(set) var isEnded = false

  /// Returns where the instance of an entry is kept; nil after the end.
  mutating func cell(of entry: RegisteredEntry) -> Singleton? {
    if isEnded { return nil }
    if let cell = cells[entry.order] { return cell }
    let cell = Singleton()
    cells[entry.order] = cell
    return cell
  }

  /// Notes that an instance was made. Returns false after the end.
  mutating func keep(_ cell: Singleton) -> Bool {
    if !isEnded { made.append(cell) }
    return !isEnded
  }

  /// Keeps nothing any more. Returns what the caller ends with no lock held: the instances, the latest last; and the rest.
  mutating func end() -> (made: [Singleton], rest: [UInt64: Singleton]) {
    defer { (cells, made, isEnded) = ([:], [], true) }
    return (made, cells)
  }
}

extension RegisteredEntry {
  /// The instance of a singleton.
  var singleton: Singleton {
    // Sound: nothing else is kept with an entry.
    unsafe unsafeDowncast(kept.get { Singleton() }, to: Singleton.self)
  }

  /// The same, if anybody has asked for it.
  var existingSingleton: Singleton? { kept.load() as? Singleton }
}
