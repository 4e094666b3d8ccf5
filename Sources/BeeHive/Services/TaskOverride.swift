internal import Registration
internal import Threads

extension Hive.State {
  /// Has an entry answer for a service of C, whatever else would, for all who ask; nil ends that. Returns false where
  /// there was nothing to end.
  mutating func override(
    _ service: String, given: String?, _ entry: RegisteredEntry?, cache: borrowing LookupCache
  ) -> Bool {
    let others = overrides.filter { $0.name != service || $0.givenName != given }
    let hadOne = others.count < overrides.count
    overrides = others + [entry].compactMap(\.self)
    forgetAnswers(named: service, cache: cache)
    return hadOne || entry != nil
  }
}

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
  private let instances = Lock(Instances())

  init(_ entry: RegisteredEntry?, of hive: Hive) {
    self.entry = entry
    self.hive = hive
    outer = Self.current
  }

  /// Those of a Hive that hold for the current task, the latest first. A task that outlives one has it no more.
  static func all(of hive: Hive) -> [TaskOverride] {
    guard let latest = current else { return [] }
    return sequence(first: latest, next: \.outer)
      .filter { $0.hive === hive && !$0.instances.withLock(\.isEnded) }
  }

  /// Returns where the instance of an entry is kept for this task; nil after the end.
  func cell(of entry: RegisteredEntry) -> Singleton? {
    instances.withLock { $0.cell(of: entry) }
  }

  /// Has an instance that was made end with the override. Returns false where it has ended meanwhile.
  func keep(_ cell: Singleton) -> Bool { instances.withLock { $0.keep(cell) } }

  func end() {
    var (made, _) = instances.withLock { $0.end() }
    while let cell = made.popLast() { cell.take().instance?.end() }
  }
}
