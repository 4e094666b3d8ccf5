internal import Synchronization
internal import Threads

/// The one instance of an entry, or of an entry in a scope: made once, however many ask at once.
///
/// The factory runs on the thread that came first, with no lock held; the others wait for it. If it fails they get its
/// error, and the next request tries again. A weak instance is kept only as long as somebody else holds it, and is made
/// again afterwards.
final class Singleton: Sendable {
  enum State: Sendable {
    case empty
    case building
    case failed(ServiceError)
    /// An instance that is kept here; the number grows with each that a process makes.
    case ready(CachedService, number: UInt64)
    /// A function that finds an instance that others keep.
    case lent(@Sendable () -> CachedService?)
    /// Nothing is kept here any more: an instance that is still being made is not used.
    case ended
  }

  static let numbers = Atomic<UInt64>(0)

  let entry: RegisteredEntry
  let state = Lock(State.empty)

  init(_ entry: RegisteredEntry) {
    self.entry = entry
    entry.cells.add(1, ordering: .relaxed)
  }

  deinit { entry.cells.subtract(1, ordering: .relaxed) }

  /// The instance, if it has been made and is kept.
  var instance: CachedService? {
    state.withLock { if case .ready(let service, _) = $0 { service } else { nil } }
  }

  /// The position in the order of endings, the largest first; nil if nothing is kept or made here.
  var number: UInt64? {
    state.withLock { state in
      switch state {
      case .ready(_, let number): number
      case .building: .max
      case .empty, .failed, .lent, .ended: nil
      }
    }
  }

  /// Keeps nothing any more, and disposes of the instance unless a host gave it. The caller holds no lock.
  func end() {
    let last = state.change { state in
      defer { state = .ended }
      return state
    }
    if case .ready(let service, _) = last, !entry.isGiven { service.end() }
  }
}

/// The instances that a Hive, a scope or the overrides of a task keep, by their entries. Lives under the keeper's lock.
struct Instances {
  private var cells: [UInt64: Singleton] = [:]
  /// Whether nothing is kept any more.
  private(set) var isEnded = false

  /// Returns the cell that keeps the instance of an entry; nil after the end.
  mutating func cell(of entry: RegisteredEntry) -> Singleton? {
    if isEnded { return nil }
    let number = entry.keeper.order
    if let cell = cells[number] { return cell }
    let cell = Singleton(entry)
    cells[number] = cell
    return cell
  }

  /// Returns the instance of an entry, if it has been made.
  func instance(of entry: RegisteredEntry) -> CachedService? { cells[entry.keeper.order]?.instance }

  /// The cells that keep an instance or make one, the latest first.
  var made: [Singleton] { Self.latestFirst(cells.values.filter { $0.number != nil }) }

  /// Forgets entries. Returns the cells that the caller has to end with no lock held, the latest first.
  mutating func remove(_ entries: [RegisteredEntry]) -> [Singleton] {
    // Callers still give back the objects of transient factories.
    for entry in entries where entry.scope == .weak { entry.keeper.objects = [:] }
    return Self.latestFirst(entries.compactMap { cells.removeValue(forKey: $0.keeper.order) })
  }

  /// Keeps nothing any more. Returns the cells that the caller has to end with no lock held, the latest first.
  mutating func end() -> [Singleton] {
    defer { (cells, isEnded) = ([:], true) }
    return Self.latestFirst(cells.values)
  }

  private static func latestFirst(_ cells: some Sequence<Singleton>) -> [Singleton] {
    let numbered = cells.map { (cell: $0, number: $0.number ?? 0) }
    return numbered.sorted { $0.number > $1.number }.map(\.cell)
  }
}

/// Ends the shared instances of a Hive, the latest first: gives the objects of C factories to their `destroy`, and
/// disposes of `Disposable` services. Entries stay. Runs code of images and of the host, with no lock held.
func endInstances(of hive: Hive) {
  let cells = hive.state.withLock { $0.instances.made }
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
