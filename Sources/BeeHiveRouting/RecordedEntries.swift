internal import Threads

/// The records of images that have become routes and targets. The lock of its `RoutingCore` protects it.
typealias RecordedEntries = (
  // The version of the Hive's list when it was last read; nil before that.
  version: Int?,
  // Undo what a record has become, by the numbers of the entries. A record that cannot be used, or not yet, has
  // none here, so it is tried again when something changes.
  removals: [UInt64: @Sendable (RoutingCore) -> Void],
  // Whether a route names a type that is not defined. A later definition may bind the route.
  lacksType: Bool,
  // Whether a thread is at work. Other threads wait, so that each sees what it adds.
  isBusy: Bool
)

extension RoutingCore {
  /// Adds the routes and targets of images that came, and removes those of images that went.
  func catchUp(probing: Bool) {
    guard let hive = owner else { return }
    let version = records.withLock { $0.version }
    guard let changed = hive.declaredEntries(since: version, probing: probing) else {
      if records.withLock({ $0.isBusy }) { records.wait { $0.isBusy ? nil : () } }
      return
    }
    records.wait { state -> Void? in
      guard !state.isBusy else { return nil }
      state.version = changed.version
      (state.isBusy, state.lacksType) = (true, false)
      return ()
    }
    // No lock is held: accessors are the images' own code.
    merge(changed.entries, of: hive)
    records.change { $0.isBusy = false }
  }

  /// Tries unbound routes again, after a type that they may lack has been defined.
  func bindUnbound() {
    let isDue = records.withLock { state in
      guard state.lacksType || state.isBusy else { return false }
      state.version = nil
      // A converter on the busy thread may be what defines the type. The next call of `catchUp` binds then.
      return !state.isBusy
    }
    if isDue { catchUp(probing: false) }
  }

  private func merge(_ entries: [RegisteredEntry], of hive: Hive) {
    let known = records.withLock { $0.removals }
    let present = Set(entries.map(\.order))
    for (number, remove) in known where !present.contains(number) {
      remove(self)
      records.withLock { $0.removals[number] = nil }
    }
    for entry in entries where known[entry.order] == nil {
      do throws(RoutingError) {
        let removal = try add(entry, of: hive)
        records.withLock { $0.removals[entry.order] = removal }
        hive.settle(entry, .bound)
      } catch {
        let isUnbound = error.code == .unknownType && entry.kind == .route
        if isUnbound { records.withLock { $0.lacksType = true } }
        let problem = Problem(
          Problem.Code(rawValue: error.code.rawValue), error.message, related: error.sources)
        hive.settle(entry, isUnbound ? .accepted(problem) : .rejected(problem))
      }
    }
  }

  /// Adds the route or target of a record, and returns what removes it again.
  private func add(
    _ entry: RegisteredEntry, of hive: Hive
  ) throws(RoutingError) -> @Sendable (RoutingCore) -> Void {
    if entry.kind == .target {
      let definition = try entry.definition(
        in: hive, inC: TargetDefinition.init(c:in:), named: \.name)
      try targets.withLock { table throws(RoutingError) in
        try table.add(RegisteredTarget(definition, source: entry.source))
      }
      return { [name = entry.name] core in _ = core.targets.withLock { $0.remove(name) } }
    }
    let definition = try entry.definition(
      in: hive, inC: RouteDefinition.init(c:in:), named: \.pattern)
    let route = try add(definition, RoutePattern(of: entry), source: entry.source)
    return { core in _ = core.routes.withLock { $0.remove(route) } }
  }
}

extension RegisteredEntry {
  /// Returns the record's definition: for C from its text, else from its accessor.
  fileprivate func definition<Definition>(
    in hive: Hive, inC read: (RegisteredEntry, Hive) throws(RoutingError) -> Definition,
    named name: KeyPath<Definition, String>
  ) throws(RoutingError) -> Definition {
    let made = isC ? try read(self, hive) : hive.make(self, as: Definition.self)
    guard let made else {
      throw RoutingError(
        .failed,
        "the code of the \(kind) \(self.name) makes none that this library knows; "
          + "build \(source) against this BeeHiveRouting", sources: [source])
    }
    try RoutingError.check(
      made[keyPath: name] == self.name, .failed,
      "the record of \(source) says \(self.name), and its code \(made[keyPath: name]); rebuild it",
      sources: [source])
    return made
  }
}
