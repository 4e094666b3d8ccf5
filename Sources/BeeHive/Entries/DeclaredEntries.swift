internal import BinaryImage
internal import Registration
internal import Threads

/// An entry of a kind that a layer above makes something of: a target, a route.
package struct DeclaredEntry: Sendable {
  let registered: RegisteredEntry

  /// Differs from that of every other entry of the process.
  package var number: UInt64 { registered.order }
  /// The name as declared.
  package var name: String { registered.name }
  /// Target or route.
  package var kind: RecordKind { registered.kind }
  /// The declared attributes.
  package var attributes: Attributes { registered.attributes }
  /// Where it was declared.
  package var source: Source { registered.source }
  /// Whether a C record declared it.
  package var isC: Bool { registered.isC }
}

extension Hive {
  /// The targets and routes that images declare, those that nothing can make left out; nil where none
  /// came or went since `version`.
  package func declaredEntries(
    since version: Int?, probing: Bool
  ) -> (version: Int, entries: [DeclaredEntry])? {
    catchUp(probing: probing)
    return state.withLock { state in
      guard state.table.otherVersion != version else { return nil }
      let entries = state.table.others.filter { entry in
        guard entry.setAside?.isDuplicate != true else { return false }
        return if case .bound = entry.setAside?.progress ?? entry.progress { true } else { false }
      }
      return (state.table.otherVersion, entries.map(DeclaredEntry.init))
    }
  }

  /// Asks the entry's accessor for a value; nil where it makes another type.
  package func make<Value>(_ declared: DeclaredEntry, as type: Value.Type) -> Value? {
    guard case .accessor(let accessor) = state.withLock({ _ in declared.registered.maker }) else {
      return nil
    }
    return ForeignCall.make(accessor, as: type)
  }

  /// Runs `body` with the address of a C record's structure, whose image stays mapped from now on until
  /// the Hive stops. Returns nil where the image is gone.
  package func withStructure<Result, Failure: Error>(
    of declared: DeclaredEntry, _ body: (RuntimeAddress) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let entry = declared.registered
    let (provider, turn) = state.withLock { (entry.provider, $0.handedOut.turn) }
    guard case .structure(_, let address) = provider else { return nil }
    return try holding(entry) { () throws(Failure) in
      // Where the Hive has just stopped, the image stays for this call alone.
      _ = handOut(entry, at: turn)
      return try body(address)
    }
  }

  /// Runs `body` with the structure of an entry, whose image may go again afterwards. Returns nil where it
  /// has gone.
  package func lookAtStructure<Result, Failure: Error>(
    of declared: DeclaredEntry, _ body: (RuntimeAddress) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    let entry = declared.registered
    guard case .structure(_, let address) = state.withLock({ _ in entry.maker }) else { return nil }
    return try holding(entry) { () throws(Failure) in try body(address) }
  }

  /// Says what keeps an entry from being used, or that nothing does any longer.
  package func settle(_ declared: DeclaredEntry, _ problem: Problem?) {
    let entry = declared.registered
    state.withLock { _ in
      guard !entry.isWithdrawn else { return }
      if let problem {
        entry.setAside =
          entry.setAside
          ?? RegisteredEntry.SetAside(progress: entry.progress, isDuplicate: false)
        entry.progress = .rejected(problem)
        observers.post(.entryRejected(entry.snapshot))
      } else if let before = entry.setAside {
        entry.progress = before.progress
        entry.setAside = nil
        observers.post(.entryBound(entry.snapshot))
      }
    }
    observers.deliver()
  }
}

extension RegisteredEntry.Progress {
  fileprivate var provider: Provider? {
    if case .bound(let provider) = self { provider } else { nil }
  }
}

extension RegisteredEntry {
  /// The provider, also while a layer above cannot use the entry. Under the Hive's lock.
  fileprivate var maker: Provider? { setAside?.progress.provider ?? provider }
}
