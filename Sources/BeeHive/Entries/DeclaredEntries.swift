internal import BinaryImage
internal import Registration
internal import Threads

extension Hive {
  /// The targets and routes that images declare, of which layers above make something; those that nothing
  /// can make left out. Nil where none came or went since `version`.
  package func declaredEntries(
    since version: Int?, probing: Bool
  ) -> (version: Int, entries: [RegisteredEntry])? {
    catchUp(probing: probing)
    return state.withLock { state in
      guard state.table.otherVersion != version else { return nil }
      let entries = state.table.others.filter { entry in
        entry.setAside?.isDuplicate != true && entry.maker != nil
      }
      return (state.table.otherVersion, entries)
    }
  }

  /// Asks the entry's accessor for a value; nil where it makes another type.
  package func make<Value>(_ entry: RegisteredEntry, as type: Value.Type) -> Value? {
    guard case .accessor(let accessor) = state.withLock({ _ in entry.maker }) else { return nil }
    return ForeignCall.make(accessor, as: type)
  }

  /// Returns where the structure of a C record is; nil of any other, and of one that was removed.
  package func structure(of entry: RegisteredEntry) -> RuntimeAddress? {
    state.withLock { _ in
      guard !entry.isWithdrawn, case .structure(_, let address) = entry.maker else { return nil }
      return address
    }
  }

  /// Says how far an entry got in a layer above: what keeps it from being used, for now or for good, or that
  /// nothing does any longer.
  package func settle(_ entry: RegisteredEntry, _ outcome: Entry.State) {
    state.withLock { state in
      guard !entry.isWithdrawn else { return }
      let wasUnbound = entry.isUnbound
      let before = entry.setAside
      if case .bound = outcome {
        guard let before else { return }
        (entry.progress, entry.setAside) = (before.progress, nil)
        observers.post(.entryBound(entry.snapshot))
      } else if entry.snapshot.state != outcome {
        entry.setAside = before ?? .init(progress: entry.progress, isDuplicate: false)
        if case .rejected(let problem) = outcome { entry.progress = .rejected(problem) }
        if case .accepted(let problem) = outcome { entry.progress = .accepted(problem) }
        if case .rejected = outcome { observers.post(.entryRejected(entry.snapshot)) }
      }
      state.table.knownUnboundCount += (entry.isUnbound ? 1 : 0) - (wasUnbound ? 1 : 0)
    }
    observers.deliver()
  }
}

extension RegisteredEntry {
  /// The provider, also while a layer above cannot use the entry. Under the Hive's lock.
  fileprivate var maker: Provider? { setAside?.progress.provider ?? provider }
}
