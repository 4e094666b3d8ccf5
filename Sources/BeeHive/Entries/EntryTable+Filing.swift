internal import Registration

// Under which names and types entries are kept, and which of them are duplicates.
extension EntryTable {
  /// Puts an entry under its name, and decides whether it is a duplicate.
  mutating func file(_ entry: RegisteredEntry) {
    guard !entry.name.isEmpty else { return }
    switch entry.kind {
    case .service:
      let isTyped = fileByType(entry)
      entry.reject(ifDuplicateAmong: services(named: entry.name, given: entry.givenName))
      if isTyped { rejectDuplicates(around: entry) }
      services.add(entry, for: entry.name)
    case .module:
      entry.reject(ifDuplicateAmong: modules(named: entry.name))
      modules.add(entry, for: entry.name)
    case .target, .route:
      others.append(entry)
      otherVersion += 1
      entry.reject(ifDuplicateAmong: rivals(of: entry))
      for identity in entry.identities { othersByIdentity.add(entry, for: identity) }
    default: break
    }
    if entry.isUnbound { unboundCount += 1 }
  }

  /// Takes an entry from under its name; what was its duplicate gets its turn.
  mutating func unfile(_ entry: RegisteredEntry) {
    guard !entry.name.isEmpty else { return }
    switch entry.kind {
    case .service:
      services.remove(entry, for: entry.name)
      if let type = entry.filedType { servicesByType.remove(entry, for: type) }
    case .module: modules.remove(entry, for: entry.name)
    default: for identity in entry.identities { othersByIdentity.remove(entry, for: identity) }
    }
    giveTurns(among: rivals(of: entry))
  }

  /// Says what became of an entry, unless it has left or been settled meanwhile. Returns the entries whose
  /// state that changes: with it, those that turn out to be its duplicates.
  mutating func set(
    _ progress: RegisteredEntry.Progress, for entry: RegisteredEntry
  ) -> [RegisteredEntry] {
    guard !entry.isWithdrawn, entry.isUnbound else { return [] }
    entry.progress = progress
    if !entry.isUnbound { unboundCount -= 1 }
    var changed = [entry]
    if entry.kind == .service {
      _ = fileByType(entry)
      changed += rejectDuplicates(around: entry)
    }
    // What cannot serve keeps no other from it.
    if case .rejected = progress { giveTurns(among: rivals(of: entry)) }
    return changed
  }

  /// Puts a service under the type that it serves as; false where that is not known.
  private mutating func fileByType(_ entry: RegisteredEntry) -> Bool {
    guard let type = entry.servedType else { return false }
    entry.filedType = type
    servicesByType.add(entry, for: type)
    return true
  }

  /// Rejects an entry as the duplicate of an earlier one, else later ones as its duplicates. Returns those.
  ///
  /// Which type an entry serves as may be known only when it is bound, so a duplicate may show only then.
  @discardableResult
  private mutating func rejectDuplicates(around entry: RegisteredEntry) -> [RegisteredEntry] {
    let rivals = rivals(of: entry)
    entry.reject(ifDuplicateAmong: rivals.filter { $0.order < entry.order })
    if case .rejected = entry.progress { return [] }
    return rivals.filter { $0.order > entry.order && $0.reject(ifDuplicateAmong: [entry]) }
  }

  /// The entries that could be duplicates of an entry, with itself.
  private mutating func rivals(of entry: RegisteredEntry) -> [RegisteredEntry] {
    switch entry.kind {
    case .service:
      let named = services(named: entry.name, given: entry.givenName)
      let typed = entry.filedType.map { servicesByType.given(entry.givenName, for: $0) } ?? []
      let others = typed.filter { $0.name != entry.name }
      return others.isEmpty ? named : (named + others).sorted { $0.order < $1.order }
    case .module: return modules(named: entry.name)
    default:
      return entry.identities.flatMap { othersByIdentity[$0]?.all ?? [] }
        .sorted { $0.order < $1.order }
    }
  }

  /// Takes back what was rejected as a duplicate of an entry that is one no more.
  private mutating func giveTurns(among list: [RegisteredEntry]) {
    for other in list {
      guard let before = other.setAside, case .rejected = other.progress else { continue }
      other.progress = before.progress
      other.setAside = nil
      other.reject(ifDuplicateAmong: rivals(of: other).filter { $0.order < other.order })
      if other.isUnbound { unboundCount += 1 }
    }
  }
}
