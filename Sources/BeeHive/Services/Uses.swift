internal import BinaryImage
internal import Threads

extension Hive.State {
  /// Notes that the object of a C factory is handed out, and is given back. Returns false where the entry has left, or
  /// the Hive was stopped since `turn`.
  mutating func handOut(
    _ entry: RegisteredEntry, _ made: CInstance, as scope: Scope, at turn: Int
  ) -> Bool {
    if scope != .transient, entry.instance?.address != made.address { return false }
    // What every asker gets is given back by nobody.
    return uses.add(entry, scope == .singleton ? nil : made.address, at: turn)
  }

  /// Takes out what entries made for all, the latest first, for the caller to end.
  mutating func take(_ entries: [RegisteredEntry]) -> [(
    instance: CachedService?, rest: any Sendable
  )] {
    uses.remove(entries).compactMap { $0.existingSingleton?.take() }
  }

  /// Gives back an object that an entry handed out, once. Returns nil if the entry did not hand it out, else
  /// whether the caller must destroy it: false only for a weak object that others still have.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Bool? {
    guard let count = uses.giveBack(object, to: entry) else { return nil }
    let isLast = entry.scope != .weak || count == 0
    if isLast { _ = entry.existingSingleton?.take() }
    return isLast
  }
}

/// The entries in use: those that keep an instance for all, and those of C whose objects askers have. Lives under the
/// Hive's lock.
struct Uses {
  private struct Use {
    let entry: RegisteredEntry
    let number: Int
    /// The objects of its factory, each with the number of times it was handed out and not given back.
    var objects: [RuntimeAddress: Int] = [:]

    mutating func add(_ object: RuntimeAddress?) {
      if let object { objects[object, default: 0] += 1 }
    }
  }

  private var uses: [UInt64: Use] = [:]
  private var count = 0
  /// Changes whenever everything ends: what was begun before is not used afterwards.
  private(set) var turn = 0

  /// Records that an entry keeps an instance, or hands out an object. Returns false where everything has ended since
  /// `turn`, or the entry was removed.
  mutating func add(_ entry: RegisteredEntry, _ object: RuntimeAddress?, at turn: Int) -> Bool {
    guard turn == self.turn, !entry.isWithdrawn else { return false }
    count += 1
    uses[entry.order, default: Use(entry: entry, number: count)].add(object)
    return true
  }

  /// Records that an object was given back. Returns how many times it is still handed out; nil where the
  /// entry did not hand it out.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Int? {
    guard let count = uses[entry.order]?.objects[object] else { return nil }
    uses[entry.order]?.objects[object] = count > 1 ? count - 1 : nil
    if uses[entry.order]?.objects.isEmpty == true { uses[entry.order] = nil }
    return count - 1
  }

  /// Forgets entries. Returns those that keep an instance, the latest first.
  mutating func remove(_ entries: [RegisteredEntry]) -> [RegisteredEntry] {
    let gone = entries.map { ($0, uses.removeValue(forKey: $0.order)?.number ?? 0) }
    return gone.sorted { $0.1 > $1.1 }.map(\.0)
  }

  /// Ends everything. Returns the entries to take, the latest first.
  mutating func end() -> [RegisteredEntry] {
    turn += 1
    return uses.values.sorted { $0.number > $1.number }.map(\.entry)
  }
}

extension RegisteredEntry {
  /// The object that a C factory made for all.
  var instance: CInstance? {
    (existingSingleton?.instance as? CachedValue<CInstance>)?.value
  }
}

/// The instance of a C service: a table, or an object of a factory and the way to give it back.
struct CInstance: Disposable {
  let address: RuntimeAddress
  var factory: CFactory?

  /// Gives back what a factory made. With no lock held.
  func destroy() { if let factory { ForeignCall.destroy(address, with: factory) } }

  func dispose() { destroy() }
}

/// Ends what a Hive keeps for all, the latest first: what C factories made is given to their `destroy`, and what is
/// `Disposable` disposed of. Entries stay. Runs code of images and of the host, with no lock held.
func endUses(of hive: Hive) {
  // One by one: while one ends, what was made before it is still there for others.
  for entry in hive.state.withLock({ $0.uses.end() }) {
    let taken = hive.state.withLock { state in
      state.forgetAnswers(of: entry, cache: hive.cache)
      return state.take([entry])
    }
    for kept in taken { kept.instance?.end() }
  }
  hive.cache.collect(now: true)
}
