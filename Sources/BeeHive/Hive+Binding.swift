internal import Registration
internal import Threads

extension Hive {
  /// The services of any of these names, in order of registration, and the table's version.
  func services(named names: [String]) -> (entries: [RegisteredEntry], version: Int) {
    state.withLock { state in
      (names.flatMap { state.table.services(named: $0) }, state.table.version)
    }
  }

  /// How far an entry got; one that is not bound is tried once more.
  func boundProgress(of entry: RegisteredEntry) -> RegisteredEntry.Progress {
    let (progress, bindings) = state.withLock { (entry.progress, $0.hostBindings) }
    guard case .accepted = progress, !entry.isForeign else { return progress }
    // The runtime's lookups run here, with no lock held.
    let next = Binding(hostBindings: bindings).progress(named: entry)
    defer { observers.deliver() }
    return state.withLock { state in
      guard state.table.set(next, for: entry) else { return entry.progress }
      switch entry.progress {
      case .bound: observers.post(.entryBound(entry.snapshot))
      case .rejected:
        observers.post(.entryRejected(entry.snapshot))
        // Another one may have got its turn.
        if entry.kind == .service { state.forgetAnswers(named: entry.name, cache: cache) }
      case .accepted: break
      }
      return entry.progress
    }
  }

  /// Tries every unbound entry, unless nothing has come that could bind one since the last time.
  func bindUnbound() {
    while true {
      let generation = TypeLookup.generation
      let unbound = state.withLock { state -> [RegisteredEntry] in
        guard state.table.unboundCount > 0 else { return [] }
        if let generation, generation == state.lastTry { return [] }
        state.lastTry = generation
        return state.table.all.filter { if case .accepted = $0.progress { true } else { false } }
      }
      let rejected = unbound.count {
        if case .rejected = boundProgress(of: $0) { true } else { false }
      }
      if rejected == 0 { return }
      // Whoever stood behind one of them as a duplicate has their turn now.
      state.withLock { $0.lastTry = nil }
    }
  }

  /// Keeps an answer where lookups find it without a lock, unless something came or went since
  /// `version` that could change it.
  func publish(_ service: CachedService, for key: UInt, of entry: RegisteredEntry, version: Int) {
    state.withLock { state in
      guard !entry.isWithdrawn, state.table.version == version else { return }
      cache.publish(service, for: key)
      // An entry whose name ends in the same part could be asked for by the same name.
      let last = ServiceNames.lastHash(of: entry.name)
      if state.publishedKeys[last]?.contains(key) == true { return }
      state.publishedKeys[last, default: []].append(key)
    }
    cache.collect()
  }
}
