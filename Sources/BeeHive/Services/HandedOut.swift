internal import BinaryImage
internal import Threads

extension Hive.State {
  /// Notes that what an entry made is handed out. Returns false where the entry has left, the Hive was stopped since
  /// `turn`, or what was kept for all has been taken back.
  mutating func handOut(
    _ entry: RegisteredEntry, _ made: CInstance, as scope: Scope, at turn: Int
  ) -> Bool {
    if made.factory != nil, scope != .transient, entry.instance?.address != made.address {
      return false
    }
    // What every asker gets is given back by nobody.
    return handedOut.add(entry, scope == .singleton ? nil : made.address, at: turn)
  }

  /// Takes out what entries made for all, for the caller to destroy.
  mutating func take(_ entries: [RegisteredEntry]) -> [CInstance] {
    entries.compactMap { entry in
      handedOut.remove(entry)
      return entry.takeInstance()
    }
  }

  /// Takes out what an entry made for all, unless somebody has it.
  func takeUnlessHandedOut(_ entry: RegisteredEntry) -> CInstance? {
    entry.isWithdrawn || !handedOut.contains(entry) ? entry.takeInstance() : nil
  }

  /// Gives back an object that an entry handed out, once. Returns nil if the entry did not hand it out, else
  /// whether the caller must destroy it: false only for a weak object that others still have.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Bool? {
    guard let count = handedOut.giveBack(object, to: entry) else { return nil }
    let isLast = entry.scope != .weak || count == 0
    if isLast { _ = entry.takeInstance() }
    return isLast
  }
}

/// The C entries whose services are in use. Lives under the Hive's lock.
struct HandedOut {
  private struct Element {
    let entry: RegisteredEntry
    let number: Int
    /// The objects its factory made, each with the number of times it was handed out and not given back.
    var objects: [RuntimeAddress: Int] = [:]

    mutating func add(_ object: RuntimeAddress?) {
      if let object { objects[object, default: 0] += 1 }
    }
  }

  private var entries: [UInt64: Element] = [:]
  private var count = 0
  /// Changes whenever everything is taken back: objects that were made before are not handed out afterwards.
  private(set) var turn = 0

  /// Records that a service of the entry is handed out. Returns false where everything was taken back since
  /// `turn`, or the entry was removed.
  mutating func add(_ entry: RegisteredEntry, _ object: RuntimeAddress?, at turn: Int) -> Bool {
    guard turn == self.turn, !entry.isWithdrawn else { return false }
    count += 1
    entries[entry.order, default: Element(entry: entry, number: count)].add(object)
    return true
  }

  func contains(_ entry: RegisteredEntry) -> Bool { entries[entry.order] != nil }

  /// Records that an object was given back. Returns how many times it is still handed out; nil where the
  /// entry did not hand it out.
  mutating func giveBack(_ object: RuntimeAddress, to entry: RegisteredEntry) -> Int? {
    guard let count = entries[entry.order]?.objects[object] else { return nil }
    entries[entry.order]?.objects[object] = count > 1 ? count - 1 : nil
    if entries[entry.order]?.objects.isEmpty == true { remove(entry) }
    return count - 1
  }

  mutating func remove(_ entry: RegisteredEntry) { entries[entry.order] = nil }

  /// Returns the entries, the one that was handed out last first. Objects made until now are not handed out
  /// any more.
  mutating func beginTakingBack() -> [RegisteredEntry] {
    turn += 1
    return entries.values.sorted { $0.number > $1.number }.map(\.entry)
  }
}

extension RegisteredEntry {
  /// The object that a C factory made for all.
  var instance: CInstance? {
    (existingSingleton?.instance as? CachedValue<CInstance>)?.value
  }

  /// Takes out what a C factory made for all, for the caller to destroy.
  func takeInstance() -> CInstance? {
    guard isC else { return nil }
    return (existingSingleton?.take() as? CachedValue<CInstance>)?.value
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

/// Takes back what was handed out of C libraries: what singletons' factories made is given to their
/// `destroy`, the last first. Entries stay. Runs code of images, with no lock held.
func takeBackServices(of hive: Hive) {
  // One by one: while a `destroy` runs, what was made before it is still there for others.
  for entry in hive.state.withLock({ $0.handedOut.beginTakingBack() }) {
    let taken = hive.state.withLock { state in
      state.forgetAnswers(of: entry, cache: hive.cache)
      return state.take([entry])
    }
    for instance in taken { instance.destroy() }
  }
  hive.cache.collect(now: true)
}
