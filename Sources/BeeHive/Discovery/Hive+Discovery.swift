public import BinaryImage
internal import CImageEvents
internal import Registration
internal import Synchronization
internal import Threads

extension Hive {
  /// Merges images that announced themselves; if `probing`, also asks the loader. Returns whether anything
  /// changed.
  @discardableResult
  func catchUp(probing: Bool) -> Bool {
    guard followsLoader else { return false }
    let announcements = UInt(image_events_generation())
    let isAnnounced = announcements != seenAnnouncements.load(ordering: .acquiring)
    guard isAnnounced || (probing && watch.withLock { $0.isStale }) else { return false }
    let changed = discover()
    // What was announced during the walk is merged the next time.
    seenAnnouncements.store(announcements, ordering: .releasing)
    return changed
  }

  /// Walks the loader's list and merges what it finds. Returns whether anything changed.
  ///
  /// An image that may have taken the place of another is compared anew where the loader has changed its list
  /// meanwhile, some times: in memory that is unmapped, everything seems wrong.
  @discardableResult
  func discover(_ looksLeft: Int = 8) -> Bool {
    let found = try? watch.withLock { watch throws(ImageError) in
      try watch.look { id in state.withLock { $0.images.mayGo(id) } }
    }
    // Out of memory: the next lookup tries again.
    guard let found else { return false }
    let arrivals = settled(found).compactMap { arrival(of: $0) }
    if looksLeft > 0, arrivals.contains(where: \.snapshot.mayBeAnother),
      ImageList.probe() != found.counters
    {
      return discover(looksLeft - 1)
    }
    let gone = state.withLock { $0.merge(arrivals, found, cache: cache) }
    watch.withLock { $0.merged(arrivals.map(\.id), of: found) }
    for reference in gone.references { reference.release() }
    observers.deliver()
    cache.collect()
    return !found.images.isEmpty || !found.removed.isEmpty
  }

  /// The images to merge, each relocated.
  private func settled(_ found: ImageWatch.Found) -> [ImageWatch.Snapshot] {
    guard !found.unsettled.isEmpty else { return found.images }
    // Another thread is inside the dlopen that maps them. No lock is held.
    for image in found.unsettled { image.waitForRelocation() }
    let ids = found.unsettled.map(\.mapped.id)
    let again = watch.withLock { $0.lookAgain(at: ids) }
    let settled = Dictionary(uniqueKeysWithValues: again.images.map { ($0.image.mapped.id, $0) })
    let unsettled = Set(ids)
    return found.images.compactMap {
      unsettled.contains($0.image.mapped.id) ? settled[$0.image.mapped.id] : $0
    }
  }

  /// Reads an image's records and makes entries of them, without a lock. Returns nil if the image was
  /// unmapped meanwhile, which the next walk finds.
  private func arrival(of snapshot: ImageWatch.Snapshot) -> Arrival? {
    let image = snapshot.image
    var arrival = Arrival(snapshot: snapshot)
    if let isChosen, !isChosen(image.identity.path) { return arrival }
    if !snapshot.mayBeAnother, state.withLock({ $0.images.contains(arrival.id) }) {
      arrival.contents = .known
      return arrival
    }
    let records: LoadedRecords
    do throws(ImageError) { records = try LoadedRecords(of: image) } catch {
      arrival.contents = .failure(error)
      return arrival
    }
    guard !records.isEmpty else { return arrival }
    var isPinned = image.mapped.role != .library
    if image.carriesSwift, !isPinned {
      // Before one of its accessors runs, and before a service of it can be handed out.
      guard (try? image.pin()) != nil else { return nil }
      isPinned = true
    }
    let bindings = state.withLock { $0.hostBindings }
    let entries = ArrivingEntries(records, binding: Binding(hostBindings: bindings))
    arrival.contents = .entries(
      entries,
      KnownImages.Registered(
        image: image, isPinned: isPinned, announces: snapshot.announces, hold: nil,
        entryCount: entries.count))
    return arrival
  }

  /// What is wrong with whole images, each once: those that could not be inspected, and those that
  /// carry a second runtime.
  public var imageProblems: [ImageError] {
    refresh()
    return state.withLock { $0.images.problems }
  }
}

/// One image on its way into a Hive.
private struct Arrival {
  enum Contents {
    /// It declares nothing.
    case nothing
    case entries(ArrivingEntries, KnownImages.Registered)
    case failure(ImageError)
    /// What it declares has been taken in before.
    case known
  }

  let snapshot: ImageWatch.Snapshot
  var contents = Contents.nothing

  var id: MappedImage.ID { snapshot.image.mapped.id }
}

extension Hive.State {
  /// Brings the entries up to date with what was found. Returns the withdrawn entries and the
  /// references to images that left, for the caller to release with no lock held.
  fileprivate mutating func merge(
    _ arrivals: [Arrival], _ found: ImageWatch.Found, cache: borrowing LookupCache
  ) -> (entries: [RegisteredEntry], references: [ImageReference]) {
    let news = arrivals.filter { isNews($0) }
    // What is gone, and what another image has replaced.
    let gone = Set(found.removed + news.map(\.id)).filter { images[$0] != nil }
    let entries = gone.isEmpty ? [] : table.withdraw(imagesOf: gone)
    for entry in entries {
      handedOut.remove(entry)
      forgetAnswers(of: entry, cache: cache)
      observers.post(.entryWithdrawn(entry.snapshot))
    }
    var references: [ImageReference] = []
    for id in found.removed {
      if let known = images[id] { observers.post(.imageWithdrawn(path: known.image.identity.path)) }
      if let reference = images.forget(id) { references.append(reference) }
    }
    for (id, error) in found.remarks where !images.contains(id) { images.remark(id, error) }
    for (id, error) in found.failures where !images.contains(id) {
      images.fail(id, error, at: 0)
      observers.post(.imageNotInspected(error))
    }
    for arrival in news {
      if let reference = merge(arrival, cache: cache) { references.append(reference) }
    }
    return (entries, references)
  }

  /// Whether an arrival says what is not known: the image is new, or another has replaced it and
  /// declares something else.
  private mutating func isNews(_ arrival: Arrival) -> Bool {
    guard images.isNews(arrival.id, at: arrival.snapshot.look) else { return false }
    guard images.contains(arrival.id) else { return true }
    switch arrival.contents {
    case .known: return false
    case .failure(let error): return images.failure(of: arrival.id) != error
    case .nothing: return images[arrival.id] != nil || images.failure(of: arrival.id) != nil
    case .entries(let entries, _):
      let removed = images.removed(
        of: arrival.id, announces: arrival.snapshot.announces,
        announcements: UInt(image_events_generation()))
      let old = (table.entries(of: arrival.id) + removed).sorted { $0.order < $1.order }
      let new = entries.all
      let isSame =
        old.count == new.count && zip(old, new).allSatisfy { $0.declaresTheSame(as: $1) }
      if isSame { images.confirm(arrival.id, at: arrival.snapshot.look) }
      return !isSame
    }
  }

  /// Replaces what is known under the arrival's identity. Returns the reference that held it.
  private mutating func merge(
    _ arrival: Arrival, cache: borrowing LookupCache
  ) -> ImageReference? {
    switch arrival.contents {
    case .known: return nil
    case .nothing: return images.merge(arrival.id, nil, at: arrival.snapshot.look)
    case .failure(let error):
      observers.post(.imageNotInspected(error))
      return images.fail(arrival.id, error, at: arrival.snapshot.look)
    case .entries(let entries, let known):
      let reference = images.merge(arrival.id, known, at: arrival.snapshot.look)
      observers.post(
        .imageArrived(path: known.image.identity.path, entryCount: known.entryCount))
      add(entries, cache: cache)
      return reference
    }
  }
}
