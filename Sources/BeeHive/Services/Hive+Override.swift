internal import Registration
internal import Threads

extension Hive {
  /// Puts a service in front of every other of its type until the override is restored: for tests.
  ///
  /// Overrides nest; the latest answers, on every thread. Restoring undoes what was made meanwhile:
  /// singletons, which may have been handed the override, are made again when they are next asked
  /// for. The override restores itself when its last reference goes.
  public func override<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line
  ) -> Override {
    let made = state.withLock { state in
      state.overrideCount += 1
      return state.madeDuringOverrides.count
    }
    let entry = overridingEntry(type, name, instance, .code(file: file, line: line))
    add([entry])
    return Override(entry: entry, hive: self, madeBefore: made)
  }

  /// Overrides a service while `body` runs, on every thread.
  public func overriding<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, _ body: () throws -> Result
  ) rethrows -> Result {
    let override = override(type, name: name, with: instance, file: file, line: line)
    defer { override.restore() }
    return try body()
  }

  /// Overrides a service while asynchronous code runs, on every thread and in every task.
  public func overriding<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let override = override(type, name: name, with: instance, file: file, line: line)
    defer { override.restore() }
    return try await body()
  }

  func overridingEntry<Service: Sendable>(
    _ type: Service.Type, _ name: String?, _ instance: Service, _ source: Source
  ) -> RegisteredEntry {
    var attributes = Attributes()
    attributes.name = name
    return RegisteredEntry(
      order: Self.nextOrder(), kind: .service, name: ServiceNames.of(type).qualified,
      implementation: nil, attributes: attributes, source: source, image: nil, scope: .singleton,
      isC: false, isOverride: true,
      progress: .bound(.closure(FactoryClosure { _ in instance })))
  }

  /// Notes that a singleton has been made, which the end of an override may have to undo.
  func noteMade(_ entry: RegisteredEntry) {
    state.withLock { state in
      if state.overrideCount > 0, !entry.isOverride { state.madeDuringOverrides.append(entry) }
    }
  }

  /// Takes an override away, and what was made since.
  fileprivate func restore(_ override: RegisteredEntry, madeBefore count: Int) {
    guard withdraw(where: { $0 === override }) > 0 else { return }
    let made = state.withLock { state in
      state.overrideCount -= 1
      let first = min(count, state.madeDuringOverrides.count)
      defer { state.madeDuringOverrides.removeSubrange(first...) }
      return Array(state.madeDuringOverrides[first...])
    }
    for entry in made.reversed() { entry.existingSingleton?.reset() }
    state.withLock { state in
      for entry in made { state.forgetAnswers(named: entry.name, cache: cache) }
    }
    cache.collect(now: true)
  }
}

/// A service that comes before the others of its type.
public final class Override: Sendable {
  private let entry: RegisteredEntry
  private let hive: Hive
  private let madeBefore: Int

  fileprivate init(entry: RegisteredEntry, hive: Hive, madeBefore: Int) {
    self.entry = entry
    self.hive = hive
    self.madeBefore = madeBefore
  }

  /// Takes the service away again, and what was made meanwhile; later calls do nothing.
  public func restore() { hive.restore(entry, madeBefore: madeBefore) }

  deinit { restore() }
}
