// Apart from `Singleton`, one of its keepers, because Hive and scopes hold instances and do not know how these are made.

/// A keeper of the instance of one entry: a `Singleton`.
protocol InstanceKeeper: AnyObject, Sendable {
  var entry: RegisteredEntry { get }
  /// The instance, if it has been made and is kept.
  var instance: CachedService? { get }
  /// The place in the order of endings, the largest first; nil if nothing is kept or made here.
  var number: UInt64? { get }

  init(_ entry: RegisteredEntry)

  /// Keeps nothing any more, and disposes of the instance unless a host gave it. With no lock held.
  func end()
}

/// The instances that a Hive, a scope or the overrides of a task keep, by their entries. Lives under the keeper's lock.
struct Instances {
  private var cells: [UInt64: any InstanceKeeper] = [:]
  /// Whether nothing is kept any more.
  private(set) var isEnded = false

  /// Returns where the instance of an entry is kept; nil after the end.
  mutating func cell<Keeper: InstanceKeeper>(of entry: RegisteredEntry) -> Keeper? {
    if isEnded { return nil }
    if let cell = cells[entry.order] as? Keeper { return cell }
    let cell = Keeper(entry)
    cells[entry.order] = cell
    return cell
  }

  /// Returns the instance of an entry, if it has been made.
  func instance(of entry: RegisteredEntry) -> CachedService? { cells[entry.order]?.instance }

  /// Those that keep an instance or make one, the latest first.
  var made: [any InstanceKeeper] { Self.latestFirst(cells.values.filter { $0.number != nil }) }

  /// Forgets entries. Returns what the caller ends with no lock held, the latest first.
  mutating func remove(_ entries: [RegisteredEntry]) -> [any InstanceKeeper] {
    Self.latestFirst(entries.compactMap { cells.removeValue(forKey: $0.order) })
  }

  /// Keeps nothing any more. Returns what the caller ends with no lock held, the latest first.
  mutating func end() -> [any InstanceKeeper] {
    defer { (cells, isEnded) = ([:], true) }
    return Self.latestFirst(cells.values)
  }

  private static func latestFirst(
    _ cells: some Sequence<any InstanceKeeper>
  ) -> [any InstanceKeeper] {
    let numbered = cells.map { (cell: $0, number: $0.number ?? 0) }
    return numbered.sorted { $0.number > $1.number }.map(\.cell)
  }
}
