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
  /// What was copied of an image before it was `pinned` is copied anew where the loader has changed its list
  /// meanwhile: another may have taken its place.
  @discardableResult
  func discover(_ pinned: Set<MappedImage.ID> = []) -> Bool {
    // Out of memory: the next lookup tries again.
    guard let found = try? watch.withLock({ watch throws(ImageError) in try watch.look() }) else {
      return false
    }
    let images = settled(found)
    let pins = pins.pin(images.filter { !found.pinned.contains($0.mapped.id) && mayRegister($0) })
    if !pins.isEmpty, !pinned.isSuperset(of: pins.keys), ImageList.probe() != found.counters {
      return discover(pinned.union(pins.keys))
    }
    let arrivals = images.compactMap { arrival(of: $0, in: found, pins) }
    state.withLock { $0.merge(arrivals, found, cache: cache) }
    watch.withLock { $0.merged(arrivals.map(\.id), of: found) }
    observers.deliver()
    cache.collect()
    return !found.images.isEmpty || !found.removed.isEmpty
  }

  /// The images to merge, each relocated.
  private func settled(_ found: ImageWatch.Found) -> [LoadedImage] {
    guard !found.unsettled.isEmpty else { return found.images }
    // Another thread is inside the dlopen that maps them. No lock is held.
    for image in found.unsettled { image.waitForRelocation() }
    let ids = found.unsettled.map(\.mapped.id)
    let again = watch.withLock { $0.lookAgain(at: ids) }
    let settled = Dictionary(uniqueKeysWithValues: again.images.map { ($0.mapped.id, $0) })
    let unsettled = Set(ids)
    return found.images.compactMap {
      unsettled.contains($0.mapped.id) ? settled[$0.mapped.id] : $0
    }
  }

  /// Whether an image has entries that this Hive does not know.
  private func mayRegister(_ image: LoadedImage) -> Bool {
    image.hasSections && isChosen?(image.identity.path) != false
      && !state.withLock { $0.images.isSettled(image.mapped.id) }
  }

  /// Reads the entries of an image and makes entries of the Hive of them, without a lock. Returns nil if the image is
  /// not pinned: it is left for the next walk.
  private func arrival(
    of image: LoadedImage, in found: ImageWatch.Found,
    _ pins: [MappedImage.ID: Result<Void, ImageError>]
  ) -> Arrival? {
    var arrival = Arrival(image: image)
    guard mayRegister(image) else { return arrival }
    do throws(ImageError) {
      if !found.pinned.contains(arrival.id) {
        guard let pin = pins[arrival.id] else { return nil }
        try pin.get()
      }
      let records = try LoadedRecords(of: image)
      guard !records.isEmpty else { return arrival }
      let bindings = state.withLock { $0.hostBindings }
      arrival.contents = .entries(
        ArrivingEntries(records, binding: Binding(hostBindings: bindings)))
    } catch {
      // It was unmapped meanwhile, which the next walk finds.
      if error.code == .replaced, ImageList.probe() != found.counters { return nil }
      arrival.contents = .failure(error)
    }
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
    /// It declares nothing, or what it declares was taken in before.
    case nothing
    case entries(ArrivingEntries)
    case failure(ImageError)
  }

  let image: LoadedImage
  var contents = Contents.nothing

  var id: MappedImage.ID { image.mapped.id }
}

extension Hive.State {
  /// Brings the entries up to date with what was found.
  fileprivate mutating func merge(
    _ arrivals: [Arrival], _ found: ImageWatch.Found, cache: borrowing LookupCache
  ) {
    for id in found.removed { images.forget(id) }
    for (id, error) in found.remarks where !images.isSettled(id) { images.remark(id, error) }
    for (id, error) in found.failures { fail(id, error) }
    for arrival in arrivals {
      switch arrival.contents {
      case .nothing: _ = images.settle(arrival.id, .empty)
      case .failure(let error): fail(arrival.id, error)
      case .entries(let entries):
        guard images.settle(arrival.id, .registered(arrival.image)) else { continue }
        observers.post(
          .imageArrived(path: arrival.image.identity.path, entryCount: entries.count))
        add(entries, cache: cache)
      }
    }
  }

  private mutating func fail(_ id: MappedImage.ID, _ error: ImageError) {
    guard images.failure(of: id) != error, images.settle(id, .failed(error)) else { return }
    observers.post(.imageNotInspected(error))
  }
}
