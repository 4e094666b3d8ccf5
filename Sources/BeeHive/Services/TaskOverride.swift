internal import Registration
internal import Threads

/// A service that one task, and what it starts, gets in place of another; or none, for a task that only
/// keeps what it makes to itself.
///
/// What that task makes meanwhile is kept here and not in the Hive, so that tests which run beside each
/// other do not meet: not in the service, and not in a singleton that was handed it.
final class TaskOverride: Sendable {
  /// The latest of the current task.
  @TaskLocal static var current: TaskOverride?

  let entry: RegisteredEntry?
  private let hive: Hive
  private let outer: TaskOverride?
  private let cells = Lock<[UInt64: (entry: RegisteredEntry, cell: Singleton)]>([:])

  init(_ entry: RegisteredEntry?, of hive: Hive) {
    self.entry = entry
    self.hive = hive
    outer = Self.current
  }

  /// The latest one that is for a Hive.
  static func of(_ hive: Hive) -> TaskOverride? {
    var found = current
    while let override = found, override.hive !== hive { found = override.outer }
    return found
  }

  /// All of them, the latest first.
  static func entries(of hive: Hive) -> [RegisteredEntry] {
    guard let latest = current else { return [] }
    return sequence(first: latest, next: \.outer).filter { $0.hive === hive }
      .compactMap(\.entry)
  }

  /// Where the instance of an entry is kept for this task.
  func cell(of entry: RegisteredEntry) -> Singleton {
    cells.withLock { cells in
      if let known = cells[entry.order] { return known.cell }
      let cell = Singleton()
      cells[entry.order] = (entry, cell)
      return cell
    }
  }

  func end() {
    let kept = cells.withLock { cells in
      defer { cells = [:] }
      return cells.values.sorted { $0.entry.order > $1.entry.order }
    }
    for (_, cell) in kept { cell.reset() }
  }
}
