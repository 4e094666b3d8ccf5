internal import Registration
internal import Threads

extension Hive {
  /// Puts a service in front of every other of its type until the override is cancelled: for tests.
  ///
  /// Overrides nest; the latest answers, on every thread. Cancelling undoes what was made meanwhile:
  /// singletons, which may have been handed the override, are made again when they are next asked for.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: The given name of the one to replace; nil for the one that is asked for without a name.
  ///   - instance: Answers the lookups.
  ///   - file: Where errors and reports say that it was registered.
  ///   - line: The line in that file.
  /// - Returns: The override; it is cancelled by `cancel()`, or when its last reference goes.
  public func override<Service: Sendable>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line
  ) -> Override {
    let beginning = state.withLock { $0.overrides.begin() }
    let entry = overridingEntry(type, name, instance, .code(file: file, line: line))
    add([entry])
    return Override(entry: entry, hive: self, since: beginning)
  }

  /// Overrides a service while a closure runs, on every thread.
  ///
  /// - Parameters:
  ///   - type: What the service is asked for as.
  ///   - name: The given name of the one to replace; nil for the one that is asked for without a name.
  ///   - instance: Answers the lookups.
  ///   - file: Where errors and reports say that it was registered.
  ///   - line: The line in that file.
  ///   - body: Runs once, on the calling thread.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, after the override has ended.
  public func overriding<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, _ body: () throws -> Result
  ) rethrows -> Result {
    let override = override(type, name: name, with: instance, file: file, line: line)
    defer { override.cancel() }
    return try body()
  }

  /// Overrides a service while asynchronous code runs, on every thread and in every task.
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
  /// - Throws: What `body` throws, after the override has ended.
  public func overriding<Service: Sendable, Result>(
    _ type: Service.Type, name: String? = nil, with instance: Service, file: String = #fileID,
    line: UInt = #line, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    let override = override(type, name: name, with: instance, file: file, line: line)
    defer { override.cancel() }
    return try await body()
  }

  func overridingEntry<Service: Sendable>(
    _ type: Service.Type, _ name: String?, _ instance: Service, _ source: Source
  ) -> RegisteredEntry {
    RegisteredEntry(
      service: TypeSpelling.of(type).qualified, given: name, source: source, isOverride: true,
      progress: .bound(.closure(FactoryClosure { _ in instance })))
  }

  /// Notes that a singleton is being made, which the end of an override may have to undo. Returns the
  /// changes of overrides until now.
  func noteMaking(_ entry: RegisteredEntry) -> Int {
    state.withLock { state in
      if !entry.isOverride { state.overrides.note(entry) }
      return state.overrides.changes
    }
  }

  /// How often an override began or ended.
  var overrideChanges: Int { state.withLock { $0.overrides.changes } }

  /// Takes an override away, and what was made since.
  fileprivate func restore(_ override: RegisteredEntry, since beginning: Int) {
    guard !withdraw(where: { $0 === override }).isEmpty else { return }
    let made = state.withLock { $0.overrides.end(beginning) }
    for entry in made.reversed() { entry.existingSingleton?.reset() }
    state.withLock { state in
      for entry in made { state.forgetAnswers(of: entry, cache: cache) }
    }
    cache.collect(now: true)
  }
}

/// The overrides that there are, and the singletons that were made meanwhile.
struct Overrides {
  private var count = 0
  private var made: [(entry: RegisteredEntry, at: Int)] = []
  /// How many have begun and ended.
  private(set) var changes = 0

  /// Begins one; returns when.
  mutating func begin() -> Int {
    count += 1
    changes += 1
    return changes
  }

  mutating func note(_ entry: RegisteredEntry) {
    if count > 0 { made.append((entry, changes)) }
  }

  /// Ends one. Returns the singletons that were made since it began.
  mutating func end(_ beginning: Int) -> [RegisteredEntry] {
    count -= 1
    changes += 1
    defer { made.removeAll { $0.at >= beginning } }
    return made.filter { $0.at >= beginning }.map(\.entry)
  }
}

/// A service that comes before the others of its type.
public final class Override: Sendable {
  private let entry: RegisteredEntry
  private let hive: Hive
  private let beginning: Int

  fileprivate init(entry: RegisteredEntry, hive: Hive, since beginning: Int) {
    self.entry = entry
    self.hive = hive
    self.beginning = beginning
  }

  /// Takes the service away again, and what was made meanwhile; later calls do nothing.
  public func cancel() { hive.restore(entry, since: beginning) }

  deinit { cancel() }
}
