internal import Registration
internal import Threads

/// All that decides what becomes of a Hive's unbound entries: while it stays the same, so do they.
struct BindingGround: Equatable {
  /// The images that bring types: see `TypeLookup.generation`.
  var images: Int
  /// The entries: see `EntryTable.version`.
  var entries: Int
  /// What the host gave.
  var hostBindings: Int
}

extension Hive {
  /// How far an entry got; one that is not bound is tried once more.
  ///
  /// A caller who tries several delivers afterwards, once, what observers are to be told.
  func boundProgress(
    of entry: RegisteredEntry, asked: Any.Type? = nil, delivers: Bool = true
  ) -> RegisteredEntry.Progress {
    let (progress, bindings) = state.withLock { (entry.progress, $0.hostBindings) }
    guard case .accepted = progress, !entry.isForeign else { return progress }
    // The runtime's lookups run here, with no lock held.
    let next = Binding(hostBindings: bindings).progress(named: entry, asked: asked)
    let isTried = entry.kind == .module && runner.states.withLock { $0[entry.order] != nil }
    defer { if delivers { observers.deliver() } }
    return state.withLock { state in
      for changed in state.table.set(next, for: entry) {
        switch changed.progress {
        case .bound:
          observers.post(.entryBound(changed.snapshot))
          if !isTried { state.table.publishArrival(of: changed) }
        case .rejected:
          observers.post(.entryRejected(changed.snapshot))
          // Another one may have got its turn.
          state.forgetAnswers(of: changed, cache: cache)
        case .accepted: break
        }
      }
      return entry.progress
    }
  }

  /// Asks the loader, and tries every unbound entry, unless nothing has come that could bind one since the
  /// last time.
  ///
  /// When it returns, each was tried: a caller that comes while another thread does this does the same work.
  func bindUnbound() {
    catchUp(probing: true)
    var isTried = false
    while !isTried {
      let images = TypeLookup.generation
      let (unbound, ground) = state.withLock { state -> ([RegisteredEntry], BindingGround?) in
        guard state.table.unboundCount > 0 else { return ([], nil) }
        let ground = images.map {
          BindingGround(
            images: $0, entries: state.table.version, hostBindings: state.hostBindingsVersion)
        }
        if let ground, ground == state.lastTry { return ([], nil) }
        return (state.table.entries(where: \.isUnbound), ground)
      }
      if unbound.isEmpty { break }
      let rejected = unbound.count {
        if case .rejected = boundProgress(of: $0, delivers: false) { true } else { false }
      }
      // What was a duplicate of one that was rejected may be bound now.
      isTried = rejected == 0
      if isTried { state.withLock { $0.lastTry = ground } }
    }
    // Only now, for observers may ask for the entries.
    observers.deliver()
  }
}
