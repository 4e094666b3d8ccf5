public import BinaryImage
internal import CImageEvents
internal import Registration
internal import Synchronization
internal import Threads

extension Hive {
  /// Takes in what announced itself since the last time and, with `probing`, what came or went without
  /// a word. Whether anything changed.
  @discardableResult
  func catchUp(probing: Bool) -> Bool {
    guard followsLoader else { return false }
    let announcements = UInt(image_events_generation())
    let isAnnounced = announcements != seenAnnouncements.load(ordering: .acquiring)
    guard isAnnounced || (probing && watch.withLock { $0.isStale }) else { return false }
    let changed = discover()
    // What was announced while we looked is looked at the next time.
    seenAnnouncements.store(announcements, ordering: .releasing)
    return changed
  }

  /// Walks the loader's list and merges what it finds. Whether anything changed.
  @discardableResult
  func discover() -> Bool {
    let found: ImageWatch.Found
    do throws(ImageError) {
      found = try watch.withLock { watch throws(ImageError) in
        try watch.look { id in state.withLock { $0.images.mayGo(id) } }
      }
    } catch {
      // Out of memory: the next lookup tries again.
      return false
    }
    let images = settled(found)
    let arrivals = images.compactMap { arrival(of: $0) }
    let changes = found.suspects.compactMap(replacement)
    let released = merge(arrivals, changes, found)
    watch.withLock { $0.merged(arrivals.map(\.id) + found.failures.map(\.id)) }
    for reference in released { reference.release() }
    observers.deliver()
    cache.collect()
    return !arrivals.isEmpty || !changes.isEmpty || !found.removed.isEmpty
  }

  /// The images to take in, each relocated.
  private func settled(_ found: ImageWatch.Found) -> [LoadedImage] {
    guard !found.unsettled.isEmpty else { return found.images }
    // Another thread is inside their dlopen. No lock is held.
    for image in found.unsettled { image.waitForRelocation() }
    let ids = found.unsettled.map(\.mapped.id)
    let again = watch.withLock { $0.lookAgain(at: ids) }
    let settled = Dictionary(uniqueKeysWithValues: again.images.map { ($0.mapped.id, $0) })
    let unsettled = Set(ids)
    return found.images.compactMap {
      unsettled.contains($0.mapped.id) ? settled[$0.mapped.id] : $0
    }
  }

  /// Reads an image's records and makes entries of them, with no lock held.
  private func arrival(of image: LoadedImage) -> Arrival? {
    let id = image.mapped.id
    if state.withLock({ $0.images.contains(id) }) { return Arrival(id: id) }
    let outline: Outline
    do throws(ImageError) { outline = try RecordScanner.outline(image) } catch {
      return Arrival(id: id, failure: error)
    }
    guard !outline.isEmpty else { return Arrival(id: id) }
    var isPinned = image.mapped.role != .library
    if image.carriesSwift, !isPinned {
      // Before an accessor of it runs, and before anything of it can be handed out.
      do throws(ImageError) {
        try image.pin()
        isPinned = true
      } catch {
        return nil  // It is gone already; the next look says so.
      }
    }
    let bindings = state.withLock { $0.hostBindings }
    let entries = ImageEntries(outline, binding: Binding(hostBindings: bindings))
    return Arrival(
      id: id, entries: entries,
      known: KnownImages.Known(
        image: image, isPinned: isPinned, reference: nil, entryCount: entries.count))
  }

  /// What took the place of a known image, if it declares something else.
  private func replacement(_ image: LoadedImage) -> Arrival? {
    guard let new = arrival(again: image) else { return nil }
    let old = state.withLock { $0.table.entries(of: image.mapped.id) }
    let all = new.entries?.all ?? []
    let isSame =
      old.count == all.count && zip(old, all).allSatisfy { $0.declaresTheSame(as: $1) }
    return isSame ? nil : new
  }

  private func arrival(again image: LoadedImage) -> Arrival? {
    guard let outline = try? RecordScanner.outline(image) else { return nil }
    let bindings = state.withLock { $0.hostBindings }
    let entries = ImageEntries(outline, binding: Binding(hostBindings: bindings))
    return Arrival(
      id: image.mapped.id, entries: entries,
      known: KnownImages.Known(
        image: image, isPinned: image.mapped.role != .library, reference: nil,
        entryCount: entries.count))
  }

  /// Brings the entries up to date; the references that the images which went were held by.
  private func merge(
    _ arrivals: [Arrival], _ changes: [Arrival], _ found: ImageWatch.Found
  ) -> [ImageReference] {
    state.withLock { state in
      var released: [ImageReference] = []
      let gone = Set(found.removed)
      let replaced = Set(changes.map(\.id))
      if gone.contains(where: { state.images[$0] != nil }) || !replaced.isEmpty {
        let withdrawn = state.table.withdraw(imagesOf: gone.union(replaced))
        for entry in withdrawn {
          state.forgetAnswers(named: entry.name, cache: cache)
          observers.post(.entryWithdrawn(entry.snapshot))
        }
      }
      for id in gone {
        if let known = state.images[id] {
          observers.post(.imageWithdrawn(path: known.image.identity.path))
          if let reference = known.reference { released.append(reference) }
        }
        state.images.forget(id)
      }
      for (id, error) in found.remarks where !state.images.contains(id) {
        state.images.remark(id, error)
      }
      for (id, error) in found.failures where !state.images.contains(id) {
        state.images.fail(id, error)
        observers.post(.imageNotInspected(error))
      }
      for arrival in arrivals where !state.images.contains(arrival.id) {
        state.merge(arrival, cache: cache, observers)
      }
      for change in changes { state.merge(change, cache: cache, observers) }
      return released
    }
  }

  /// Keeps the image of an entry mapped from now on; false if it is gone, and the entry with it.
  func hold(_ entry: RegisteredEntry) -> Bool {
    guard let id = entry.image else { return true }
    let known = state.withLock { $0.images[id] }
    guard let known else { return false }
    if known.isPinned || known.reference != nil { return true }
    guard let reference = try? known.image.hold() else {
      discover()
      return false
    }
    let isKept = state.withLock { state in
      !entry.isWithdrawn && state.images.hold(id, reference)
    }
    // Another thread was first, or the entry has just left: one reference is enough, or none.
    if !isKept { reference.release() }
    return state.withLock { _ in !entry.isWithdrawn }
  }

  /// What is wrong with whole images, each once: those that could not be inspected, and those that
  /// carry a second runtime.
  public var imageProblems: [ImageError] {
    refresh()
    return state.withLock { $0.images.problems }
  }
}

/// One image on its way into a Hive.
struct Arrival {
  let id: MappedImage.ID
  var entries: ImageEntries?
  var known: KnownImages.Known?
  var failure: ImageError?
}

extension Hive.State {
  fileprivate mutating func merge(
    _ arrival: Arrival, cache: borrowing LookupCache, _ observers: Observers
  ) {
    if let failure = arrival.failure {
      images.fail(arrival.id, failure)
      observers.post(.imageNotInspected(failure))
    } else {
      images.merge(arrival.id, arrival.known)
      if let known = arrival.known {
        observers.post(
          .imageArrived(path: known.image.identity.path, entryCount: known.entryCount))
      }
    }
    if let entries = arrival.entries { add(entries, cache: cache, observers) }
  }
}
