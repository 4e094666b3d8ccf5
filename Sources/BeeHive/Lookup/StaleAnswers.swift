internal import Registration
internal import Threads

// Which answers are kept where lookups find them, and which of them an entry that comes or goes makes stale.
extension Hive {
  /// Keeps an answer where lookups find it without a lock, unless something came or went since
  /// `version` that could change it.
  ///
  /// `entry` gave it, nil where none did; an entry of one of `names` could give another.
  func publish(
    _ answer: CachedService, for key: UInt, of entry: RegisteredEntry?, named names: [String],
    version: Int
  ) {
    // What a task overrides is its own, also when it lives longer than the override.
    guard TaskOverride.of(self) == nil else { return }
    state.withLock {
      $0.publish(answer, for: key, of: entry, named: names, version: version, cache: cache)
    }
    cache.collect()
  }
}

extension Hive.State {
  /// The same, under the lock.
  mutating func publish(
    _ answer: CachedService, for key: UInt, of entry: RegisteredEntry?, named names: [String],
    version: Int, cache: borrowing LookupCache
  ) {
    guard entry?.isWithdrawn != true, table.version == version, taskOverrideCount == 0 else {
      return
    }
    // An entry whose name ends in the same part could be asked for by the same name.
    let ends = Set(names.map(TypeName.lastHash))
    let isMiss = answer is CachedMiss
    guard ends.allSatisfy({ publishedKeys[$0]?.isOpen(toMiss: isMiss) ?? true }) else { return }
    for end in ends { publishedKeys[end, default: PublishedKeys()].insert(key, isMiss: isMiss) }
    cache.publish(answer, for: key)
  }

  /// Takes in an entry; an answer that it might change is asked for anew.
  mutating func add(_ entry: RegisteredEntry, cache: borrowing LookupCache) {
    table.add(entry)
    observers.post(entry.snapshot.notice)
    forgetAnswers(of: entry, cache: cache)
  }

  /// The same for what an image declares.
  mutating func add(_ entries: ArrivingEntries, cache: borrowing LookupCache) {
    table.add(entries)
    if !observers.isEmpty {
      for entry in table.entries(of: entries.records.image.mapped.id) {
        observers.post(entry.snapshot.notice)
      }
    }
    guard !publishedKeys.isEmpty else { return }
    for entry in entries.made where entry.kind == .service {
      forgetAnswers(of: entry, cache: cache)
    }
    // Few of them were ever asked for: the others are told apart without making a text of any.
    entries.records.forEachName { entry, name in
      guard entry.isPlain, entry.kind == .service else { return }
      if let last = NameText.lastPart(of: name) {
        guard publishedKeys[NameHash.of(name.extracting(last), .service)] != nil else { return }
      }
      guard let text = try? UTF8Span(validating: name) else { return }
      forgetAnswers(named: String(copying: text), cache: cache)
    }
  }

  /// Takes the answers out of the lookup cache that depend on an entry.
  mutating func forgetAnswers(of entry: RegisteredEntry, cache: borrowing LookupCache) {
    guard entry.kind == .service, !publishedKeys.isEmpty else { return }
    guard entry.hasOtherName else {
      forgetAnswers(named: entry.name, cache: cache)
      return
    }
    // Its name says nothing of who asks for it; such entries are few.
    forgetAllAnswers(cache: cache)
  }

  /// Takes every answer out of the lookup cache.
  mutating func forgetAllAnswers(cache: borrowing LookupCache) {
    for keys in publishedKeys.values { for key in keys.all { cache.publish(nil, for: key) } }
    publishedKeys = [:]
  }

  /// Takes the answers out of the lookup cache that depend on services of this name: those of names
  /// that end in the same part.
  mutating func forgetAnswers(named name: String, cache: borrowing LookupCache) {
    guard !publishedKeys.isEmpty else { return }
    let keys = publishedKeys.removeValue(forKey: TypeName.lastHash(of: name))
    for key in keys?.all ?? [] { cache.publish(nil, for: key) }
  }
}
