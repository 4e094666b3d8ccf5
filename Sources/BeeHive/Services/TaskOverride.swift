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

  fileprivate init(_ entry: RegisteredEntry?, of hive: Hive) {
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

  fileprivate func end() {
    let kept = cells.withLock { cells in
      defer { cells = [:] }
      return cells.values.sorted { $0.entry.order > $1.entry.order }
    }
    for (_, cell) in kept { cell.reset() }
  }
}

extension Hive {
  /// Overrides a service for the current task and those that it starts, while a closure runs.
  ///
  /// For tests, which may run at the same time on one Hive. Overrides nest, and the latest answers. Singletons
  /// that are asked for meanwhile are made for this task only. Threads that `body` starts by other means get the
  /// services of the Hive.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: The given name of the one to replace; nil for the one that is asked for without a name.
  ///   - instance: Answers the lookups.
  ///   - file: Where errors and reports say that it was registered.
  ///   - line: The line in that file.
  ///   - isolation: The actor that `body` runs on: the caller's.
  ///   - body: Runs once.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public func overridingInTask<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let entry = RegisteredEntry(
      service: TypeSpelling.of(type).qualified, given: name,
      source: .code(file: file, line: line), isOverride: true,
      progress: .bound(.closure(FactoryClosure { _ in instance })))
    return try await withTaskOverride(entry, body)
  }

  /// Runs `body` for a task that keeps the singletons that it makes to itself.
  func withTaskOverride<Result>(
    _ entry: RegisteredEntry? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let override = TaskOverride(entry, of: self)
    // From now on every lookup takes the long way, on which overrides of tasks are seen.
    state.withLock { state in
      state.taskOverrideCount += 1
      state.forgetAllAnswers(cache: cache)
    }
    cache.collect(now: true)
    defer {
      state.withLock { $0.taskOverrideCount -= 1 }
      override.end()
    }
    return try await TaskOverride.$current.withValue(override, operation: body)
  }
}
