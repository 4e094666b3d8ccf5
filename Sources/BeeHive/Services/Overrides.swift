internal import Threads

// Services that answer instead of others: for a task, until its closure returns, or for all callers of a C service,
// until C ends it.

extension ServiceScope {
  /// A service that one task, and the tasks that it starts, get instead of another; nil for a task that only keeps its
  /// own instances to itself.
  ///
  /// The scope, not the Hive, keeps the instances that the task makes meanwhile. So tests that run at the same time
  /// share neither the service nor a singleton that has got it.
  typealias Override = (entry: RegisteredEntry?, scope: ServiceScope)

  /// The overrides of the current task, the latest first.
  @TaskLocal static var overrides: [Override] = []

  /// Returns the overrides of a Hive that hold for the current task, the latest first. An override does not hold for a
  /// task that outlives it.
  static func overrides(of hive: Hive) -> [Override] {
    overrides.filter { $0.scope.hive === hive && !$0.scope.isEnded }
  }

  /// Runs `body` for a task that keeps the singletons that it makes to itself. The override ends with `body`.
  static func overriding<Result>(
    with entry: RegisteredEntry? = nil, in hive: Hive,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let scope = hive.makeScope()
    // From now on every lookup takes the long way, which sees the overrides of tasks.
    hive.state.withLock { state in
      state.taskOverrideCount += 1
      state.forgetAllAnswers(cache: hive.cache)
    }
    hive.cache.collect(now: true)
    defer {
      hive.state.withLock { $0.taskOverrideCount -= 1 }
      scope.end()
    }
    return try await $overrides.withValue([(entry, scope)] + overrides, operation: body)
  }
}

extension Hive.State {
  /// Makes the entry of a table answer for a C service before all others; nil ends that. Returns false if there is no
  /// override to end.
  mutating func override(
    _ service: String, named given: String?,
    by override: (entry: RegisteredEntry, table: RuntimeAddress)?, cache: borrowing LookupCache
  ) -> Bool {
    let others = overrides.filter { $0.name != service || $0.givenName != given }
    let hadOne = others.count < overrides.count
    overrides = others
    if let (entry, table) = override {
      overrides.append(entry)
      overridingTables[service, default: [:]][table, default: []].insert(given)
    }
    forgetAnswers(named: service, cache: cache)
    return hadOne || override != nil
  }

  /// The overrides that hide no declared service, perhaps because of a mistake in a name; one sentence each.
  var overridesInVain: [String] {
    overrides.compactMap { override in
      let (name, given) = (override.name, override.givenName)
      let hidden = table.named(.service, name)
      // Without a given name, it answers lookups for any given name.
      guard given.map({ hidden.given($0).isEmpty }) ?? hidden.isEmpty else { return nil }
      let names =
        hidden.isEmpty ? table.names(of: .service) : Set(hidden.all.compactMap(\.givenName))
      let subject = name + (given.map { " named \($0)" } ?? "")
      return "the override of \(subject) (\(override.source)) hides no service that is declared"
        .escaped + near(hidden.isEmpty ? name : given ?? "", in: names)
    }
  }
}

extension ServiceLookup {
  /// Puts each override in the position of the candidate that answers to its name. Removes equally good ones.
  func place(
    overridesOf names: [String], given name: String?, among found: inout [Candidate]
  ) {
    // The earliest first, so that the latest wins.
    let overrides =
      type == nil ? hive.state.withLock(\.overrides) : overrides.reversed().compactMap(\.entry)
    for entry in overrides
    where names.contains(entry.name) && (name == nil || entry.givenName == name) {
      guard let provider = entry.provider else { continue }
      let place = found.firstIndex { $0.entry.givenName == entry.givenName }
      let priority = place.map { found[$0].priority } ?? 0
      found.removeAll { $0.entry.givenName == entry.givenName && $0.priority == priority }
      found.insert(
        (entry, provider, true, priority),
        at: place ?? found.firstIndex { $0.priority < 0 } ?? found.count)
    }
  }
}
